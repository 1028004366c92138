// What is said about a place, an arrow and the scales.
const shapes = "http" + "://www.w3.org/2000/svg";  // the name of a namespace; nothing is fetched
function draws(tag, values, ...children) {
  const own = document.createElementNS(shapes, tag);
  for (const [name, value] of Object.entries(values)) own.setAttribute(name, value);
  own.append(...children);
  return own;
}
const plus = e => e === null || e === undefined ? "" : " ± " + show(2 * e);

/** Numbers of a place now, one per line. */
function facts(c) {
  const t = state.now, lines = ["inferred " + show(count(t, c)) + plus(error(t, c))];
  if (hasObserved) lines.push(observed(t, c) === null ? "not observed" : "observed " + show(observed(t, c)));
  return lines;
}

function tell(x, y) {
  const tip = $("tip"), move = state.arrow, c = state.hovered;
  tip.hidden = c < 0 && !move;
  if (tip.hidden) return;
  tip.textContent = c >= 0
    ? [D.names[c], ...facts(c)].join("\n")
    : D.names[move.from] + " → " + D.names[move.to] + "\n" + (plus(move.error) ? show(move.n) + plus(move.error) + " individuals" : individuals(move.n)) + ", "
      + step(move.came ? state.now - 1 : state.now);
  tip.style.left = Math.max(0, Math.min(x + 16, view.width - tip.offsetWidth - 4)) + "px";
  tip.style.top = Math.max(0, y + 16 + tip.offsetHeight > view.height ? y - tip.offsetHeight - 10 : y + 16) + "px";
}

/** Where the individuals of the selected place came from and went. */
function panel() {
  const c = state.selected, t = state.now;
  $("panel").hidden = c < 0;
  if (c < 0) return;
  $("place-name").textContent = D.names[c];
  $("place-now").textContent = D.times[t] + ": " + facts(c).join(", ");
  course(c);
  list("came", t > 0 ? "came from, " + step(t - 1) : "", t - 1, m => m.to === c, m => m.from, D.arrivals, count(t, c));
  list("went", t + 1 < T ? "go next, " + step(t) : "", t, m => m.from === c, m => m.to, D.departures, count(t, c));
}

function list(id, title, at, fits, other, totals, all) {
  $(id + "-title").textContent = title;
  const rows = $(id);
  rows.replaceChildren();
  if (!title) return;
  const moves = movesOf(at).filter(m => fits(m) && m.n > 1e-4 * all), most = 7, listed = moves.slice(0, most);
  const row = (name, n, own, e) => {
    const line = document.createElement("li"), words = document.createElement(own >= 0 ? "button" : "span"), number = document.createElement("span");
    words.textContent = name; number.textContent = show(n) + plus(e) + (all > 0 ? " (" + percent(Math.min(1, n / all)) + ")" : "");
    if (own >= 0) words.onclick = () => select(own);
    line.style.setProperty("--part", (all > 0 ? Math.min(100, 100 * n / all) : 0) + "%");
    line.append(words, number); rows.append(line);
  };
  if (totals) row("this place, stayed", Math.max(0, all - totals[at][state.selected]), -1, D.stayErrors && D.stayErrors[at][state.selected]);
  listed.forEach(m => row(D.names[other(m)], m.n, other(m), m.error));
  const rest = totals ? totals[at][state.selected] - listed.reduce((sum, m) => sum + m.n, 0) : 0;
  if (rest > 1e-3 * all) row("other places", rest, -1);
  else if (!listed.length && !totals) rows.append("None among the largest flows, which are all that this page holds; flows.csv has the others.");
}

