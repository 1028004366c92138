// The objective and its lower bound as they meet, and the gap between them on a logarithmic scale.
import { draw, number } from "./element.js";

const HEIGHT = 150, GAP_HEIGHT = 100, LEFT = 64, RIGHT = 12, TOP = 22, BETWEEN = 40, FOOT = 26;
const MOST_POINTS = 400;

/** A drawing in `place` that grows while iterations come. */
export class Convergence {
  constructor(place) {
    Object.assign(this, { place, points: [], every: 1, waiting: false });
    new ResizeObserver(() => this.later()).observe(place);
  }

  clear() {
    Object.assign(this, { points: [], every: 1, latest: null });
    this.later();
  }

  add(point) {
    this.latest = point;
    if (point.iteration % this.every === 0 || this.points.length < 2) this.points.push(point);
    if (this.points.length > MOST_POINTS) {
      this.points = this.points.filter((_, k) => k % 2 === 0);
      this.every *= 2;
    }
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.redraw(); });
  }

  redraw() {
    const points = this.latest && this.points.at(-1) !== this.latest ? [...this.points, this.latest] : this.points;
    const width = this.place.clientWidth;
    if (!width) return;
    const all = TOP + HEIGHT + BETWEEN + GAP_HEIGHT + FOOT;
    const last = points.at(-1);
    const svg = draw("svg", { class: "course", width, height: all, viewBox: `0 0 ${width} ${all}`, role: "img",
      "aria-label": last ? `After ${last.iteration} iterations the objective is ${number(last.objective)}, its lower bound ${number(last.lower_bound)}, the gap ${number(last.gap)}.` : "No iterations yet." });
    if (points.length) {
      const steps = [points[0].iteration, Math.max(points[0].iteration + 1, last.iteration)];
      const across = scale(steps, [LEFT, width - RIGHT]);
      svg.append(...drawBounds(points, across, width), ...drawGap(points, across, width), ...drawSteps(steps, across));
    }
    this.place.replaceChildren(svg);
  }
}

const scale = ([a, b], [from, to]) => value => from + (value - a) / (b - a) * (to - from);
const known = (points, name) => points.filter(own => own[name] !== null && Number.isFinite(own[name]));
const path = (points, across, up, name) => points.map((own, k) => (k ? "L" : "M") + across(own.iteration).toFixed(1) + " " + up(own[name]).toFixed(1)).join("");

function drawBounds(points, across, width) {
  const objectives = known(points, "objective"), bounds = known(points, "lower_bound");
  const values = [...objectives.map(own => own.objective), ...bounds.map(own => own.lower_bound)];
  if (!values.length) return [];
  const [low, high] = padded(Math.min(...values), Math.max(...values));
  const up = scale([low, high], [TOP + HEIGHT, TOP]);
  const both = points.filter(own => Number.isFinite(own.objective) && Number.isFinite(own.lower_bound) && own.lower_bound !== null);
  const between = both.length > 1 && draw("path", { class: "between", d: path(both, across, up, "objective") + path([...both].reverse(), across, up, "lower_bound").replace("M", "L") + "Z" });
  return [
    ...axis(low, high, up, width, number), between,
    ...curve(bounds, across, up, "lower_bound", "bound"), ...curve(objectives, across, up, "objective", "objective"),
    ...key([["objective", "objective"], ["bound", "lower bound"]], TOP - 10),
  ].filter(Boolean);
}

function drawGap(points, across, width) {
  const gaps = known(points, "gap").filter(own => own.gap > 0), top = TOP + HEIGHT + BETWEEN;
  if (!gaps.length) return [];
  const powers = gaps.map(own => Math.log10(own.gap));
  const [low, high] = [Math.floor(Math.min(...powers)), Math.max(Math.ceil(Math.max(...powers)), Math.floor(Math.min(...powers)) + 1)];
  const up = scale([low, high], [top + GAP_HEIGHT, top]);
  const logarithms = gaps.map(own => ({ iteration: own.iteration, gap: Math.log10(own.gap) }));
  return [...axis(low, high, up, width, power => "1e" + power, true), ...curve(logarithms, across, up, "gap", "gap"), ...key([["gap", "gap, in nats"]], top - 10)];
}

const padded = (low, high) => { const room = .06 * (high - low || Math.abs(high) || 1); return [low - room, high + room]; };

function curve(points, across, up, name, look) {
  const dots = points.length <= 40 ? points.map(own => draw("circle", { class: look, cx: across(own.iteration), cy: up(own[name]), r: 2.6 })) : [];
  return [draw("path", { class: "curve " + look, d: path(points, across, up, name) }), ...dots];
}

function axis(low, high, up, width, words, whole = false) {
  const step = whole ? Math.ceil((high - low) / 4) : niceStep((high - low) / 4);
  const lines = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9; k++) {
    const value = Number((k * step).toPrecision(12)), y = up(value);
    lines.push(draw("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }), draw("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, words(value)));
  }
  return lines;
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find(own => own * power >= rough);
}

function drawSteps([first, last], across) {
  const y = TOP + HEIGHT + BETWEEN + GAP_HEIGHT + 18;
  return [
    draw("text", { x: across(first), y }, String(first)), draw("text", { x: (across(first) + across(last)) / 2, y, "text-anchor": "middle" }, "iteration"),
    draw("text", { x: across(last), y, "text-anchor": "end" }, last.toLocaleString("en")),
  ];
}

function key(names, y) {
  let x = LEFT;
  return names.flatMap(([look, words]) => {
    const at = x;
    x += 36 + 7 * words.length;
    return [draw("line", { class: "curve " + look, x1: at, x2: at + 18, y1: y, y2: y }), draw("text", { x: at + 24, y: y + 4 }, words)];
  });
}
