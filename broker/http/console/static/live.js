// What a part that is asked for anew cannot say by itself: that nothing answers any more. And what was opened in it
// stays open.
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
