// Cards of results, filtered and sorted; the address says how, so that it can be kept and passed on.
"use strict";

const { filters: FILTERS, metrics: METRICS, labels: LABELS, cells: CELLS, samples: SAMPLES, results: RESULTS } = window.GALLERY;
const form = document.getElementById("filters");
const cards = document.getElementById("cards");
const end = document.getElementById("more");
const AT_ONCE = 60;
const AHEAD = 800;
let chosen = [];
let shown = 0;

const NOTHING = ""; // the result of a sample that nothing was made of

const results = RESULTS.map(([number, slug, ...values]) => {
  const [folder, id, simulated, height, width, ...kinds] = SAMPLES[number];
  const metrics = Object.fromEntries(METRICS.map((metric, place) => [metric.name, values[place] == null ? null : Number(values[place])]));
  return { folder, id, simulated, height, width, slug, metrics, ...Object.fromEntries(FILTERS.map((name, place) => [name, kinds[place]])) };
});

function fill(select, options) {
  select.replaceChildren(...options.map(([value, label]) => new Option(label, value)));
}

// "=" before a value, so that there is one for what has none.
function values(name) {
  const found = [...new Set(SAMPLES.map((sample) => sample[5 + FILTERS.indexOf(name)]))];
  return found.sort().map((value) => [`=${value ?? ""}`, value ?? "unknown"]);
}

fill(form.result, [["", "all"], ...Object.entries(LABELS)]);
for (const name of FILTERS) fill(form[name], [["", "all"], ...values(name)]);
fill(form.sort, [...METRICS.map((metric) => [metric.name, metric.label]), ["id", "Name"]]);

function read() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) if (field.name) field.value = field.options ? field.options[0].value : "";
  if (!asked.has("result") && Object.keys(LABELS).length) form.result.value = Object.keys(LABELS)[0];
  for (const field of form.elements) {
    if (!field.name || !asked.has(field.name)) continue;
    const value = asked.get(field.name);
    // What there is not is asked for all the same: nothing is shown, rather than everything.
    if (field.options && ![...field.options].some((option) => option.value === value)) field.add(new Option(`${value.replace(/^=/, "")} (none)`, value));
    field.value = value;
  }
}

function write() {
  const asked = [...new FormData(form)].filter(([name, value]) => value || name === "result");
  history.replaceState(null, "", `#${new URLSearchParams(asked)}`);
}

function number(value, metric) {
  if (value === null) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = (value / 10 ** metric.power).toFixed(metric.digits);
  if (Number(text) === 0) return text.replace("-", ""); // nothing is below nothing
  return (metric.signed && value > 0 ? "+" : "") + text.replace("-", "−");
}

function made(kind, content, properties = {}) {
  const element = Object.assign(document.createElement(kind), properties);
  element.append(...[content].flat());
  return element;
}

function card(result) {
  const metric = METRICS.find((one) => one.name === form.sort.value) ?? METRICS[0];
  const folder = `samples/${result.folder}`;
  const label = LABELS[result.slug] ?? "nothing was made of it";
  const picture = result.slug === NOTHING ? "thumb-blurry" : { result: `thumb-${result.slug}`, error: `thumb-error-${result.slug}`, blurry: "thumb-blurry" }[form.picture.value];
  const image = made("img", [], {
    loading: "lazy", decoding: "async", width: result.width, height: result.height, src: `${folder}/${picture}.webp`,
    alt: `${form.picture.selectedOptions[0].textContent}: ${label} of ${result.id}`,
  });
  const kinds = [label, ...FILTERS.map((name) => result[name]), result.simulated ? "simulated" : null];
  const row = result.slug === NOTHING ? "index" : result.slug;
  const value = made("a", number(result.metrics[metric.name], metric), { href: `${folder}/index.html#row-${row}`, className: "value" });
  return made("li", [
    made("a", [image, made("span", result.id)], { href: `${folder}/index.html` }),
    made("small", kinds.filter(Boolean).join(" · ")),
    made("span", [value, " ", made("small", metric.label)]),
  ]);
}

// Those that means are over: of each kind of result, samples that have all results that any of these has.
function common(candidates) {
  const kind = (result) => result.slug.split("-")[0];
  const known = new Map();
  const held = new Map();
  const add = (map, key, value) => map.set(key, (map.get(key) ?? new Set()).add(value));
  for (const result of candidates) {
    add(known, kind(result), result.slug);
    add(held, `${kind(result)} ${result.folder}`, result.slug);
  }
  return candidates.filter((result) => result.slug !== NOTHING && held.get(`${kind(result)} ${result.folder}`).size === known.get(kind(result)).size);
}

// Those that Table 1 has no cell for.
function other(candidates) {
  return candidates.filter((result) => !CELLS.some(([one, motion]) => one === result.case && motion === result.motion));
}

const KEEP = new Map([["", (candidates) => candidates], ["common", common], ["other", other]]);

// At least so many cards, and as many as fill the screen and some more.
function more(least = 0) {
  while (shown < chosen.length && (shown < least || end.getBoundingClientRect().top < innerHeight + AHEAD)) {
    const next = chosen.slice(shown, shown + AT_ONCE);
    cards.append(...next.map(card));
    shown += next.length;
  }
}

// Where one was stays with the page's entry in the history, as a card and its distance from the top: pixels from the
// beginning, which are all that browsers keep, mean nothing before the cards above are there.
history.scrollRestoration = "manual";

function keepPlace() {
  const card = [...cards.children].findIndex((one) => one.getBoundingClientRect().bottom > 0);
  history.replaceState(card < 0 ? null : { card, top: cards.children[card].getBoundingClientRect().top }, "");
}

function returnToPlace({ card, top }) {
  more(card + 1);
  const align = () => { if (card < shown) scrollBy(0, cards.children[card].getBoundingClientRect().top - top); };
  align();
  requestAnimationFrame(() => requestAnimationFrame(align)); // cards have their true heights once they were drawn
}

function update() {
  const wanted = form.elements.name.value.toLowerCase();
  const alike = results.filter((result) => FILTERS.every((name) => !form[name].value || `=${result[name] ?? ""}` === form[name].value));
  const kept = KEEP.get(form.samples.value)?.(alike) ?? [];
  chosen = kept.filter((result) => (!form.result.value || result.slug === form.result.value) && result.id.toLowerCase().includes(wanted));
  const by = form.sort.value;
  const sign = form.order.value === "up" ? 1 : -1;
  const key = by === "id" ? (result) => result.id : (result) => result.metrics[by];
  chosen.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return x < y ? -sign : x > y ? sign : 0;
  });
  const samples = new Set(chosen.map((result) => result.folder));
  const hint = chosen.length ? "" : ": nothing has all of this";
  document.getElementById("count").textContent = `${chosen.length} result${chosen.length === 1 ? "" : "s"} of ${samples.size} sample${samples.size === 1 ? "" : "s"}${hint}`;
  cards.replaceChildren();
  shown = 0;
  if (history.state) returnToPlace(history.state);
  else more();
  try {
    sessionStorage.setItem("gallery-order", JSON.stringify([...samples]));
    sessionStorage.setItem("gallery-address", location.hash);
  } catch {
    // No storage for pages from this place: the pages of samples go through all of them.
  }
}

form.addEventListener("input", () => { write(); update(); });
document.getElementById("clear").addEventListener("click", () => { location.hash = "result="; });
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => { read(); update(); });
for (const kind of ["scroll", "resize"]) addEventListener(kind, () => more(), { passive: true });
addEventListener("pagehide", keepPlace);
read();
update();
