// The map on its canvas.
const canvas = $("canvas"), pen = canvas.getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");
let printing = false, theme, view = { panes: [], scale: 1, radius: 10 };

const LIGHT = {
  ground: "#fff", ink: "#1c2733", soft: "#5b6875", grid: "#dfe5ea", empty: "#c3ccd4", disc: "#3c80b3", edge: "#fff",
  went: [217, 72, 15], came: [103, 65, 217], ramp: D.colours,
  signed: ["#8c510a", "#d8b365", "#f5f5f5", "#5ab4ac", "#01665e"], unsure: ["#f3f0f7", "#cbc0dd", "#9a86bd", "#6a4c9c", "#3f1f73"],
};
const DARK = {
  ground: "#11181f", ink: "#e6ecf1", soft: "#9aa8b5", grid: "#263340", empty: "#4a5763", disc: "#4a93c7", edge: "#11181f",
  went: [255, 146, 43], came: [177, 151, 252],
  ramp: ["#1a242e", "#1d3850", "#1f5076", "#2a6fa3", "#4a93c7", "#7ab8e0", "#b0d8f0", "#e6f4fc"],
  signed: ["#e0a04f", "#8a6427", "#27313a", "#2b7a73", "#5fd3c6"], unsure: ["#1d2230", "#40365f", "#6a549c", "#9f86cf", "#ded0f5"],
};

function mix(colours, part) {
  const rgb = c => [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16));
  const p = Math.min(1, Math.max(0, part)) * (colours.length - 1), k = Math.min(colours.length - 2, Math.floor(p));
  const [low, high] = [rgb(colours[k]), rgb(colours[k + 1])];
  return "rgb(" + low.map((a, i) => Math.round(a + (p - k) * (high[i] - a))).join() + ")";
}
/** Counts enter the scale with a power, so that large ones leave room for small ones. */
const level = (v, top) => top > 0 ? Math.min(1, Math.abs(v) / top) ** .4 : 0;
const rampOf = own => own.signed ? theme.signed : own.unsure ? theme.unsure : theme.ramp;
const colour = (own, v) => own.signed
  ? mix(theme.signed, .5 + Math.sign(v) * level(v, most(own)) / 2) : mix(rampOf(own), level(v, most(own)));
const radius = (own, v) => view.radius * Math.sqrt(Math.min(1.5, Math.abs(v) / (most(own) || 1)));
/** The side of a tile; dots of scattered places stay small. */
const tile = () => D.grid ? view.cell : Math.min(40, view.cell);
const at = (pane, c) => [pane.left + view.scale * D.places[2 * c], pane.top + view.scale * D.places[2 * c + 1]];

