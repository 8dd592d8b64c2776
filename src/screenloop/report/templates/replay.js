"use strict";
(() => {
  const slides = [...document.querySelectorAll(".slide")];
  const stops = [...document.querySelectorAll(".strip button")];
  const [back, on] = ["back", "on"].map((id) => document.getElementById(id));
  const main = document.querySelector("main");

  const frames = new Map();
  for (const image of document.querySelectorAll("img[data-frame]")) {
    if (image.hasAttribute("src")) frames.set(image.dataset.frame, image.src);
  }
  for (const image of document.querySelectorAll("img[data-frame]:not([src])")) {
    image.src = frames.get(image.dataset.frame);
  }

  let at = 0;
  function show(next, keepAddress) {
    at = Math.max(0, Math.min(slides.length - 1, next));
    slides.forEach((slide, i) => { slide.hidden = i !== at; });
    stops.forEach((stop, i) => { stop.setAttribute("aria-current", String(i === at)); });
    stops[at].scrollIntoView({ block: "nearest", inline: "center" });
    back.disabled = at === 0;
    on.disabled = at === slides.length - 1;
    main.scrollTop = 0;
    if (!keepAddress) history.replaceState(null, "", `#${slides[at].id}`);
  }
  const fromAddress = () => slides.findIndex((slide) => `#${slide.id}` === location.hash);

  stops.forEach((stop, i) => stop.addEventListener("click", () => show(i)));
  back.addEventListener("click", () => show(at - 1));
  on.addEventListener("click", () => show(at + 1));
  window.addEventListener("hashchange", () => { if (fromAddress() >= 0) show(fromAddress(), true); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: slides.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
  show(Math.max(0, fromAddress()), true);
})();
