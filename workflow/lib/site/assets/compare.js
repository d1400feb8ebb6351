// The pictures of a sample: a divider between any two, and one zoom for all of them.
"use strict";

const sample = document.getElementById("sample");
const stage = document.getElementById("stage");
const slider = document.getElementById("slider");
const views = [...document.querySelectorAll(".view")];
const selects = { left: document.getElementById("left"), right: document.getElementById("right") };
const MOST = 32;

// What is seen: a point (x, y) of the picture, in shares of its size, is at x * scale + shift.
const view = { scale: 1, x: 0, y: 0 };

function show() {
  view.scale = Math.min(Math.max(view.scale, 1), MOST);
  for (const axis of ["x", "y"]) view[axis] = Math.min(0, Math.max(1 - view.scale, view[axis]));
  for (const [name, value] of Object.entries(view)) sample.style.setProperty(`--${name}`, value);
  sample.classList.toggle("zoomed", view.scale > 1);
  sample.classList.toggle("close", view.scale >= 4);
  document.getElementById("zoom").textContent = `${Number(view.scale.toPrecision(3))}×`;
}

function zoomAt(factor, x = 0.5, y = 0.5) {
  const before = view.scale;
  view.scale = Math.min(Math.max(before * factor, 1), MOST);
  view.x = x - (x - view.x) * (view.scale / before);
  view.y = y - (y - view.y) * (view.scale / before);
  show();
}

function move(x, y) {
  view.x += x;
  view.y += y;
  show();
}

function whole() {
  Object.assign(view, { scale: 1, x: 0, y: 0 });
  show();
}

function goToDifference() {
  if (!sample.dataset.focus) return;
  const [x, y, size] = sample.dataset.focus.split(" ").map(Number);
  view.scale = Math.min(MOST, 1 / size);
  view.x = 0.5 - x * view.scale;
  view.y = 0.5 - y * view.scale;
  show();
}

function divide(percent) {
  slider.value = Math.min(100, Math.max(0, percent));
  sample.style.setProperty("--divider", `${slider.value}%`);
}

function choose(side, slug) {
  selects[side].value = slug;
  for (const choice of document.querySelectorAll(`#side-${side} .choice`)) choice.hidden = choice.dataset.picture !== slug;
  document.getElementById(`name-${side}`).textContent = selects[side].selectedOptions[0].textContent;
}

function place(event, element) {
  const box = element.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

// One finger or the mouse: the divider where it is grabbed or where nothing is to be moved, the picture otherwise.
// Two fingers: zoom.
const pointers = new Map();
let grabbed = null;
let spread = null;

function distance([a, b]) {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

for (const element of views) {
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, event);
    element.setPointerCapture(event.pointerId);
    const divider = element === stage && (event.target.id === "divider" || view.scale === 1);
    grabbed = pointers.size > 1 ? "zoom" : divider ? "divider" : "picture";
    spread = pointers.size === 2 ? distance([...pointers.values()]) : null;
    if (grabbed === "divider") divide(100 * place(event, element)[0]);
  });
  element.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const box = element.getBoundingClientRect();
    pointers.set(event.pointerId, event);
    if (grabbed === "divider") divide(100 * place(event, element)[0]);
    else if (grabbed === "picture") move((event.clientX - before.clientX) / box.width, (event.clientY - before.clientY) / box.height);
    else if (pointers.size === 2) {
      const now = distance([...pointers.values()]);
      const [a, b] = [...pointers.values()].map((one) => place(one, element));
      if (spread) zoomAt(now / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      spread = now;
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    element.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      grabbed = pointers.size ? grabbed : null;
    });
  }
  element.addEventListener("dblclick", (event) => zoomAt(2, ...place(event, element)));
  element.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    zoomAt(2 ** (-event.deltaY / 200), ...place(event, element));
  }, { passive: false });
}

slider.addEventListener("input", () => divide(slider.value));
for (const [side, select] of Object.entries(selects)) select.addEventListener("change", () => choose(side, select.value));
document.getElementById("zoom-in").addEventListener("click", () => zoomAt(2));
document.getElementById("zoom-out").addEventListener("click", () => zoomAt(0.5));
document.getElementById("zoom-all").addEventListener("click", whole);
document.getElementById("zoom-focus")?.addEventListener("click", goToDifference);

const KEYS = { "+": () => zoomAt(2), "=": () => zoomAt(2), "-": () => zoomAt(0.5), 0: whole, d: goToDifference };
const ARROWS = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input[type=search]")) return;
  const number = /^Digit([1-9])$/.exec(event.code);
  const option = number && selects.left.options[number[1] - 1];
  if (option) choose(event.shiftKey ? "right" : "left", option.value);
  else if (KEYS[event.key]) KEYS[event.key]();
  else if (ARROWS[event.key] && event.target === stage) {
    event.preventDefault(); // of the page
    if (view.scale > 1) move(...ARROWS[event.key]);
    else divide(Number(slider.value) - 50 * ARROWS[event.key][0]);
  }
});

const slugs = [...selects.left.options].map((option) => option.value);
choose("left", slugs.find((slug) => slug.startsWith("blur-")) ?? slugs[0]);
choose("right", slugs[1]);
divide(50);
show();
