// htmx replaces the part "live" of the page with a new answer every few seconds. This script shows a warning if the
// daemon no longer answers, and opens the details again that the user had opened in the replaced part.
"use strict";
(() => {
  const live = document.getElementById("live");
  const silence = document.getElementById("silence");
  let opened = [];

  const tell = (event) => {
    if (event.target !== live) return;
    const last = live.querySelector("time");
    silence.querySelector("time").textContent = last ? last.textContent : "the beginning";
    silence.hidden = false;
  };
  for (const name of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
    document.body.addEventListener(name, tell);
  }
  live.addEventListener("htmx:beforeSwap", (event) => {
    if (event.target !== live) return;
    opened = Array.from(live.querySelectorAll("details[open]"), (each) => each.id);
  });
  live.addEventListener("htmx:afterSwap", (event) => {
    if (event.target !== live) return;
    silence.hidden = true;
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  });
})();
