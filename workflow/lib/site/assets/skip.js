// To the content by keyboard, without a new address: that holds filters.
"use strict";

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
