// One reference: its text with coloured fields, what is known about it, and the entry beside it.
import { make, percent } from "./element.js";
import { called, fieldOf, hueOf, places, stretches } from "./fields.js";
import { explain } from "./tip.js";

/** Below this an entry is worth a look, as `bethe cite` has it. */
export const DOUBTFUL = .5;
/** Below this the probability of a segment is written beside it. */
const UNSURE = .9;

/**
 * Draws one reference. `forced` are the labels set by hand, `other` the labels of the other choice of rules or null,
 * `told` how that choice is called; `undo(index)` takes one forced label back.
 */
export function drawReference({ reference, index, names, forced, other, told, undo }) {
  const refused = reference.refused;
  return make("li", { class: "entry" + (reference.confidence < DOUBTFUL ? " doubtful" : ""), "data-index": index },
    make("div", { class: "reading" },
      refused ? make("p", { class: "line" }, reference.text) : drawLine({ reference, index, names, forced, other, told }),
      refused ? make("p", { class: "soft" }, refused) : drawFacts(reference),
      forced.length > 0 && drawForced(reference, forced, names, undo),
      drawRules(reference, other)),
    make("pre", { class: "bibtex", tabindex: 0, "aria-label": "Entry " + reference.key }, reference.bibtex));
}

function drawLine({ reference, index, names, forced, other, told }) {
  const { text, tokens } = reference, at = places(text, tokens);
  const line = make("p", { class: "line", role: "group", "aria-label": "Reference " + (index + 1) });
  let written = 0;
  for (const [position, segment] of stretches(reference.segments, tokens.length).entries()) {
    line.append(text.slice(written, at[segment.first][0]));
    written = at[segment.end - 1][1];
    line.append(drawSegment({ segment, position, text, at, names, forced, other, told, reference }));
  }
  line.append(text.slice(written));
  return line;
}

function drawSegment({ segment, position, text, at, names, forced, other, told, reference }) {
  const { label, first, end, probability } = segment;
  const byHand = forced.some(own => own.first < end && first < own.end);
  const unsure = !byHand && probability !== null && probability < UNSURE;
  const words = text.slice(at[first][0], at[end - 1][1]);
  const element = make("span", {
    class: "segment" + (label ? "" : " outside") + (unsure ? " unsure" : "") + (byHand ? " forced" : ""), role: "button", "aria-haspopup": "menu",
    tabindex: position ? -1 : 0, "data-label": label, "data-first": first, "data-end": end, "--hue": hueOf(label, names),
    "aria-label": [called(label) + ": " + words, probability !== null && percent(probability), byHand && "set by you"].filter(Boolean).join(", "),
  });
  let written = at[first][0];
  for (let token = first; token < end; token++) {
    const changed = other && other[token] !== reference.labels[token];
    element.append(text.slice(written, at[token][0]),
      make("span", { class: "token" + (changed ? " changed" : ""), "data-token": token }, text.slice(...at[token])));
    written = at[token][1];
  }
  if (unsure) element.append(make("span", { class: "chance" + (probability < DOUBTFUL ? " low" : ""), "aria-hidden": "true" }, percent(probability)));
  explain(element, () => [
    make("strong", {}, called(label)),
    probability !== null && !byHand ? " " + percent(probability) : "",
    byHand ? " set by you" : "",
    ...changesIn(segment, reference, other, told),
  ]);
  return element;
}

/** What the other choice of rules has here. */
function changesIn({ first, end, label }, { labels }, other, told) {
  if (!other) return [];
  const others = new Set();
  for (let token = first; token < end; token++) if (other[token] !== labels[token]) others.add(fieldOf(other[token]));
  if (!others.size) return [];
  const names = [...others].map(called).join(", ");
  return [make("br"), told + " rules: " + (others.size === 1 && others.has(label) ? "the pieces of " + names + " differ" : names)];
}

function drawFacts({ type, confidence }) {
  return make("p", { class: "facts" }, make("span", {}, type),
    make("span", { class: "confidence" }, "confidence ", make("span", { class: "meter", "aria-hidden": "true" }, make("span", { "--part": percent(confidence).replace(" ", "") })), confidence.toFixed(2)),
    confidence < DOUBTFUL && make("span", { class: "warn" }, "worth a look"));
}

function drawForced({ text, tokens }, forced, names, undo) {
  const at = places(text, tokens);
  return make("ul", { class: "chips", "aria-label": "Labels set by you" }, forced.map(({ first, end, label }, index) => {
    const words = text.slice(at[first][0], at[end - 1][1]);
    return make("li", { class: "chip", "--hue": hueOf(label, names) }, make("strong", {}, called(label)), make("span", { class: "words" }, words),
      make("button", { type: "button", "aria-label": "Undo " + called(label) + ": " + words, title: "Undo", onclick: () => undo(index) }, "×"));
  }));
}

/** Which rules were active and what they changed, in the words of `--explain`. */
function drawRules({ explanation = [], labels = [] }, other) {
  const changes = other ? labels.filter((label, token) => label !== other[token]).length : 0;
  if (!explanation.length && !changes) return null;
  return make("details", { class: "explanation", open: changes > 0 },
    make("summary", {}, changes ? "Rules change " + (changes === 1 ? "one token" : changes + " tokens") : "Rules were active, and changed nothing"),
    make("ul", {}, explanation.map(words => make("li", {}, words))));
}
