"use strict";
// Gantt charts on a canvas: tens of thousands of rectangles, of which only those in the window are drawn.

// Colours by wait [s]; margins of the chart [px]; the number of rectangles in the first view.
const SHADES = [0.25, 0.4, 0.55, 0.7, 0.85, 1], LEVELS = [1, 60, 600, 3600, 36000];
const WAITS = ["no wait", "< 1 min", "< 10 min", "< 1 h", "< 10 h", "longer"];
const LEFT = 52, RIGHT = 10, TOP = 22, BOTTOM = 34, READABLE = 250;

const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array };

function unpacked({ dtype, bdata }) {
  const bytes = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0));
  return new KINDS[dtype](bytes.buffer);
}

class Gantt {
  constructor(figure) {
    const { rectangles, jobs, ...facts } = JSON.parse(figure.querySelector("script").textContent);
    const arrays = (columns) => Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, unpacked(of)]));
    Object.assign(this, facts, { figure, rectangles: arrays(rectangles), jobs: arrays(jobs) });
    this.nodes = this.nodes && unpacked(this.nodes);
    this.length = facts.end - facts.begin;
    this.window = this.readable();
    this.chart = figure.querySelector(".chart");
    this.overview = figure.querySelector(".overview");
    this.from = figure.querySelector("[name=from]");
    this.shown = figure.querySelector("[name=length]");
    this.busy = this.sum();
    this.listen();
    this.draw();
  }

  // The first window: around the start of the job with the longest wait, short enough to distinguish rectangles.
  readable() {
    const { begin, job } = this.rectangles;
    if (begin.length <= READABLE) return [0, this.length];
    let longest = 0;
    for (let k = 1; k < begin.length; k++) if (this.jobs.wait[job[k]] > this.jobs.wait[job[longest]]) longest = k;
    let [from, to] = [0, this.length];
    const within = () => this.rectangles.end.reduce((count, end, k) => count + (begin[k] < to && end > from), 0);
    while (within() > READABLE && to - from > this.length / 5000) {
      const half = (to - from) * 0.35;
      const middle = Math.min(Math.max(begin[longest], half), this.length - half);
      [from, to] = [middle - half, middle + half];
    }
    return [from, to];
  }

  // The time [s in the window's units] below a point of the chart.
  timeAt(offset) {
    const share = (offset - LEFT) / (this.chart.clientWidth - LEFT - RIGHT);
    return this.window[0] + Math.min(1, Math.max(0, share)) * (this.window[1] - this.window[0]);
  }

  // Busy processors of every pixel of the overview.
  sum(pixels = 600) {
    const { begin, end, cores } = this.rectangles;
    const change = new Float64Array(pixels + 1);
    for (let k = 0; k < begin.length; k++) {
      change[Math.floor((begin[k] / this.length) * pixels)] += cores[k];
      change[Math.ceil((end[k] / this.length) * pixels)] -= cores[k];
    }
    for (let k = 1; k <= pixels; k++) change[k] += change[k - 1];
    return change.subarray(0, pixels);
  }

  show(from, to) {
    const shortest = this.length / 5000;
    const length = Math.min(this.length, Math.max(shortest, to - from));
    const start = Math.min(Math.max(0, from), this.length - length);
    this.window = [start, start + length];
    this.draw();
  }

  zoom(factor, at = (this.window[0] + this.window[1]) / 2) {
    this.show(at + (this.window[0] - at) * factor, at + (this.window[1] - at) * factor);
  }

  listen() {
    const { chart, overview } = this;
    const time = (event) => this.timeAt(event.offsetX);
    const centre = (event) => {
      const half = (this.window[1] - this.window[0]) / 2;
      const at = (event.offsetX / overview.clientWidth) * this.length;
      this.show(at - half, at + half);
    };
    let pressed = null;
    chart.addEventListener("pointerdown", (event) => { pressed = time(event); });
    chart.addEventListener("pointermove", (event) => (pressed === null ? this.say(event) : this.draw([pressed, time(event)])));
    chart.addEventListener("pointerup", (event) => {
      const [a, b] = [pressed, time(event)].sort((x, y) => x - y);
      pressed = null;
      b - a > (this.window[1] - this.window[0]) / 100 ? this.show(a, b) : this.draw();
    });
    chart.addEventListener("pointerleave", () => { tip.hidden = true; });
    chart.addEventListener("dblclick", () => this.show(0, this.length));
    chart.addEventListener("wheel", (event) => {
      if (document.activeElement !== chart) return; // otherwise the page scrolls
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, time(event));
    }, { passive: false });
    chart.addEventListener("keydown", (event) => {
      const step = (this.window[1] - this.window[0]) / 8;
      const moves = { ArrowLeft: [-step, -step], ArrowRight: [step, step], "+": [step, -step], "-": [-step, step] };
      const move = moves[event.key];
      if (move) this.show(this.window[0] + move[0], this.window[1] + move[1]);
      else if (event.key === "Home") this.show(0, this.length);
      else return;
      event.preventDefault();
    });
    overview.addEventListener("pointerdown", centre);
    overview.addEventListener("pointermove", (event) => { if (event.buttons) centre(event); });
    const slide = () => {
      const length = this.length * Math.pow(5000, this.shown.value / 1000 - 1);
      this.show((this.from.value / 1000) * (this.length - length), (this.from.value / 1000) * (this.length - length) + length);
    };
    this.from.addEventListener("input", slide);
    this.shown.addEventListener("input", slide);
    this.figure.querySelector("[name=all]").addEventListener("click", () => this.show(0, this.length));
    this.figure.querySelector("details").addEventListener("toggle", () => this.draw());
    this.figure.addEventListener("shown", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(chart);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  visible() {
    const { begin, end } = this.rectangles;
    const [from, to] = this.window;
    const places = [];
    for (let k = 0; k < begin.length; k++) if (begin[k] < to && end[k] > from) places.push(k);
    return places;
  }

  draw(marked = null) {
    if (this.chart.clientWidth === 0) return;
    const places = this.visible();
    this.drawChart(places, marked);
    this.drawOverview();
    const [from, to] = this.window;
    const day = (seconds) => ((this.begin + seconds) / 86400).toFixed(to - from < 86400 ? 3 : 1);
    const jobs = new Set(places.map((k) => this.rectangles.job[k]));
    this.figure.querySelector("output").textContent = `day ${day(from)} to ${day(to)}: ${jobs.size.toLocaleString("en")} jobs`;
    this.shown.value = 1000 * (1 + Math.log((to - from) / this.length) / Math.log(5000));
    if (to - from < this.length) this.from.value = (1000 * from) / (this.length - (to - from));
    if (this.figure.querySelector("details").open) this.list(places);
  }

  drawChart(places, marked) {
    const { ctx, width, height } = canvasOf(this.chart);
    const { job, core, cores, begin, end } = this.rectangles;
    const [from, to] = this.window;
    const x = (seconds) => LEFT + ((seconds - from) / (to - from)) * (width - LEFT - RIGHT);
    const y = (number) => height - BOTTOM - (number / this.cores) * (height - TOP - BOTTOM);
    ctx.clearRect(0, 0, width, height);
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
    ctx.clip();
    ctx.fillStyle = colour("--sum");
    ctx.strokeStyle = colour("--paper");
    const roomy = places.length < 4000;
    for (const k of places) {
      ctx.globalAlpha = SHADES[LEVELS.filter((level) => this.jobs.wait[job[k]] >= level).length];
      const [left, right] = [x(begin[k]), x(end[k])];
      const [top, bottom] = [y(core[k] + cores[k]), y(core[k])];
      ctx.fillRect(left, top, Math.max(0.6, right - left), Math.max(0.6, bottom - top));
      if (roomy && right - left > 3 && bottom - top > 3) ctx.strokeRect(left, top, right - left, bottom - top);
    }
    ctx.globalAlpha = 1;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    for (const k of places) { // names, if there is space for them
      const [left, right] = [Math.max(LEFT, x(begin[k])), Math.min(width - RIGHT, x(end[k]))];
      const text = String(this.jobs.number[job[k]]);
      if (y(core[k]) - y(core[k] + cores[k]) < 12 || right - left < 8 * text.length + 4) continue;
      ctx.fillStyle = this.jobs.wait[job[k]] >= 600 ? "#fff" : colour("--ink");
      ctx.fillText(text, left + 4, (y(core[k]) + y(core[k] + cores[k])) / 2);
    }
    if (this.nodes && this.nodes.length < height / 6) {
      ctx.strokeStyle = colour("--line");
      for (const first of this.nodes) { ctx.beginPath(); ctx.moveTo(0, y(first)); ctx.lineTo(width, y(first)); ctx.stroke(); }
    }
    if (marked) {
      ctx.fillStyle = colour("--accent");
      ctx.globalAlpha = 0.25;
      ctx.fillRect(x(marked[0]), TOP, x(marked[1]) - x(marked[0]), height - TOP - BOTTOM);
      ctx.globalAlpha = 1;
    }
    ctx.restore();
    this.drawAxes(ctx, width, height, x, y);
  }

  // Time below, processors on the left, and the scale of colours above.
  drawAxes(ctx, width, height, x, y) {
    const [from, to] = this.window.map((seconds) => this.begin + seconds);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    ctx.fillStyle = colour("--ink");
    ctx.strokeStyle = colour("--line");
    ctx.lineWidth = 1;
    ctx.textAlign = "center";
    const [step, unit, name] = ticksOf(to - from, (width - LEFT - RIGHT) / 90);
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
      line(ctx, x(tick - this.begin), height - BOTTOM, x(tick - this.begin), height - BOTTOM + 4);
      ctx.fillText(Number((tick / unit).toFixed(3)).toLocaleString("en"), x(tick - this.begin), height - BOTTOM + 12);
    }
    ctx.fillText(`time since the first submission [${name}]`, (LEFT + width - RIGHT) / 2, height - 7);
    ctx.textAlign = "right";
    const rows = roundStep(this.cores, (height - TOP - BOTTOM) / 45);
    for (let number = 0; number <= this.cores; number += rows) {
      line(ctx, LEFT - 4, y(number), LEFT, y(number));
      ctx.fillText(number.toLocaleString("en"), LEFT - 6, y(number));
    }
    ctx.strokeRect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
    ctx.textAlign = "center";
    ctx.save();
    ctx.translate(9, (TOP + height - BOTTOM) / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText("processors", 0, 0);
    ctx.restore();
    ctx.textAlign = "left";
    const room = (width - LEFT - RIGHT) / WAITS.length;
    WAITS.forEach((text, k) => {
      ctx.fillStyle = colour("--sum");
      ctx.globalAlpha = SHADES[k];
      ctx.fillRect(LEFT + k * room, 4, 11, 11);
      ctx.globalAlpha = 1;
      ctx.fillStyle = colour("--ink");
      ctx.fillText(text, LEFT + k * room + 15, 10, room - 17);
    });
  }

  drawOverview() {
    const { ctx, width, height } = canvasOf(this.overview);
    ctx.clearRect(0, 0, width, height);
    ctx.fillStyle = colour("--soft");
    const step = width / this.busy.length;
    this.busy.forEach((busy, k) => {
      const tall = Math.min(1, busy / this.cores) * height;
      ctx.fillRect(k * step, height - tall, step + 0.5, tall);
    });
    const [left, right] = this.window.map((seconds) => (seconds / this.length) * width);
    ctx.strokeStyle = colour("--accent");
    ctx.lineWidth = 2;
    ctx.strokeRect(left + 1, 1, Math.max(3, right - left - 2), height - 2);
  }

  say(event) {
    const { job, core, cores, begin, end } = this.rectangles;
    const time = this.timeAt(event.offsetX);
    const number = ((this.chart.clientHeight - BOTTOM - event.offsetY) / (this.chart.clientHeight - TOP - BOTTOM)) * this.cores;
    const k = begin.findIndex((_, k) => begin[k] <= time && time < end[k] && core[k] <= number && number < core[k] + cores[k]);
    tip.hidden = k < 0;
    if (k < 0) return;
    const { number: numbers, procs, wait } = this.jobs;
    tip.textContent = `job ${numbers[job[k]]}: ${procs[job[k]]} processors, waited ${Math.round(wait[job[k]]).toLocaleString("en")} s`;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 14}px`;
  }

  list(places) {
    const first = new Map();
    for (const k of places) if (!first.has(this.rectangles.job[k])) first.set(this.rectangles.job[k], k);
    const rows = [...first].slice(0, 100).map(([job, k]) => {
      const row = document.createElement("tr");
      const { begin, end } = this.rectangles;
      for (const value of [this.jobs.number[job], this.jobs.procs[job], this.begin + begin[k], this.begin + end[k], this.jobs.wait[job]]) {
        row.insertCell().textContent = Math.round(value).toLocaleString("en");
      }
      return row;
    });
    this.figure.querySelector("tbody").replaceChildren(...rows);
  }
}

// A round step of which there are about `count` in `span`.
function roundStep(span, count) {
  const rough = span / Math.max(1, count), power = Math.pow(10, Math.floor(Math.log10(rough)));
  return Math.max(1, [1, 2, 5, 10].find((round) => round * power >= rough) * power);
}

// Readable steps of time: in seconds, the unit, and its name.
function ticksOf(span, count) {
  const units = [[86400, "days", [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]], [3600, "h", [1, 2, 3, 6, 12]], [60, "min", [1, 2, 5, 10, 15, 30]]];
  const all = units.flatMap(([unit, name, steps]) => steps.map((step) => [step * unit, unit, name])).sort((a, b) => a[0] - b[0]);
  if (span < 180) return [roundStep(span, count), 1, "s"];
  return all.find(([step]) => span / step <= count) || [roundStep(span / 86400, count) * 86400, 86400, "days"];
}

function line(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

function canvasOf(canvas) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, Number(canvas.dataset.height)];
  canvas.style.height = `${height}px`;
  if (canvas.buffer !== width * ratio) {
    canvas.buffer = canvas.width = width * ratio;
    canvas.height = height * ratio;
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { ctx, width, height };
}

const gantts = all(".gantt").map((figure) => new Gantt(figure));
