"use strict";
// The page draws charts when they become visible, sorts and filters tables, explains measures, and highlights a
// scheduler everywhere.

const drawings = JSON.parse(document.getElementById("drawings").textContent);
const config = JSON.parse(document.getElementById("config").textContent);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---------------------------------------------------------------- charts

const drawn = new Set();

// From the background colour to the darkest on which text is readable.
const SCALES = { light: [[0, "#eef5fb"], [1, "#559fe6"]], dark: [[0, "#18222d"], [1, "#1c64ab"]] };

function themed(layout) {
  const looks = { gridcolor: colour("--grid"), zerolinecolor: colour("--grid"), linecolor: colour("--line") };
  const axes = Object.keys(layout).filter((key) => /^[xy]axis/.test(key));
  return {
    margin: { l: 8, r: 12, t: 28, b: 8 },
    legend: { orientation: "h", y: 1.01, yanchor: "bottom", x: 0 },
    ...layout,
    font: { family: "system-ui, sans-serif", size: 12, color: colour("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    hoverlabel: { bgcolor: colour("--shade"), bordercolor: colour("--line"), font: { color: colour("--ink") } },
    ...Object.fromEntries(axes.map((key) => [key, { ...looks, ...layout[key] }])),
  };
}

function draw(plot) {
  if (drawn.has(plot) || plot.closest("[hidden]")) return;
  drawn.add(plot);
  const { data, layout } = drawings[plot.id];
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
  for (const tiles of data.filter((trace) => trace.type === "heatmap")) {
    Object.assign(tiles, { colorscale: SCALES[dark ? "dark" : "light"], textfont: { color: colour("--ink") } });
  }
  // If names would leave bars no space, only their numbers are shown.
  for (const bars of data.filter((trace) => trace.type === "bar" && trace.orientation === "h")) {
    const narrow = 7 * Math.max(...bars.y.map((name) => name.length)) > plot.clientWidth / 2;
    const short = { tickmode: "array", tickvals: bars.y, ticktext: bars.y.map((name) => name.match(/^\d+\./)?.[0] ?? name) };
    layout.yaxis = { ...layout.yaxis, ...(narrow ? short : { tickmode: "linear" }) };
  }
  Plotly.newPlot(plot, data, themed(layout), config).then(() => {
    plot.on("plotly_click", (event) => {
      const policy = policyOf(event.points[0]);
      if (policy !== undefined) select(policy);
    });
    highlight(plot);
  });
}

function redraw() {
  const shown = [...drawn];
  drawn.clear();
  shown.forEach(draw);
}

const sight = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
  { rootMargin: "300px" },
);
all(".plot").forEach((plot) => sight.observe(plot));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// Paper is narrower than screens, and hidden charts are printed too.
addEventListener("beforeprint", () => {
  all(".plot").forEach(draw);
  drawn.forEach((plot) => Plotly.relayout(plot, { width: 660 }));
});
addEventListener("afterprint", () => drawn.forEach((plot) => Plotly.relayout(plot, { width: null, autosize: true })));

// ---------------------------------------------------------------- choice of a chart

for (const select of all(".choice select")) {
  const parts = all("[data-when]", select.closest("section"));
  const show = () => {
    for (const part of parts) part.hidden = part.dataset.when !== select.value;
    parts.filter((part) => !part.hidden).forEach((part) => part.dispatchEvent(new Event("shown")));
  };
  select.addEventListener("change", show);
  show();
}

// ---------------------------------------------------------------- one scheduler everywhere

const selected = new Set();

function policyOf(point) {
  const meta = point.data.meta ?? {};
  return meta.policies ? meta.policies[point.pointNumber] : meta.policy;
}

function select(policy) {
  selected.has(policy) ? selected.delete(policy) : selected.add(policy);
  const names = new Set();
  document.body.classList.toggle("selecting", selected.size > 0);
  for (const row of all("[data-row]")) row.classList.toggle("selected", selected.has(Number(row.dataset.row)));
  for (const button of all(".policy")) {
    const chosen = selected.has(Number(button.dataset.policy));
    button.setAttribute("aria-pressed", chosen);
    if (chosen) names.add(button.textContent);
  }
  const bar = document.getElementById("selection");
  bar.hidden = selected.size === 0;
  bar.querySelector("span").textContent = "Selected: " + [...names].join(", ");
  drawn.forEach(highlight);
}

function highlight(plot) {
  const faint = plot.data.map((trace) => selected.size > 0 && trace.meta?.policy !== undefined && !selected.has(trace.meta.policy));
  if (plot.data.some((trace) => trace.meta?.policy !== undefined)) {
    Plotly.restyle(plot, { opacity: faint.map((is) => (is ? 0.18 : 1)) });
  }
  plot.data.forEach((trace, place) => {
    if (!trace.meta?.policies) return;
    const opacities = trace.meta.policies.map((policy) => (selected.size > 0 && !selected.has(policy) ? 0.25 : 1));
    Plotly.restyle(plot, { "marker.opacity": [opacities] }, [place]);
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".policy");
  if (button) select(Number(button.dataset.policy));
});
document.querySelector("#selection button").addEventListener("click", () => [...selected].forEach(select));

// ---------------------------------------------------------------- tables

for (const button of all(".sortable thead button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const up = head.getAttribute("aria-sort") !== "ascending";
    all("th", head.parentElement).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = head.closest("table").tBodies[0];
    const value = (row) => row.cells[head.cellIndex].dataset.value ?? row.cells[head.cellIndex].textContent;
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === ""); // missing values are last in both directions
      const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return up ? order : -order;
    };
    body.append(...[...body.rows].sort(compare));
  });
}

for (const form of all(".filters")) {
  const table = document.getElementById(form.dataset.table);
  const filter = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/);
    const workload = form.elements.workload?.value ?? "";
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const name = row.cells[0].textContent.toLowerCase();
      const place = workload === "*" ? row.dataset.workload !== "" : row.dataset.workload === workload;
      row.hidden = !(place && words.every((word) => name.includes(word)));
      shown += !row.hidden;
    }
    form.querySelector(".count").textContent = `${shown} ${shown === 1 ? "row" : "rows"}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}

// ---------------------------------------------------------------- explanations of measures

const tip = document.getElementById("tip");

function explain(event) {
  const subject = event.target.closest?.("[data-tip]");
  tip.hidden = !subject;
  if (!subject) return;
  tip.textContent = subject.dataset.tip;
  const at = subject.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - tip.offsetWidth - 8))}px`;
  const below = at.bottom + 6;
  tip.style.top = `${below + tip.offsetHeight < innerHeight ? below : at.top - tip.offsetHeight - 6}px`;
}

document.addEventListener("mouseover", explain);
document.addEventListener("focusin", explain);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
