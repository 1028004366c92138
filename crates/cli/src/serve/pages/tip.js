// One small window beside what is pointed at or has the focus.
import { make } from "./element.js";

const tip = make("div", { id: "tip", role: "tooltip", hidden: true });
document.body.append(tip);
let owner = null;

/** Shows `content()` beside the element while it is pointed at or has the focus. */
export function explain(element, content) {
  const appear = () => { owner = element; tip.replaceChildren(...[content()].flat()); tip.hidden = false; place(element); };
  const vanish = () => { if (owner === element) hideTip(); };
  element.addEventListener("pointerenter", appear);
  element.addEventListener("focus", appear);
  element.addEventListener("pointerleave", vanish);
  element.addEventListener("blur", vanish);
}

export function hideTip() {
  owner = null;
  tip.hidden = true;
}

/** Above the element's first line, or below its last where there is no room. */
function place(element) {
  const boxes = element.getClientRects(), first = boxes[0], last = boxes[boxes.length - 1];
  if (!first) return hideTip();
  const { width, height } = tip.getBoundingClientRect(), edge = 8;
  const left = Math.min(Math.max(edge, first.left), innerWidth - width - edge);
  const top = first.top - height - edge < 0 ? last.bottom + edge : first.top - height - edge;
  tip.style.left = left + scrollX + "px";
  tip.style.top = top + scrollY + "px";
}

addEventListener("keydown", event => { if (event.key === "Escape") hideTip(); });
addEventListener("hashchange", hideTip);