/** Counts of a place over all times: a line with its band of two standard errors, dots observed. */
function course(c) {
  const box = $("course"), w = Math.max(200, box.clientWidth || 290), h = 130, left = 40, foot = 26, head = 14;
  box.replaceChildren();
  box.setAttribute("viewBox", "0 0 " + w + " " + h);
  box.setAttribute("aria-label", "counts of " + D.names[c] + " over time");
  let top = 0;
  for (let t = 0; t < T; t++) top = Math.max(top, count(t, c) + 2 * (error(t, c) || 0), observed(t, c) || 0);
  const x = t => left + (T > 1 ? t / (T - 1) : .5) * (w - left - 8), y = v => h - foot - (top > 0 ? v / top : 0) * (h - foot - head);
  const css = name => "var(--" + name + ")";
  for (const v of [0, top / 2, top]) box.append(
    draws("path", { d: "M" + left + " " + y(v) + "H" + (w - 8), stroke: css("line") }),
    draws("text", { x: left - 5, y: y(v) + 4, "text-anchor": "end", class: "caption" }, show(v)));
  const path = value => Array.from({ length: T }, (_, t) => x(t).toFixed(1) + " " + y(value(t)).toFixed(1));
  if (D.errors) {
    const high = path(t => count(t, c) + 2 * error(t, c)), low = path(t => Math.max(0, count(t, c) - 2 * error(t, c))).reverse();
    box.append(draws("path", { d: "M" + [...high, ...low].join("L") + "Z", fill: css("accent"), opacity: .22 }));
  }
  box.append(draws("path", { d: "M" + path(t => count(t, c)).join("L"), fill: "none", stroke: css("accent"), "stroke-width": 2 }));
  for (let t = 0; t < T; t++) if (observed(t, c) !== null)
    box.append(draws("circle", { cx: x(t), cy: y(observed(t, c)), r: T > 30 ? 1.8 : 3, fill: css("ground"), stroke: css("observed"), "stroke-width": 1.2 }));
  box.append(
    draws("path", { d: "M" + x(state.now) + " " + head + "V" + (h - foot), stroke: css("went"), "stroke-dasharray": "3 3" }),
    draws("text", { x: left, y: h - 8, class: "caption" }, short(D.times[0], 16)),
    draws("text", { x: w - 8, y: h - 8, "text-anchor": "end", class: "caption" }, short(D.times[T - 1], 16)),
    draws("text", { x: w - 8, y: 8, "text-anchor": "end", class: "caption" }, hasObserved ? "— inferred  ○ observed" : "— inferred"));
}

/** Round numbers for a legend, the greatest first. */
function marks(top) {
  if (!(top > 0)) return [];
  const unit = 10 ** Math.floor(Math.log10(top)), lead = [5, 2, 1].find(k => k * unit <= top * 1.0001);
  return [lead * unit, lead * unit / (lead === 5 ? 5 : 4), lead * unit / 20];
}

/** The sign of a place without a value, with its words. */
function absent(x, y) {
  const sign = D.grid && !BUBBLES ? draws("path", { d: "M" + (x + 5) + " " + (y + 5) + "l10 -10", stroke: theme.soft })
    : draws("circle", { cx: x + 10, cy: y, r: 5, fill: "none", stroke: theme.soft, "stroke-dasharray": "2 2" });
  return [sign, draws("text", { x: x + 24, y: y + 4 }, "not observed")];
}

