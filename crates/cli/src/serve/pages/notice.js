// What went wrong, said where people look.
import { make, show } from "./element.js";
import { cancelled } from "./api.js";

/** Shows an error in its place, with a button to try again if that may help; a cancelled request is no error. */
export function complain(place, error, again = null) {
  if (cancelled(error)) return;
  const retry = again && make("button", { type: "button", class: "quiet", onclick: () => { calm(place); again(); } }, "Try again");
  show(place, make("p", {}, ...worded(error.message)), retry);
}

export const calm = place => place.replaceChildren();

/** Text in which `this` is a command. */
export function worded(text) {
  return text.split("`").map((part, index) => index % 2 ? make("code", {}, part) : part);
}
