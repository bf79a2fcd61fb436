"""The script of the page: it turns the cluster, and keeps the choice of units when the page is loaded again."""

SCRIPT = r"""
(function () {
"use strict";
function kept(name, value) {  // what a page that is loaded again remembers; a browser may forbid it
  try {
    if (value === undefined) return sessionStorage.getItem("nbody6-" + name);
    sessionStorage.setItem("nbody6-" + name, value);
  } catch (error) { return null; }
}
var radios = document.querySelectorAll('input[name="units"]');
radios.forEach(function (radio) {
  if (kept("units") === radio.value) radio.checked = true;
  radio.addEventListener("change", function () { kept("units", radio.value); });
});
addEventListener("beforeprint", function () {
  document.querySelectorAll("details").forEach(function (details) { details.open = true; });
});

var source = document.getElementById("scene-data");
if (!source) return;
var data = JSON.parse(source.textContent), box = document.querySelector(".scene");
function bytes(text) {
  var raw = atob(text), out = new Uint8Array(raw.length);
  for (var i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
var places = new Int16Array(bytes(data.places).buffer), kind = bytes(data.kind);
var canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
if (!pen) return;
canvas.tabIndex = 0;
canvas.setAttribute("role", "img");
canvas.setAttribute("aria-label", "The stars in three dimensions. Arrow keys turn them, plus and minus come closer " +
  "and go away, the space bar starts and stops the turning.");
var button = document.createElement("button");
button.type = "button";
box.classList.add("live");
box.appendChild(canvas);
box.appendChild(button);

var begun = (kept("turn") || "").split(",").map(Number);
var azimuth = begun.length === 3 ? begun[0] : data.turn[0], elevation = begun.length === 3 ? begun[1] : data.turn[1];
var zoom = begun.length === 3 ? begun[2] : 1, colours = [], ink, grey, seen = true, waiting = false, last = 0;
var calm = matchMedia("(prefers-reduced-motion: reduce)"), turning = !calm.matches;
if (kept("turning") === "no") turning = false;

function readColours() {
  var style = getComputedStyle(document.documentElement);
  function value(name) { return style.getPropertyValue("--" + name).trim(); }
  var names = data.lines ? ["blue", "red", "green", "purple", "orange", "sky"] :
    data.one_kind ? ["blue"] : ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"];
  colours = names.map(value);
  ink = value("ink");
  grey = value("grey");
}
function resize() {
  var ratio = Math.min(window.devicePixelRatio || 1, 2), width = box.clientWidth;
  var height = Math.round(Math.min(width * 0.8, 560));
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  draw();
}
function draw() {
  var w = canvas.width, h = canvas.height, scale = 0.46 * Math.min(w, h) * zoom, dot = Math.min(w, h) / 520;
  var a = azimuth * Math.PI / 180, e = elevation * Math.PI / 180;
  var ca = Math.cos(a), sa = Math.sin(a), ce = Math.cos(e), se = Math.sin(e), far = data.distance;
  function project(x, y, z) {  // as rotated and projected in scene.py
    var away = -x * sa + y * ca, near = z * se - away * ce, p = far / (far - near);
    if (near > far - 0.3) return null;
    return [w / 2 + scale * p * (x * ca + y * sa), h / 2 - scale * p * (z * ce + away * se), p];
  }
  pen.clearRect(0, 0, w, h);
  drawAxes(project, dot);
  if (data.lines) drawPaths(project, dot); else drawStars(project, dot);
}
function chosenAxes() {
  var radio = document.querySelector('input[name="units"]:checked');
  return data.axes[radio ? radio.value : "nbody"] || data.axes.nbody;
}
function drawAxes(project, dot) {
  var axis = chosenAxes(), origin = project(0, 0, 0);
  pen.strokeStyle = grey;
  pen.lineWidth = dot;
  pen.fillStyle = ink;
  pen.font = Math.round(Math.max(14 * dot, 12 * canvas.width / box.clientWidth)) + "px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  ["x", "y", "z"].forEach(function (name, k) {
    var end = project(k === 0 ? axis[0] : 0, k === 1 ? axis[0] : 0, k === 2 ? axis[0] : 0);
    if (!end || !origin) return;
    pen.beginPath();
    pen.moveTo(origin[0], origin[1]);
    pen.lineTo(end[0], end[1]);
    pen.stroke();
    pen.fillText(name, origin[0] + (end[0] - origin[0]) * 1.07, origin[1] + (end[1] - origin[1]) * 1.07);
  });
  pen.textAlign = "left";
  pen.fillText("axes: " + axis[1], 6, canvas.height - Math.max(12 * dot, 12));
}
function drawStars(project, dot) {
  var now = -1, least = canvas.width / box.clientWidth;
  for (var i = 0; i < data.n; i++) {
    var at = project(places[3 * i] / data.one, places[3 * i + 1] / data.one, places[3 * i + 2] / data.one);
    if (!at) continue;
    if (kind[i] !== now) {
      now = kind[i];
      pen.fillStyle = colours[data.one_kind ? 0 : now];
    }
    var size = Math.max(least, (data.one_kind ? data.sizes[3] : data.sizes[now]) * dot * at[2]);
    if (size < 2.4) {
      pen.fillRect(at[0] - size / 2, at[1] - size / 2, size, size);
    } else {
      pen.beginPath();
      pen.arc(at[0], at[1], size / 2, 0, 2 * Math.PI);
      pen.fill();
    }
  }
}
function drawPaths(project, dot) {
  for (var i = 0; i < data.n; i++) {
    pen.strokeStyle = pen.fillStyle = colours[kind[i]];
    pen.lineWidth = 1.2 * dot;
    pen.beginPath();
    var at = null;
    for (var k = 0; k < data.steps; k++) {
      var j = 3 * (i * data.steps + k), one = data.one;
      var next = project(places[j] / one, places[j + 1] / one, places[j + 2] / one);
      if (next && at) pen.lineTo(next[0], next[1]); else if (next) pen.moveTo(next[0], next[1]);
      at = next;
    }
    pen.stroke();
    if (!at) continue;
    pen.beginPath();
    pen.arc(at[0], at[1], 4 * dot, 0, 2 * Math.PI);
    pen.fill();
  }
}

function keep() { kept("turn", [azimuth.toFixed(1), elevation.toFixed(1), zoom.toFixed(2)].join()); }
function turn(da, de) {
  azimuth = (azimuth + da) % 360;
  elevation = Math.max(-90, Math.min(90, elevation + de));
}
function closer(factor) { zoom = Math.max(0.4, Math.min(6, zoom * factor)); }
function step(time) {
  waiting = false;
  if (!turning || !seen) return;
  turn(Math.min(time - last, 100) * 0.008, 0);
  last = time;
  draw();
  ask();
}
function ask() {
  if (waiting || !turning || !seen) return;
  waiting = true;
  requestAnimationFrame(step);
}
function setTurning(value) {
  turning = value;
  button.textContent = turning ? "Stop" : "Turn";
  last = performance.now();
  ask();
}
function choose(value) {
  kept("turning", value ? "yes" : "no");
  setTurning(value);
}
button.addEventListener("click", function () { choose(!turning); });
canvas.addEventListener("keydown", function (event) {
  var moves = {ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, 5], ArrowDown: [0, -5]}, move = moves[event.key];
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (move) turn(move[0], move[1]);
  else if (event.key === "+" || event.key === "=") closer(1.15);
  else if (event.key === "-") closer(1 / 1.15);
  else if (event.key === " ") choose(!turning);
  else return;
  event.preventDefault();
  keep();
  draw();
});
var held = {}, spread = 0;
canvas.addEventListener("pointerdown", function (event) {
  held[event.pointerId] = [event.clientX, event.clientY];
  spread = 0;
  canvas.setPointerCapture(event.pointerId);
  setTurning(false);
});
canvas.addEventListener("pointermove", function (event) {
  var before = held[event.pointerId];
  if (!before) return;
  held[event.pointerId] = [event.clientX, event.clientY];
  var ids = Object.keys(held);
  if (ids.length === 2) {
    var p = held[ids[0]], q = held[ids[1]], now = Math.hypot(p[0] - q[0], p[1] - q[1]);
    if (spread > 0 && now > 0) closer(now / spread);
    spread = now;
  } else {
    turn((before[0] - event.clientX) * 0.4, (event.clientY - before[1]) * 0.4);
  }
  draw();
});
["pointerup", "pointercancel"].forEach(function (name) {
  canvas.addEventListener(name, function (event) {
    delete held[event.pointerId];
    spread = 0;
    keep();
  });
});
radios.forEach(function (radio) { radio.addEventListener("change", draw); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { readColours(); draw(); });
calm.addEventListener("change", function () { if (calm.matches) setTurning(false); });
if (window.IntersectionObserver) {
  new IntersectionObserver(function (entries) { seen = entries[0].isIntersecting; last = performance.now(); ask(); })
    .observe(canvas);
}
addEventListener("resize", resize);
readColours();
resize();
setTurning(turning);
addEventListener("pagehide", keep);
})();
"""