/** Fits the map into its panes. */
function layout() {
  theme = dark.matches && !printing ? DARK : LIGHT;
  const box = $("map").getBoundingClientRect(), ratio = Math.max(printing ? 2 : 1, window.devicePixelRatio || 1);
  canvas.width = Math.max(1, box.width * ratio); canvas.height = Math.max(1, box.height * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  view.width = box.width; view.height = box.height;
  const shown = panes(), across = shown.length > 1 && box.width > box.height * .9;
  const w = across ? box.width / shown.length : box.width, h = across ? box.height : box.height / shown.length;
  const head = shown.length > 1 ? 24 : 0, rim = BUBBLES ? Math.min(46, w * .1) : D.degrees ? 26 : 8;
  view.scale = state.zoom * Math.max(1e-6, Math.min((w - 2 * rim) / D.size[0], (h - head - 2 * rim) / D.size[1]));
  // The middle of the map while all of it is seen; else no further than to its edges.
  const within = (own, size, room) => { const half = Math.min(size / 2, (room / 2 - rim) / view.scale); return Math.min(size - half, Math.max(half, own)); };
  state.middle = [within(state.middle[0], D.size[0], w), within(state.middle[1], D.size[1], h - head)];
  $("whole").hidden = state.zoom === 1;
  canvas.style.touchAction = state.zoom === 1 ? "pan-x pan-y" : "none";
  view.cell = view.scale * D.cell;
  view.radius = Math.max(11, Math.min(.42 * view.cell, 52, .16 * Math.min(w, h), BUBBLES ? view.scale * room() : Infinity));
  view.panes = shown.map((own, k) => {
    const x = across ? k * w : 0, y = across ? 0 : k * h;
    const middle = y + head + (h - head) / 2;
    return { own, x, y, w, h, head, middle, left: x + w / 2 - view.scale * state.middle[0], top: middle - view.scale * state.middle[1] };
  });
  view.labels = $("names").checked ? view.panes.map(labels) : [];
  draw();
}

function draw() {
  pen.clearRect(0, 0, view.width, view.height);
  if (printing) { pen.fillStyle = theme.ground; pen.fillRect(0, 0, view.width, view.height); }
  view.arrows = [];
  view.panes.forEach((pane, k) => {
    pen.save();
    pen.beginPath(); pen.rect(pane.x, pane.y, pane.w, pane.h); pen.clip();
    if (D.degrees) graticule(pane);
    const moving = !pane.own.signed && (view.panes.length === 1 || pane.own.name === "inferred");
    // Arrows that end at a disc are drawn over it; arrows that pass by go behind.
    const layers = BUBBLES ? [moving && arrows, cells, marked] : [cells, moving && arrows, marked];
    layers.forEach(layer => layer && layer(pane));
    (view.labels[k] || []).forEach(label);
    if (pane.head) text(pane.own.label, pane.x + pane.w / 2, pane.y + 12, { align: "center", bold: true });
    pen.restore();
  });
}

const fontOf = (size, bold) => (bold ? "600 " : "") + size + "px system-ui, -apple-system, 'Segoe UI', sans-serif";
function text(words, x, y, { align = "left", bold = false, soft = false, size = 12 } = {}) {
  pen.font = fontOf(size, bold);
  pen.textAlign = align; pen.textBaseline = "middle"; pen.lineJoin = "round";
  pen.strokeStyle = theme.ground; pen.lineWidth = 3; pen.strokeText(words, x, y);
  pen.fillStyle = soft ? theme.soft : theme.ink; pen.fillText(words, x, y);
}

/** Meridians, parallels and a bar of kilometres. */
function graticule(pane) {
  const { west, north, across, down } = D.degrees, s = view.scale;
  const every = px => [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 45].find(d => d * px * s >= 70) || 60;
  const digits = d => d < .01 ? 3 : d < .1 ? 2 : d < 1 ? 1 : 0;
  pen.strokeStyle = theme.grid; pen.lineWidth = 1; pen.beginPath();
  const marks = [];
  const lon = every(across), first = Math.ceil((west + (pane.x - pane.left) / (across * s)) / lon);
  for (let k = first; ; k++) {
    const x = pane.left + (k * lon - west) * across * s;
    if (x > pane.x + pane.w || k - first > 400) break;
    pen.moveTo(x, pane.y + pane.head); pen.lineTo(x, pane.y + pane.h);
    const turn = ((k * lon + 180) % 360 + 360) % 360 - 180;
    marks.push([Math.abs(turn).toFixed(digits(lon)) + "°" + (turn % 180 ? turn < 0 ? "W" : "E" : ""), x, pane.y + pane.h - 8, "center"]);
  }
  const lat = every(down), top = Math.min(90, north - (pane.y + pane.head - pane.top) / (down * s));
  for (let k = Math.floor(top / lat); k * lat >= -90; k--) {
    const y = pane.top + (north - k * lat) * down * s;
    if (y > pane.y + pane.h) break;
    pen.moveTo(pane.x, y); pen.lineTo(pane.x + pane.w, y);
    if (y < pane.y + pane.h - 22) marks.push([Math.abs(k * lat).toFixed(digits(lat)) + "°" + (k ? k < 0 ? "S" : "N" : ""), pane.x + 3, y, "left"]);
  }
  pen.stroke();
  pen.font = fontOf(11);
  // A label that is cut at the edge would be another number.
  const fits = ([words, x, y, align]) => {
    const half = pen.measureText(words).width / 2 + 2;
    return y > pane.y + pane.head + 6 && (align === "left" || x - half >= pane.x && x + half <= pane.x + pane.w);
  };
  view.marks = marks.filter(fits);
  view.marks.forEach(([words, x, y, align]) => text(words, x, y, { align, soft: true, size: 11 }));
  const km = 111.195 / (down * s), long = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].filter(d => d / km < 110).pop();
  if (long) {
    const right = pane.x + pane.w - 10, y = pane.y + pane.head + 12;
    pen.strokeStyle = theme.soft; pen.lineWidth = 2; pen.beginPath();
    pen.moveTo(right - long / km, y); pen.lineTo(right, y); pen.stroke();
    text(long + " km", right, y + 11, { align: "right", soft: true, size: 11 });
  }
}

