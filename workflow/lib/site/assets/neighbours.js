// The samples before and after, in the order in which the gallery last showed them.
"use strict";

const here = document.getElementById("sample").dataset.slug;
const known = window.SAMPLES;
let order = [];
let address = null;
try {
  order = JSON.parse(sessionStorage.getItem("gallery-order")) ?? [];
  address = sessionStorage.getItem("gallery-address");
} catch {
  // No storage for pages from this place: all samples, then.
}
if (!order.includes(here)) order = known;
const at = order.indexOf(here);
for (const [id, slug] of [["previous", order[at - 1]], ["next", order[at + 1]]]) {
  if (slug && known.includes(slug)) Object.assign(document.getElementById(id), { href: `../${slug}/index.html`, hidden: false });
}
if (address?.startsWith("#")) document.getElementById("up").href = `../../gallery.html${address}`;
