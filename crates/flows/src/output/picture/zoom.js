// A part of the map, larger: wheel, two fingers, double click, keys and a button; dragging moves it.
const held = new Map();  // pointers on the map, by id: where they were last
let dragged = false;

/** The most that helps: neighbours far apart, or eight times the whole map. */
const closest = () => Math.min(1e5, Math.max(8, 240 * state.zoom / Math.max(1e-9, view.cell)));

/** Zooms so that the place of the map at a point of the screen stays there. */
function zoom(times, x = view.width / 2, y = view.height / 2) {
  const pane = paneAt(x, y) || view.panes[0], to = bounded(state.zoom * times), scale = view.scale * to / state.zoom;
  const own = [(x - pane.left) / view.scale, (y - pane.top) / view.scale];
  look(to, [own[0] + (pane.x + pane.w / 2 - x) / scale, own[1] + (pane.middle - y) / scale]);
}
const bounded = times => Math.min(closest(), Math.max(1, times));
/** Shows so large a part of the map, about a place of it. */
function look(times, middle) { state.zoom = times; state.middle = middle; layout(); legend(); }
const shift = (right, down) => look(state.zoom, [state.middle[0] - right / view.scale, state.middle[1] - down / view.scale]);
/** From the keyboard, towards the selected place. */
function zoomKey(times) {
  const own = state.selected;
  look(bounded(state.zoom * times), own >= 0 && times > 1 ? [D.places[2 * own], D.places[2 * own + 1]] : state.middle);
}
const whole = () => look(1, state.middle);
const paneAt = (x, y) => view.panes.find(p => x >= p.x && x <= p.x + p.w && y >= p.y && y <= p.y + p.h);
const onMap = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

canvas.addEventListener("wheel", event => {
  if (event.deltaY > 0 && state.zoom === 1) return;  // the page scrolls on
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? .05 : .002)), ...onMap(event));
}, { passive: false });
canvas.addEventListener("dblclick", event => zoom(2, ...onMap(event)));
canvas.addEventListener("pointerdown", event => { held.set(event.pointerId, onMap(event)); if (held.size === 1) dragged = false; });
canvas.addEventListener("pointermove", event => {
  const before = held.get(event.pointerId), now = onMap(event);
  if (!before) return;
  const other = [...held].find(([id]) => id !== event.pointerId), moved = [now[0] - before[0], now[1] - before[1]];
  if (!other && (state.zoom === 1 || !dragged && Math.hypot(...moved) < 4)) return;
  held.set(event.pointerId, now); dragged = true;
  if (!other) { canvas.setPointerCapture(event.pointerId); shift(...moved); return; }
  const [x, y] = other[1], apart = p => Math.max(1, Math.hypot(p[0] - x, p[1] - y));
  zoom(apart(now) / apart(before), (now[0] + x) / 2, (now[1] + y) / 2);
});
// Two fingers do not scroll the page.
for (const touch of ["touchstart", "touchmove"]) canvas.addEventListener(touch, event => { if (event.touches.length > 1) event.preventDefault(); }, { passive: false });
for (const end of ["pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(end, event => held.delete(event.pointerId));
$("whole").onclick = () => { whole(); canvas.focus(); };