function cells(pane) {
  const own = pane.own, t = state.now, side = Math.max(1.5, (view.cell < 6 ? 1 : .94) * tile());
  const disc = (x, y, r) => { pen.beginPath(); pen.arc(x, y, r, 0, 7); };
  for (let c = 0; c < N; c++) {
    const [x, y] = at(pane, c), v = own.value(t, c);
    if (BUBBLES) {
      disc(x, y, 2); pen.fillStyle = theme.empty; pen.fill();
      if (v !== null) {
        disc(x, y, radius(own, v));
        pen.fillStyle = own.signed || own.unsure ? colour(own, v) : theme.disc; pen.fill();
      } else missing(x, y, 5);
      const seen = own.name === "inferred" && view.panes.length === 1 ? observed(t, c) : null;
      if (seen !== null) { disc(x, y, radius(own, seen)); pen.strokeStyle = theme.ink; pen.lineWidth = 1.25; pen.stroke(); }
    } else if (v === null && !D.grid) {
      missing(x, y, Math.max(2.5, Math.min(5, side / 2)));
    } else if (v === null) {
      pen.strokeStyle = theme.soft; pen.lineWidth = 1;
      pen.beginPath(); pen.moveTo(x - side / 4, y + side / 4); pen.lineTo(x + side / 4, y - side / 4); pen.stroke();
    } else {
      pen.fillStyle = colour(own, v);
      if (D.grid) pen.fillRect(x - side / 2, y - side / 2, side, side); else { disc(x, y, side / 2); pen.fill(); }
    }
  }
}

/** A place without a value. */
function missing(x, y, r) {
  pen.beginPath(); pen.arc(x, y, r, 0, 7);
  pen.setLineDash([2, 2]); pen.strokeStyle = theme.soft; pen.lineWidth = 1; pen.stroke(); pen.setLineDash([]);
}

/** The place that is pointed at, and the one that is selected. */
function marked(pane) {
  for (const c of new Set([state.hovered, state.selected])) {
    if (c < 0) continue;
    const [x, y] = at(pane, c), side = Math.max(4, tile()), own = pane.own.value(state.now, c) || 0;
    const r = BUBBLES ? Math.max(6, radius(pane.own, own)) + 3 : side / 2 + 1;
    pen.strokeStyle = theme.ink; pen.lineWidth = c === state.selected ? 2.5 : 1.5; pen.beginPath();
    if (BUBBLES || !D.grid) pen.arc(x, y, r, 0, 7); else pen.rect(x - side / 2, y - side / 2, side, side);
    pen.stroke();
    if (c === state.selected && !$("names").checked) text(short(D.names[c]), x, y - r - 9, { align: "center", bold: true });
  }
}

const widthOf = (n, top) => Math.max(1, (BUBBLES ? 11 : Math.max(3, Math.min(8, .3 * view.cell))) * Math.sqrt(n / (top || 1)));

