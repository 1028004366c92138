// Marginals of variables as bars, with the best assignment marked.
import { counted, make } from "./element.js";

/** More than these a page cannot show usefully. */
const SHOWN = 200;

export function drawMarginals({ answer, variables }) {
  const single = (answer.marginals ?? []).slice(0, variables.length);
  const items = single.slice(0, SHOWN).map(({ values }, at) => drawVariable(variables[at], values, answer.map?.assignment[at]));
  return [
    make("h2", {}, "Marginals"),
    make("ul", { class: "variables" }, items),
    single.length > SHOWN && make("p", { class: "soft" }, `The first ${SHOWN} of ${counted(single.length, "variable")}. `, make("code", {}, "bethe solve"), " writes them all."),
  ].filter(Boolean);
}

function drawVariable({ name, states }, values, best) {
  return make("li", { class: "variable" }, make("h3", {}, String(name)),
    make("ul", { class: "bars" }, values.map((value, k) => {
      const own = best === k || best === states[k];
      return make("li", own ? { class: "best" } : {}, make("span", { class: "state" }, String(states[k])),
        make("span", { class: "track" }, make("span", { "--part": 100 * value + "%" })),
        make("span", { class: "value" }, value.toFixed(3)), own && make("span", { class: "unseen" }, "best assignment"));
    })));
}
