// Runs in each document before its own scripts. Takes {epoch_ms, seed, css} and leaves one
// unlisted object, window.__screenloop. Time stands still until `advance` lets it run, so that what a page
// shows depends on the actions and never on the machine.
(options) => {
  "use strict";
  const FRAME_MS = 1000 / 60;
  const ROUNDING_MS = 1e-6;
  const MAX_CALLBACKS = 100000;
  const real = {
    Date: window.Date,
    requestAnimationFrame: window.requestAnimationFrame.bind(window),
    stringify: JSON.stringify,
  };
  const timers = new Map();
  const animations = new WeakMap();
  let now_ms = 0;
  let next_id = 1;
  let ran = 0;

  // ---- dates and random numbers ----

  function VirtualDate(...parts) {
    if (!new.target) return new real.Date(options.epoch_ms + now_ms).toString();
    const target = new.target === VirtualDate ? real.Date : new.target;
    if (parts.length === 0) parts = [options.epoch_ms + now_ms];
    return Reflect.construct(real.Date, parts, target);
  }
  Object.setPrototypeOf(VirtualDate, real.Date);
  VirtualDate.prototype = real.Date.prototype;
  VirtualDate.prototype.constructor = VirtualDate;
  VirtualDate.now = () => Math.floor(options.epoch_ms + now_ms);
  window.Date = VirtualDate;
  Performance.prototype.now = () => now_ms;

  let word = options.seed >>> 0;
  Math.random = () => {
    // mulberry32
    word = (word + 0x6d2b79f5) | 0;
    let t = Math.imul(word ^ (word >>> 15), 1 | word);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  Crypto.prototype.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.random() * 256;
    return array;
  };

  // ---- timers ----

  const start = (call, due_ms, every_ms) => {
    const id = next_id++;
    timers.set(id, { id, call, due_ms, every_ms });
    return id;
  };
  const callable = (code, extra) =>
    typeof code === "function" ? () => code.apply(window, extra) : () => (0, eval)(String(code));
  const at_least_1 = (delay) => Math.max(1, Number(delay) || 0);
  window.setTimeout = (code, delay, ...extra) =>
    start(callable(code, extra), now_ms + at_least_1(delay), null);
  window.setInterval = (code, delay, ...extra) =>
    start(callable(code, extra), now_ms + at_least_1(delay), at_least_1(delay));
  window.requestAnimationFrame = (code) =>
    start(() => code.call(window, now_ms), (Math.floor(now_ms / FRAME_MS + ROUNDING_MS) + 1) * FRAME_MS, null);
  window.requestIdleCallback = (code) =>
    start(() => code.call(window, { didTimeout: false, timeRemaining: () => 10 }), now_ms + 1, null);
  const stop = (id) => void timers.delete(Number(id));
  window.clearTimeout = stop;
  window.clearInterval = stop;
  window.cancelAnimationFrame = stop;
  window.cancelIdleCallback = stop;

  const next_due = (until_ms) => {
    let first = null;
    for (const timer of timers.values()) {
      if (timer.due_ms > until_ms + ROUNDING_MS) continue;
      if (first === null || timer.due_ms < first.due_ms) first = timer;
    }
    return first;
  };
  const run = (timer) => {
    now_ms = Math.max(now_ms, timer.due_ms);
    if (timer.every_ms === null) timers.delete(timer.id);
    else timer.due_ms += timer.every_ms;
    ran += 1;
    if (ran > MAX_CALLBACKS) throw new Error("the page's timers do not come to rest");
    try {
      timer.call();
    } catch (error) {
      reportError(error);
    }
  };

  // ---- CSS transitions and animations: held, and moved by the same clock ----

  const hold_animations = () => {
    const live = document.getAnimations();
    for (const animation of live) {
      let born_ms = animations.get(animation);
      if (born_ms === undefined) {
        born_ms = now_ms;
        animations.set(animation, born_ms);
      }
      animation.pause();
      const { endTime } = animation.effect.getComputedTiming();
      if (now_ms - born_ms >= endTime) {
        animation.finish();
        animations.delete(animation);
      } else animation.currentTime = now_ms - born_ms;
    }
  };

  // ---- how the page looks the same everywhere ----

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(options.css);
  const adopt = () => {
    if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
  };
  adopt();

  // The system clipboard is one for all pages of a browser; each page gets its own.
  let clip = "";
  const selected = () => {
    const field = document.activeElement;
    if (field && "selectionStart" in field && field.selectionStart !== null)
      return field.value.slice(field.selectionStart, field.selectionEnd);
    return String(getSelection());
  };
  const keep = (event) => {
    const text = selected();
    if (text) clip = text;
    if (event.type === "cut") document.execCommand("delete");
    event.preventDefault();
  };
  window.addEventListener("copy", (event) => event.defaultPrevented || keep(event));
  window.addEventListener("cut", (event) => event.defaultPrevented || keep(event));
  window.addEventListener("paste", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    document.execCommand("insertText", false, clip);
  });

  // ---- what the outside may ask ----

  const path_of = (element) => {
    const steps = [];
    for (let e = element; e && e.parentElement; e = e.parentElement)
      steps.unshift(Array.prototype.indexOf.call(e.parentElement.children, e));
    return steps.join("/");
  };
  const state = () => {
    const rows = [];
    for (const e of document.querySelectorAll("*")) {
      const row = {};
      if (e.scrollTop || e.scrollLeft) row.scroll = [e.scrollLeft, e.scrollTop];
      if (e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement) {
        row.value = e.value;
        if (e.checked) row.checked = true;
      } else if (e instanceof HTMLSelectElement) {
        row.chosen = Array.from(e.options, (o) => o.selected);
        if (e.matches(":open")) row.open = true;
      }
      for (const _ in row) {
        rows.push([path_of(e), row]);
        break;
      }
    }
    return real.stringify([
      document.documentElement.outerHTML, rows, path_of(document.activeElement), now_ms,
    ]);
  };
  const advance = async (ms) => {
    const until_ms = now_ms + ms;
    ran = 0;
    adopt();
    hold_animations();
    for (let timer = next_due(until_ms); timer !== null; timer = next_due(until_ms)) {
      run(timer);
      await null;
    }
    now_ms = until_ms;
    hold_animations();
    return now_ms;
  };
  const painted = () =>
    new Promise((done) =>
      real.requestAnimationFrame(() => real.requestAnimationFrame(() => done(true))));
  Object.defineProperty(window, "__screenloop", {
    value: Object.freeze({ advance, painted, state, now_ms: () => now_ms }),
  });
}