function arrows(pane) {
  if (drifting()) { drift(pane); return; }
  const moves = shownMoves(), top = widest();
  for (let k = moves.length - 1; k >= 0; k--) arrow(pane, moves[k], top);
}

/** Where the individuals of regions go on average: long for far, wide for many. */
function drift(pane) {
  const all = regionsOf(state.now), far = longest(state.now), top = Math.max(0, ...all.map(r => r.n));
  const room = .95 * view.scale * D.region, stretch = far > 0 ? room / far : 0;
  for (const { x, y, n, way } of all) {
    const part = n / top, right = way[0] * stretch, down = way[1] * stretch;
    const long = Math.hypot(right, down), cut = Math.min(1, 1.4 * room / (long || 1)), length = long * cut;
    if (length < 2.5 || part < 1e-3) continue;
    const a = pane.left + view.scale * x - right * cut / 2, b = pane.top + view.scale * y - down * cut / 2, u = right / long, v = down / long;
    const half = Math.min(.16 * length, .12 * room, Math.max(.7, 5.5 * Math.sqrt(part))), head = Math.min(.6 * length, 3 + 3.4 * half), wing = Math.min(.45 * head, 1.4 + 2 * half);
    const c = a + u * length, d = b + v * length, p = c - u * head, q = d - v * head;
    pen.beginPath(); pen.moveTo(a - v * half * .4, b + u * half * .4); pen.lineTo(p - v * half, q + u * half); pen.lineTo(p - v * wing, q + u * wing); pen.lineTo(c, d);
    pen.lineTo(p + v * wing, q - u * wing); pen.lineTo(p + v * half, q - u * half); pen.lineTo(a + v * half * .4, b - u * half * .4); pen.closePath();
    pen.fillStyle = "rgba(" + theme.went.join() + "," + (.3 + .65 * part ** .4) + ")"; pen.strokeStyle = theme.edge; pen.lineWidth = 1;
    pen.globalAlpha = .8; pen.stroke(); pen.globalAlpha = 1; pen.fill();
  }
}

/** Where a disc ends, or the sign of a place without a value. */
function rim(pane, c) {
  const v = pane.own.value(state.now, c);
  return v === null ? 5 : radius(pane.own, v);
}
/** A curve to the right of the straight way, so that both ways of a pair are seen. */
function arrow(pane, move, top) {
  const [a, b] = at(pane, move.from), [c, d] = at(pane, move.to), length = Math.hypot(c - a, d - b);
  if (length < 1) return;
  const x = (c - a) / length, y = (d - b) / length, width = Math.min(widthOf(move.n, top), Math.max(1, .2 * length));
  const bend = Math.min(70, Math.max(.16 * length, width + 2));
  const p = [(a + c) / 2 - y * bend, (b + d) / 2 + x * bend];
  const trim = cell => BUBBLES ? Math.min(.3 * length, rim(pane, cell) + 2) : Math.min(.12 * length, .16 * tile());
  const from = toward([a, b], p, trim(move.from)), tip = toward([c, d], p, trim(move.to));
  const reach = Math.hypot(tip[0] - from[0], tip[1] - from[1]);
  const head = Math.min(.5 * reach, 4 + 2.1 * width), wing = Math.min(.45 * head + width * .35, 1.6 + 1.05 * width);
  const neck = toward(tip, p, head), u = (tip[0] - neck[0]) / (head || 1), v = (tip[1] - neck[1]) / (head || 1);
  const faint = VIEWS[state.view].unsure && move.error !== null && move.n < 2 * move.error;
  const alpha = faint ? .35 : .4 + .55 * Math.sqrt(move.n / (top || 1));
  const path = () => { pen.beginPath(); pen.moveTo(...from); pen.quadraticCurveTo(...p, ...neck); };
  const triangle = () => {
    pen.beginPath(); pen.moveTo(...tip);
    pen.lineTo(neck[0] - v * wing, neck[1] + u * wing); pen.lineTo(neck[0] + v * wing, neck[1] - u * wing); pen.closePath();
  };
  const own = "rgba(" + (move.came ? theme.came : theme.went).join() + "," + (state.arrow && same(state.arrow, move) ? 1 : alpha) + ")";
  pen.lineCap = "butt"; pen.strokeStyle = theme.edge; pen.globalAlpha = .75;
  path(); pen.lineWidth = width + 1.6; pen.stroke(); triangle(); pen.lineWidth = 1.4; pen.stroke(); pen.globalAlpha = 1;
  if (faint) pen.setLineDash([4, 3]);
  path(); pen.strokeStyle = own; pen.lineWidth = width; pen.stroke(); pen.setLineDash([]);
  triangle(); pen.fillStyle = own; pen.fill();
  view.arrows.push({ move, from, p, tip, width });
}
const same = (a, b) => a.from === b.from && a.to === b.to && !a.came === !b.came;
function toward([a, b], [c, d], distance) {
  const length = Math.hypot(c - a, d - b) || 1;
  return [a + (c - a) / length * distance, b + (d - b) / length * distance];
}

