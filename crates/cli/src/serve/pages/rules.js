// The choice between a model with its rules and without them.
import { counted, show } from "./element.js";
import { worded } from "./notice.js";

/** Offers the choice where the model has rules, and says so where it has none. */
export function offerRules(choice, note, model) {
  for (const label of choice.querySelectorAll("label")) label.hidden = !model.rules;
  choice.querySelector("input[value=with]").checked = true;
  show(note, ...worded(model.rules ? counted(model.rules, "rule") : "none in this model"));
}
