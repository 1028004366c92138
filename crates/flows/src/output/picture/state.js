// What is shown, and the numbers behind it.
const D = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const N = D.names.length, T = D.times.length;
/** Few places are discs whose area is the count; many are tiles of one size and a colour. */
const BUBBLES = D.few;
const state = { now: 0, view: "inferred", selected: -1, hovered: -1, arrow: null, timer: null, zoom: 1, middle: [0, 0] };

/** A number for people: three digits, those of thousands in groups. */
function show(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  return size >= 1e9 || size < 1e-3 ? v.toExponential(2) : (+v.toPrecision(3)).toLocaleString("en");
}
const individuals = n => show(n) + (show(n) === "1" ? " individual" : " individuals");
const percent = part => (part > .995 && part < 1 ? ">99" : part > 0 && part < .005 ? "<1" : Math.round(100 * part)) + "%";
const short = (name, most = 24) => [...name].length > most ? [...name].slice(0, most - 1).join("") + "…" : name;
const step = at => D.times[at] + " → " + D.times[at + 1];

const count = (time, cell) => D.counts[time][cell];
const observed = (time, cell) => D.observed && D.observed[time] ? D.observed[time][cell] : null;
const error = (time, cell) => D.errors ? D.errors[time][cell] : null;
/** Whether a view has no value for some place at this time. */
const hasGaps = own => D.names.some((_, c) => own.value(state.now, c) === null);
const hasObserved = !!D.observed && D.observed.some(row => row && row.some(v => v !== null));

/** Views of the map: what a cell's colour or size is. */
const VIEWS = {
  inferred: { label: "inferred counts", value: count, caption: "individuals, inferred" },
  observed: { label: "observed counts", value: observed, caption: "individuals, observed", needs: hasObserved },
  beside: { label: "observed beside inferred", panes: ["observed", "inferred"], caption: "individuals", needs: hasObserved },
  difference: {
    label: "observed − inferred", caption: "observed minus inferred", needs: hasObserved, signed: true,
    value: (t, c) => observed(t, c) === null ? null : observed(t, c) - count(t, c),
  },
  uncertainty: { label: "uncertainty", value: error, caption: "standard error, individuals", needs: !!D.errors, unsure: true },
};
for (const [name, view] of Object.entries(VIEWS)) { view.name = name; if (view.needs === false) delete VIEWS[name]; }
const panes = () => (VIEWS[state.view].panes || [state.view]).map(name => VIEWS[name]);

/** The greatest value of a view, over all times; counts share one scale. */
const greatest = {};
function most(view) {
  if (!view.signed && !view.unsure) return D.most;
  if (greatest[view.name] === undefined) {
    let top = 0;
    for (let t = 0; t < T; t++) for (let c = 0; c < N; c++) top = Math.max(top, Math.abs(view.value(t, c) || 0));
    greatest[view.name] = top;
  }
  return greatest[view.name];
}

// Moves of a step: { from, to, n, error }, largest first.
const steps = [], nets = [];
function movesOf(at) {
  if (!steps[at]) {
    const flat = D.moves[at] || [], errors = D.moveErrors && D.moveErrors[at];
    steps[at] = [];
    for (let k = 0; k < flat.length; k += 3)
      steps[at].push({ from: flat[k], to: flat[k + 1], n: flat[k + 2], error: errors ? errors[k / 3] : null });
  }
  return steps[at];
}
/** The moves of a step less what comes back. */
function netOf(at) {
  if (!nets[at]) {
    const back = new Map(movesOf(at).map(m => [m.from * N + m.to, m.n]));
    const left = movesOf(at).map(m => ({ ...m, n: m.n - (back.get(m.to * N + m.from) || 0), error: null }));
    nets[at] = left.filter(m => m.n > 0).sort((a, b) => b.n - a.n);
  }
  return nets[at];
}
/** The arrows of the map: the largest of this step, or those of the selected place. */
function shownMoves() {
  const moves = $("net").checked ? netOf : movesOf, own = state.selected, at = state.now;
  if (own < 0) return moves(at).slice(0, +$("many").value);
  const came = at > 0 ? moves(at - 1).filter(m => m.to === own).map(m => ({ ...m, came: true })) : [];
  const went = moves(at).filter(m => m.from === own);
  return [...came.slice(0, 30), ...went.slice(0, 30)].sort((a, b) => b.n - a.n);
}
/** Whether arrows are the mean ways of regions; a selected place has its own. */
const drifting = () => $("kind").value === "mean" && state.selected < 0;
/** Mean ways of regions at this step: { x, y, n, way: [right, down] }. */
const regions = [];
function regionsOf(at) {
  if (!regions[at]) {
    const flat = D.drift[at] || [];
    regions[at] = [];
    for (let k = 0; k < flat.length; k += 5) regions[at].push({ x: flat[k], y: flat[k + 1], n: flat[k + 2], way: [flat[k + 3], flat[k + 4]] });
  }
  return regions[at];
}
/** The length of way that the longest arrow stands for: that of all but few individuals. */
function longest(at) {
  if ($("common").checked) return Math.max(0, ...D.drift.map((_, t) => longestOf(t)));
  return longestOf(at);
}
function longestOf(at) {
  const own = regionsOf(at).map(r => [Math.hypot(...r.way), r.n]).sort((a, b) => b[0] - a[0]);
  let left = .03 * own.reduce((sum, r) => sum + r[1], 0);
  for (const [length, n] of own) { left -= n; if (left <= 0) return length; }
  return 0;
}
/** The flow that has the widest arrow. */
let overall = null;
function widest() {
  if (!$("common").checked) return shownMoves().reduce((top, m) => Math.max(top, m.n), 0);
  if (overall === null) overall = Math.max(0, ...D.moves.map(m => m.length ? m[2] : 0));
  return overall;
}
