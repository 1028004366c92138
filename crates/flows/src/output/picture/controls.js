// Time, choices, pointer and keys.
function refresh() {
  $("number").hidden = $("back").hidden = drifting();
  // No arrows lie on a difference.
  for (const id of ["kind", "many", "net", "common"]) $(id).disabled = !!VIEWS[state.view].signed;
  draw(); panel(); legend(); status();
  const t = state.now;
  $("now").textContent = t + 1 < T ? step(t) : D.times[t];
  $("time").value = t;
  $("time").setAttribute("aria-valuetext", $("now").textContent);
  const who = state.selected >= 0 ? "; " + D.names[state.selected] + ": " + facts(state.selected).join(", ") : "";
  canvas.setAttribute("aria-label", "map of " + VIEWS[state.view].label + " at " + D.times[t] + who);
}
function go(to) { state.now = ((to % T) + T) % T; state.arrow = null; refresh(); }
function play(on) {
  clearInterval(state.timer);
  state.timer = on ? setInterval(() => go(state.now + 1), 1000) : null;
  $("play").textContent = on ? "❚❚ pause" : "▶ play";
}
function select(c) {
  state.selected = c;
  $("place").value = c < 0 ? "" : D.names[c];
  refresh();
}

/** The place under a point, or the arrow. */
function under(x, y) {
  let best = -1, least = Infinity;
  const pane = paneAt(x, y);
  if (pane) for (let c = 0; c < N; c++) {
    const [a, b] = at(pane, c), d = Math.hypot(a - x, b - y);
    const near = BUBBLES ? Math.max(14, radius(pane.own, pane.own.value(state.now, c) || 0) + 3) : Math.max(6, .71 * tile());
    if (d < near && d < least) { least = d; best = c; }
  }
  return best;
}
function arrowUnder(x, y) {
  const off = ({ from, p, tip, width }) => {
    let least = Infinity;
    for (let k = 0; k <= 16; k++) {
      const s = k / 16, q = [0, 1].map(i => (1 - s) ** 2 * from[i] + 2 * s * (1 - s) * p[i] + s * s * tip[i]);
      least = Math.min(least, Math.hypot(q[0] - x, q[1] - y));
    }
    return least - width / 2;
  };
  const near = view.arrows.map(own => [off(own), own.move]).filter(own => own[0] < 5).sort((a, b) => a[0] - b[0]);
  return near.length ? near[0][1] : null;
}
function hover(event) {
  const [x, y] = onMap(event), c = under(x, y), move = BUBBLES && c < 0 ? arrowUnder(x, y) : null;
  if (c !== state.hovered || move !== state.arrow) { state.hovered = c; state.arrow = move; draw(); }
  canvas.style.cursor = c >= 0 ? "pointer" : "";
  tell(x, y);
}
canvas.addEventListener("pointermove", event => { if (event.pointerType !== "touch") hover(event); });
canvas.addEventListener("pointerleave", () => { state.hovered = -1; state.arrow = null; $("tip").hidden = true; draw(); });
canvas.addEventListener("click", event => {
  if (dragged) return;
  const c = under(...onMap(event));
  state.hovered = -1; $("tip").hidden = true;
  select(c === state.selected ? -1 : c);
});
$("play").onclick = () => play(!state.timer);
$("before").onclick = () => { play(false); go(state.now - 1); };
$("after").onclick = () => { play(false); go(state.now + 1); };
$("close").onclick = () => { select(-1); canvas.focus(); };
$("time").oninput = () => { play(false); go(+$("time").value); };
$("kind").onchange = $("many").oninput = $("net").onchange = $("common").onchange = refresh;
$("names").onchange = () => { layout(); refresh(); };
$("view").onchange = () => { state.view = $("view").value; layout(); refresh(); };
$("place").onchange = () => {
  const words = $("place").value.trim(), exact = D.names.indexOf(words);
  select(exact >= 0 || !words ? exact : D.names.findIndex(name => name.toLowerCase().includes(words.toLowerCase())));
};
new ResizeObserver(() => requestAnimationFrame(() => { layout(); legend(); })).observe($("map"));
dark.addEventListener("change", () => { layout(); refresh(); });
const print = on => () => { printing = on; document.documentElement.classList.toggle("light", on); layout(); refresh(); };
window.addEventListener("beforeprint", print(true));
window.addEventListener("afterprint", print(false));
window.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = ["INPUT", "SELECT"].includes(event.target.tagName), key = event.key;
  const places = () => {
    const order = peaks(), down = key === "ArrowDown" ? 1 : -1, old = order.indexOf(state.selected);
    select(order[old < 0 ? 0 : (old + down + N) % N]);
  };
  const keys = {
    ArrowRight: () => { play(false); go(state.now + 1); }, ArrowLeft: () => { play(false); go(state.now - 1); },
    Home: () => go(0), End: () => go(T - 1), Escape: () => select(-1), " ": () => play(!state.timer),
    "+": () => zoomKey(1.5), "=": () => zoomKey(1.5), "-": () => zoomKey(1 / 1.5), "−": () => zoomKey(1 / 1.5), 0: whole,
  };
  if (event.target === canvas) keys.ArrowDown = keys.ArrowUp = places;
  if (!keys[key] || field && key !== "Escape" || key === " " && event.target.tagName === "BUTTON") return;
  event.preventDefault();
  keys[key]();
});

$("title").textContent = D.title;
$("note").textContent = D.note.replace(/\d{5,}/g, digits => (+digits).toLocaleString("en"));
$("time").max = T - 1;
for (const [name, own] of Object.entries(VIEWS)) $("view").append(new Option(own.label, name));
$("places").append(...D.names.slice(0, 2000).map(name => new Option(name)));
$("many").max = Math.min(200, Math.max(0, ...D.moves.map(m => m.length / 3)));
$("many").value = BUBBLES ? Math.min(24, 3 * N) : 60;
$("names").checked = BUBBLES;
if (BUBBLES || !D.drift.length) { $("kind").value = "largest"; $("kind").parentElement.hidden = true; $("number").firstChild.data = "arrows "; }
// index.html?time=7&net&view=beside&place=Bonn
const asked = new URLSearchParams(location.search || location.hash.slice(1));
state.now = Math.max(0, D.times.indexOf(asked.get("time")));
$("net").checked = asked.has("net");
if (asked.has("net")) $("kind").value = "largest";
if (VIEWS[asked.get("view")]) $("view").value = state.view = asked.get("view");
layout();
select(asked.has("place") ? D.names.indexOf(asked.get("place")) : -1);
