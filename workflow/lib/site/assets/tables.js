// Tables that sort by any column: once up, twice down, a third time back in order. Shows the rows that a number leads to.
"use strict";

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim().replace("−", "-").replace("∞", "Infinity");
  if (text === "" || text === "–" || text === "null") return null;
  const number = Number(text);
  return Number.isNaN(number) ? text.toLowerCase() : number;
}

function compareValues(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const bodies = [...table.tBodies];
  const original = bodies.map((body) => [...body.rows]);

  function sortBy(column, order) {
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    bodies.forEach((body, place) => body.append(...original[place]));
    if (!order) return;
    heads[column].setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = original.flat().map((row) => [valueOf(row, column), row]);
    const known = rows.filter(([value]) => value !== null).sort(([a], [b]) => sign * compareValues(a, b));
    const missing = rows.filter(([value]) => value === null);
    bodies[0].append(...[...known, ...missing].map(([, row]) => row));
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null };
      const now = head.getAttribute("aria-sort");
      sortBy(column, now ? next[now] : "ascending");
    });
  });
}

function holds(cell, value) {
  const text = cell?.textContent.trim();
  return text === value || (Boolean(text && value) && Number(text) === Number(value));
}

// The rows of a section's table that have these values, and what they are; all if there are none.
function showRows(section, conditions) {
  const table = section.querySelector("table");
  const names = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  const rows = [...table.tBodies[0].rows];
  for (const row of rows) row.hidden = !conditions.every(([name, value]) => holds(row.cells[names.indexOf(name)], value));
  section.querySelector(".filter")?.remove();
  if (!conditions.length) return;
  const note = document.createElement("p");
  const all = Object.assign(document.createElement("a"), { href: `#${section.id}`, textContent: "Show all rows" });
  const said = conditions.map(([name, value]) => `${name} = ${value}`).join(", ");
  note.append(`Only rows with ${said}: ${rows.filter((row) => !row.hidden).length} of ${rows.length}. `, all);
  note.className = "note filter";
  table.parentElement.before(note);
}

// The address names a place, and perhaps rows of its table: #ablation&case=Macro&n=2.
function openTarget() {
  const [id, ...rest] = location.hash.slice(1).split("&");
  for (const section of document.querySelectorAll("section.rows")) {
    showRows(section, section.id === id ? [...new URLSearchParams(rest.join("&"))] : []);
  }
  const target = document.getElementById(id);
  if (target instanceof HTMLDetailsElement) target.open = true;
  if (target instanceof HTMLDetailsElement || rest.length) target?.scrollIntoView();
}

document.querySelectorAll("table.sortable, .summary table").forEach((table) => {
  if (table.tHead && table.tBodies.length) makeSortable(table);
});
addEventListener("hashchange", openTarget);
// A row that was closed again is opened by a number that leads to it once more.
addEventListener("click", (event) => { if (event.target.closest("a[href^='#']")) setTimeout(openTarget); });
openTarget();