/** Names where they fit beside their places and each other, those of the fullest places first. */
function labels(pane) {
  const order = peaks().slice(0, 400), boxes = [], placed = [], values = Array.from(D.times.keys());
  const largest = c => Math.max(...values.map(t => Math.max(Math.abs(pane.own.value(t, c) || 0), pane.own.name === "inferred" && observed(t, c) || 0)));
  const halves = BUBBLES ? D.names.map((_, c) => Math.max(4, radius(pane.own, largest(c)))) : null;
  const half = c => halves ? halves[c] : .3 * view.cell;
  const hits = box => boxes.some(b => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3]);
  if (BUBBLES) for (let c = 0; c < N; c++) { const [x, y] = at(pane, c), r = .7 * half(c); boxes.push([x - r, y - r, x + r, y + r]); }
  pen.font = fontOf(12);
  for (const c of order) {
    if (placed.length >= 80) break;
    const words = short(D.names[c]), w = pen.measureText(words).width, [x, y] = at(pane, c), r = half(c) + 7;
    const ways = BUBBLES
      ? [["left", x + r, y], ["right", x - r, y], ["center", x, y + r + 7], ["center", x, y - r - 7], ["left", x + .7 * r, y - .7 * r - 6], ["right", x - .7 * r, y + .7 * r + 6]]
      : [["center", x, y]];
    for (const [align, tx, ty] of ways) {
      const left = align === "left" ? tx : align === "right" ? tx - w : tx - w / 2, box = [left - 2, ty - 8, left + w + 2, ty + 8];
      if (box[0] < pane.x || box[2] > pane.x + pane.w || box[1] < pane.y + pane.head || box[3] > pane.y + pane.h || hits(box)) continue;
      boxes.push(box); placed.push({ words, x: tx, y: ty, align });
      break;
    }
  }
  return placed;
}
const label = own => text(own.words, own.x, own.y, { align: own.align });

/** The radius of the greatest count, on the map, at which no two discs touch. */
let free = null;
function room() {
  if (free !== null) return free;
  peaks(); free = Infinity;
  const part = c => Math.sqrt(peak[c] / (D.most || 1));
  for (let a = 0; a < N; a++) for (let b = 0; b < a; b++) {
    const apart = Math.hypot(D.places[2 * a] - D.places[2 * b], D.places[2 * a + 1] - D.places[2 * b + 1]), both = part(a) + part(b);
    if (apart > 0 && both > 0) free = Math.min(free, apart / both);
  }
  return free;
}

/** Cells by their greatest count, so that names stay while time passes. */
let peak = null, ranked = null;
function peaks() {
  if (!ranked) {
    peak = new Float64Array(N);
    for (let t = 0; t < T; t++) for (let c = 0; c < N; c++) peak[c] = Math.max(peak[c], D.counts[t][c]);
    ranked = Array.from(peak.keys()).sort((a, b) => peak[b] - peak[a]);
  }
  return ranked;
}