function legend() {
  const own = panes()[0], top = most(own), flow = widest(), rows = [];
  const caption = words => draws("text", { x: 0, y: 10, class: "caption" }, words);
  const box = (w, h, ...children) => draws("svg", { width: w, height: h, viewBox: "0 0 " + w + " " + h }, ...children);
  if (BUBBLES && !own.signed && !own.unsure) {
    let x = 0;
    const parts = [caption(VIEWS[state.view].caption)];
    const marked = marks(top / 4), middle = 18 + radius(own, marked[0] || 0);
    for (const v of marked) {
      const r = radius(own, v);
      parts.push(draws("circle", { cx: x + r, cy: middle, r, fill: theme.disc }), draws("text", { x: x + 2 * r + 5, y: middle + 4 }, show(v)));
      x += 2 * r + 18 + 7 * show(v).length;
    }
    if (hasObserved && state.view === "inferred") {
      parts.push(draws("circle", { cx: x + 10, cy: middle, r: 8, fill: "none", stroke: theme.ink }), draws("text", { x: x + 24, y: middle + 4 }, "observed"));
      x += 90;
    }
    if (hasGaps(own)) { parts.push(...absent(x, middle)); x += 110; }
    rows.push(box(Math.max(x, 150), 2 * middle - 12, ...parts));
  } else if (top > 0) {
    const w = 260, ramp = rampOf(own), id = "ramp" + own.name;
    const stops = ramp.map((c, k) => draws("stop", { offset: k / (ramp.length - 1), "stop-color": c }));
    // Both ends, and what is far enough from its neighbours.
    const apart = (a, b) => level(b, top) - level(a, top) > .14;
    const between = marks(top).slice(0, 2).reverse().filter((v, k, all) => apart(0, v) && apart(v, top) && (!k || apart(all[k - 1], v)));
    const values = own.signed ? [-top, 0, top] : [0, ...between, top];
    const place = v => own.signed ? .5 + Math.sign(v) * level(v, top) / 2 : level(v, top);
    const gaps = hasGaps(own) ? absent(w + 34, 22) : [];
    rows.push(box(w + (gaps.length ? 140 : 44), 46, ...gaps, caption(VIEWS[state.view].caption), draws("linearGradient", { id }, ...stops),
      draws("rect", { x: 0, y: 16, width: w, height: 11, fill: "url(#" + id + ")" }),
      ...values.map(v => draws("text", { x: place(v) * w, y: 41, "text-anchor": v === values[0] ? "start" : "middle" }, show(v)))));
  }
  if (drifting() && !own.signed && longest(state.now) > 0) {
    const far = longest(state.now), room = .95 * view.scale * D.region, unit = D.degrees ? 111.195 / D.degrees.down : 1 / D.cell;
    const long = marks(far * unit)[0], px = long / unit / far * room, head = Math.min(6, .5 * px);
    rows.push(box(300, 46, caption("length: mean distance moved; width: how many individuals"),
      draws("path", { d: "M0 24h" + px + "m-" + head + " -" + .7 * head + "l" + head + " " + .7 * head + "l-" + head + " " + .7 * head, fill: "none", stroke: "rgb(" + theme.went.join() + ")", "stroke-width": 2 }),
      draws("text", { x: px + 8, y: 28 }, show(long) + (D.degrees ? " km" : long === 1 ? " cell" : " cells"))));
  } else if (flow > 0 && !own.signed) {
    const caption2 = state.selected < 0 ? "individuals that move" : "came here (violet), go next (orange)";
    let x = 0;
    const parts = [caption(caption2)];
    for (const v of marks(flow)) {
      parts.push(draws("path", { d: "M" + x + " 24h30", stroke: "rgb(" + theme.went.join() + ")", "stroke-width": widthOf(v, flow) }),
        draws("text", { x: x + 36, y: 28 }, show(v)));
      x += 54 + 7 * show(v).length;
    }
    rows.push(box(Math.max(x, 240), 46, ...parts));
  }
  $("legend").replaceChildren(...rows);
}

/** How much of the movement the arrows show. */
function status() {
  const t = state.now, last = t + 1 >= T, shown = shownMoves();
  if (state.selected >= 0 || VIEWS[state.view].signed || last || !D.moves.length) {
    $("status").textContent = last && state.selected < 0 && D.moves.length ? "Nobody moves after the last time." : "";
    return;
  }
  if (drifting()) { $("status").textContent = "Arrows: where individuals of a region go on average, " + show(D.moved[t]) + " move."; return; }
  const all = D.moved[t] || 0, sum = moves => moves.reduce((total, m) => total + m.n, 0);
  const words = shown.length + " arrows" + (VIEWS[state.view].unsure ? ", dashed if less than two standard errors" : "");
  if ($("net").checked || !(all > 0)) { $("status").textContent = words + "."; return; }
  const held = sum(movesOf(t)) / all;
  $("status").textContent = words + ": " + percent(Math.min(1, sum(shown) / all)) + " of the " + show(all) + " that move"
    + (held < .99 ? ". This page holds the largest flows, " + percent(held) + " of all; flows.csv has the others." : ".");
}
