"use strict";
(() => {
  const words = document.getElementById("words");
  const unsolved = document.getElementById("unsolved");
  const rows = [...document.querySelectorAll("#tasks tbody tr")];
  const none = document.getElementById("none");
  if (!words) return;
  function sift() {
    const wanted = words.value.trim().toLowerCase();
    let left = 0;
    for (const row of rows) {
      const fits = row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits || (unsolved.checked && row.dataset.all === "yes");
      if (!row.hidden) left += 1;
    }
    none.hidden = left > 0;
  }
  words.addEventListener("input", sift);
  unsolved.addEventListener("change", sift);
})();
