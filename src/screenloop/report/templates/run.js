"use strict";
for (const plot of document.querySelectorAll(".plot")) {
  const places = JSON.parse(plot.dataset.hover);
  const at = document.createElement("div");
  const says = document.createElement("div");
  at.className = "at";
  says.className = "says";
  at.hidden = says.hidden = true;
  plot.append(at, says);
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const wanted = (100 * (event.clientX - box.left)) / box.width;
    let best = places[0];
    for (const one of places) {
      if (Math.abs(one.left - wanted) < Math.abs(best.left - wanted)) best = one;
    }
    at.hidden = says.hidden = false;
    at.style.left = best.left + "%";
    says.textContent = best.words.join("\n");
    const right = best.left > 50;
    says.style.left = right ? "auto" : `calc(${best.left}% + 8px)`;
    says.style.right = right ? `calc(${100 - best.left}% + 8px)` : "auto";
  });
  plot.addEventListener("pointerleave", () => { at.hidden = says.hidden = true; });
}
