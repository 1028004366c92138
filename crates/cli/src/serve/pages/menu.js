// The menu of fields that opens at a piece of a reference.
import { make } from "./element.js";
import { called, swatch } from "./fields.js";
import { hideTip } from "./tip.js";

let menu = null;

/** Opens at `box`, a rectangle on the screen. `choose(name)` gets the field; `leave()` runs when nothing was chosen. */
export function openMenu({ box, title, names, current, choose, leave }) {
  closeMenu();
  hideTip();
  const take = name => { closeMenu(); choose(name); };
  const item = name => make("button", {
    type: "button", role: "menuitemradio", "aria-checked": String(name === current), tabindex: -1, onclick: () => take(name),
  }, swatch(name, names), called(name));
  const items = [...names, ""].map(item);
  menu = make("div", { id: "menu", role: "menu", "aria-label": "Label for " + title },
    make("p", { class: "menu-title" }, make("q", {}, title), " is"), make("div", { class: "menu-items" }, items));
  menu.leave = leave;
  menu.addEventListener("keydown", event => walk(event, items));
  document.body.append(menu);
  place(box);
  (items.find(own => own.getAttribute("aria-checked") === "true") || items[0]).focus({ preventScroll: true });
}

export function closeMenu() {
  menu?.remove();
  menu = null;
}

function abandon() {
  const leave = menu?.leave;
  closeMenu();
  leave?.();
}

function walk(event, items) {
  const at = items.indexOf(document.activeElement), last = items.length - 1;
  const columns = items[1] && items[1].offsetTop === items[0].offsetTop ? 2 : 1;
  const target = {
    ArrowDown: Math.min(last, at + columns), ArrowUp: Math.max(0, at - columns), ArrowRight: Math.min(last, at + 1), ArrowLeft: Math.max(0, at - 1), Home: 0, End: last,
  }[event.key] ?? startingWith(event, items, at);
  if (event.key === "Escape" || event.key === "Tab") { event.preventDefault(); event.stopPropagation(); abandon(); }
  else if (target >= 0) { event.preventDefault(); items[target].focus(); }
}

/** The next item that begins with the letter that was typed. */
function startingWith({ key, ctrlKey, metaKey, altKey }, items, at) {
  if (key.length !== 1 || key === " " || ctrlKey || metaKey || altKey) return -1;
  const turned = [...items.keys()].map(k => (at + 1 + k) % items.length);
  return turned.find(k => items[k].textContent.startsWith(key.toLowerCase())) ?? -1;
}

/** Below the box, or above it where there is no room; a narrow screen has the menu at its foot, by style. */
function place(box) {
  const { width, height } = menu.getBoundingClientRect(), edge = 8;
  const below = box.bottom + edge, fits = below + height <= innerHeight || box.top - height - edge < 0;
  menu.style.left = Math.min(Math.max(edge, box.left), innerWidth - width - edge) + scrollX + "px";
  menu.style.top = (fits ? below : box.top - height - edge) + scrollY + "px";
}

addEventListener("pointerdown", event => { if (menu && !menu.contains(event.target)) abandon(); });
addEventListener("hashchange", closeMenu);
