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

// Where restorations differ if one is looked at, where blurs do otherwise.
function goToDifference() {
  const restored = Object.values(selects).some((select) => select.value.startsWith("restoration-"));
  const focus = (restored && sample.dataset.focusRestoration) || sample.dataset.focusBlur || sample.dataset.focusRestoration;
  if (!focus) return;
  const [x, y, size] = focus.split(" ").map(Number);
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
// Two fingers: zoom, and move.
const pointers = new Map();
let grabbed = null;

function distance([a, b]) {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

function middle([a, b], element) {
  return place({ clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 }, element);
}

for (const element of views) {
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, event);
    element.setPointerCapture(event.pointerId);
    const divider = element === stage && (event.target.id === "divider" || view.scale === 1);
    grabbed = pointers.size > 1 ? "zoom" : divider ? "divider" : "picture";
  });
  element.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = [...pointers.values()];
    const last = pointers.get(event.pointerId);
    pointers.set(event.pointerId, event);
    const now = [...pointers.values()];
    const [x, y] = place(event, element);
    const [fromX, fromY] = place(last, element);
    if (grabbed === "picture") move(x - fromX, y - fromY);
    else if (grabbed === "divider" && x !== fromX) divide(100 * x);
    else if (grabbed === "zoom" && now.length === 2) {
      const [wasX, wasY] = middle(before, element);
      const [isX, isY] = middle(now, element);
      zoomAt(distance(now) / Math.max(distance(before), 1), wasX, wasY);
      move(isX - wasX, isY - wasY);
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
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  if (!event.target.closest("#compare, #all") && !event.target.contains(stage)) return; // something else has the focus
  const number = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
  const option = number && selects.left.options[number[1] - 1];
  const key = event.key.toLowerCase();
  // What a key means comes before where it is: there are keyboards with the minus on that of a digit.
  if (Object.hasOwn(KEYS, key)) KEYS[key]();
  else if (option) choose(event.shiftKey ? "right" : "left", option.value);
  else if (Object.hasOwn(ARROWS, event.key) && event.target === stage) {
    const [x, y] = ARROWS[event.key];
    if (view.scale > 1) move(x, y);
    else if (x) divide(Number(slider.value) - 50 * x);
    else return; // the page scrolls
    event.preventDefault();
  }
});

const slugs = [...selects.left.options].map((option) => option.value);
choose("left", slugs.find((slug) => slug.startsWith("blur-")) ?? slugs[0]);
choose("right", slugs[1]);
divide(50);
show();
