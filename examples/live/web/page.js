"use strict";

const examples = {
  coal: "4 5 4 1 0 4 3 4 0 6 3 3 4 0 2 6 3 3 5 4 5 3 1 4 4 1 5 5 3 4 2 5 2 2 3 4 2 1 3 2 2 1 1 1 1 3 0 0 1 0 1 1 0 0 3 1 0 3 2 2 0 1 1 1 0 1 0 1 0 0",
  nile: "1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821",
  none: "5.1 4.2 5.9 4.6 5.3 6.1 4.9 4.4 5.5 5.0 4.1 5.7 5.2 4.8 6.0 4.5 5.4 4.7 5.6 4.9 5.1 4.3 5.8 5.0",
};
const box = { left: 60, right: 20, top: 15, bottom: 110, width: 900, height: 460 }; // the bars of probability are below the points
const chart = document.getElementById("picture"), text = document.getElementById("answer"), numbers = document.getElementById("numbers");

let y = [], range = [0, 1], last = null; // the series, what the picture spans, the last answer
let ready = false, busy = false, asked = 0, dragging = false;

const worker = new Worker("worker.js");
worker.onerror = event => say("wrong", "facet could not be loaded: " + event.message);
worker.onmessage = ({ data }) => {
  if (data.failed) return say("wrong", "facet could not be loaded: " + data.failed);
  if (data.loaded !== undefined) return say("wait", `Loading … ${Math.round(100 * data.loaded)} %`);
  if (data.ready) {
    ready = true;
    document.getElementById("version").textContent = data.ready;
    return ask();
  }
  busy = false;
  if (data.answer.error) {
    last = null;
    say("wrong", data.answer.error);
  } else {
    last = data.answer;
    tell(last, data.seconds);
  }
  draw();
  if (data.id !== asked) return ask(); // the series has changed meanwhile
  text.dataset.answers = asked;
};

function ask() {
  if (!ready || busy) return;
  busy = true;
  worker.postMessage({ id: asked, y });
}

function changed() {
  asked++;
  text.dataset.asked = asked;
  draw();
  ask();
}

function say(kind, words) {
  text.className = kind;
  text.textContent = words;
}

const short = x => String(Number(x.toPrecision(3)) || 0);
const percent = p => p > 0.995 ? "more than 99 %" : p < 0.005 ? "less than 1 %" : Math.round(100 * p) + " %";

function tell(a, seconds) {
  const at = a.gap.indexOf(Math.max(...a.gap));
  let words = `The level changed with probability ${percent(a.change)}. If it did, then most probably after number ${at + 1} (${percent(a.gap[at])}), ` +
    `from ${short(a.before.mean)} (90 %: ${short(a.before.low)} to ${short(a.before.high)}) to ${short(a.after.mean)} (${short(a.after.low)} to ${short(a.after.high)}).`;
  if (!a.trust) words += " Do not trust these numbers: the search has not found the whole posterior.";
  say(a.trust ? "" : "wrong", words + ` Computed in ${seconds.toFixed(1)}\u00a0s.`);
  text.dataset.change = a.change;
}

const column = i => box.left + (box.width - box.left - box.right) * (i + 0.5) / y.length;
const row = v => box.top + (box.height - box.top - box.bottom) * (range[1] - v) / (range[1] - range[0]);

function node(name, attributes, words) {
  const n = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) n.setAttribute(key, value);
  if (words !== undefined) n.textContent = words;
  chart.append(n);
}

// Four to ten round numbers in the range.
function ticks() {
  const rough = (range[1] - range[0]) / 5, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough) || rough, all = [];
  for (let v = Math.ceil(range[0] / step) * step; v <= range[1]; v += step) all.push(v);
  return all;
}

function draw() {
  chart.replaceChildren();
  const floor = box.height - 30, tall = 45;
  for (const v of ticks()) {
    node("line", { class: "axis", x1: box.left, x2: box.width - box.right, y1: row(v), y2: row(v) });
    node("text", { x: box.left - 8, y: row(v) + 5, "text-anchor": "end" }, short(v));
  }
  for (let i = 0; i < y.length; i += Math.max(1, Math.ceil(y.length / 12))) node("text", { x: column(i), y: box.height - 8, "text-anchor": "middle" }, i + 1);
  if (last && last.mean.length === y.length) {
    const line = values => values.map((v, i) => `${column(i)},${row(v)}`);
    node("polygon", { class: "band", points: [...line(last.low), ...line(last.high).reverse()].join(" ") });
    node("polyline", { class: "mean", points: line(last.mean).join(" ") });
    const top = Math.max(...last.gap) * last.change;
    node("text", { x: box.left - 8, y: floor - tall + 10, "text-anchor": "end" }, percent(top));
    last.gap.forEach((p, i) => {
      const high = tall * p * last.change / top;
      node("rect", { class: "gap", x: column(i) + 1, width: Math.max(1, column(i + 1) - column(i) - 2), y: floor - high, height: high });
    });
  }
  node("line", { class: "axis", x1: box.left, x2: box.width - box.right, y1: floor, y2: floor });
  node("text", { x: box.left - 8, y: floor + 5, "text-anchor": "end" }, "0");
  y.forEach((v, i) => node("circle", { class: "point", cx: column(i), cy: row(v), r: y.length > 60 ? 3 : 5 }));
}

// Whatever is dragged across the picture, the number there goes to where the pointer is.
function drag(event) {
  const frame = chart.getBoundingClientRect();
  const px = (event.clientX - frame.left) / frame.width * box.width, py = (event.clientY - frame.top) / frame.height * box.height;
  const i = Math.floor((px - box.left) / (box.width - box.left - box.right) * y.length);
  if (i < 0 || i >= y.length) return;
  const v = range[1] - (py - box.top) / (box.height - box.top - box.bottom) * (range[1] - range[0]);
  y[i] = Number(Math.min(range[1], Math.max(range[0], v)).toPrecision(4));
  numbers.value = y.join(" ");
  changed();
}
chart.addEventListener("pointerdown", event => {
  dragging = true;
  try { chart.setPointerCapture(event.pointerId); } catch { /* a pointer that is not there cannot be captured */ }
  drag(event);
});
chart.addEventListener("pointermove", event => { if (dragging) drag(event); });
for (const end of ["pointerup", "pointercancel"]) chart.addEventListener(end, () => { dragging = false; });

function read() {
  const words = numbers.value.split(/[\s,;]+/).filter(w => w !== "");
  const bad = words.find(w => !Number.isFinite(Number(w)));
  if (bad !== undefined) return say("wrong", `“${bad}” is no number.`);
  y = words.map(Number);
  last = null;
  const low = Math.min(...y, Infinity), high = Math.max(...y, -Infinity), margin = 0.15 * (high - low) || 1;
  range = y.length ? [low - margin, high + margin] : [0, 1];
  changed();
}
numbers.addEventListener("input", read);
for (const b of document.querySelectorAll("button[data-series]")) {
  b.addEventListener("click", () => {
    numbers.value = examples[b.dataset.series];
    read();
  });
}
numbers.value = examples.coal;
read();
