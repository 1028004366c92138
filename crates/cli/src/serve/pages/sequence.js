// One tagged sequence: tokens coloured by segment, the chances of every label, and the best labellings.
import { make, percent, show } from "./element.js";
import { called, fieldOf, hueOf, stretches, swatch } from "./fields.js";
import { explain } from "./tip.js";

const SHOWN_LABELS = 6;

/** Draws a sequence; `labels` are all labels of the model, `names` those of its segments. */
export function drawSequence({ sequence, index, labels, names }) {
  const line = make("p", { class: "line", role: "listbox", "aria-label": "Sequence " + (index + 1) });
  const choose = at => {
    show(line, ...drawTokens(sequence, at, labels, names));
    ranks.forEach((own, k) => own.setAttribute("aria-pressed", String(k === at)));
  };
  const ranks = sequence.best.map((own, at) => make("button", { type: "button", class: "rank", "aria-pressed": "false", onclick: () => choose(at) },
    make("strong", {}, String(at + 1)), " ", percent(Math.exp(own.log_probability)), make("span", { class: "soft" }, difference(sequence, at))));
  choose(0);
  line.addEventListener("keydown", walk);
  return make("li", { class: "entry tagged" }, line,
    ranks.length > 1 && make("div", { class: "ranks", role: "group", "aria-label": "Best labellings" }, ranks),
    drawExplanation(sequence));
}

function drawTokens({ rows, best, marginals, without_rules }, at, labels, names) {
  const chosen = best[at];
  return stretches(chosen.segments, rows.length).flatMap(({ label, first, end }, order) => {
    const tokens = [];
    for (let token = first; token < end; token++) {
      const changed = chosen.labels[token] !== best[0].labels[token] || (at === 0 && without_rules && without_rules[token] !== chosen.labels[token]);
      const element = make("span", {
        class: "token" + (changed ? " changed" : ""), role: "option", "aria-selected": "false", tabindex: order || token !== first ? -1 : 0,
        "aria-label": rows[token].split("\t")[0] + ": " + chosen.labels[token] + ", " + percent(chosen.probabilities[token]),
      }, rows[token].split("\t")[0]);
      explain(element, () => drawChances(rows[token], marginals[token], labels, names, without_rules?.[token], chosen.labels[token]));
      tokens.push(element, " ");
    }
    return [make("span", { class: label ? "segment" : "segment outside", "--hue": hueOf(label, names) },
      label && make("span", { class: "name", "aria-hidden": "true" }, label), tokens.slice(0, -1)), " "];
  });
}

/** The likeliest labels of a token as bars. */
function drawChances(row, chances, labels, names, without, label) {
  const order = [...labels.keys()].sort((a, b) => chances[b] - chances[a]).slice(0, SHOWN_LABELS);
  return [
    make("p", {}, make("strong", {}, row.split("\t").join("  "))),
    make("ul", { class: "bars" }, order.map(k => make("li", {}, make("span", {}, swatch(fieldOf(labels[k]), names), labels[k]),
      make("span", { class: "track" }, make("span", { "--part": 100 * chances[k] + "%" })), make("span", { class: "value" }, percent(chances[k]))))),
    without && without !== label ? make("p", {}, "without rules: " + without) : "",
  ];
}

/** How a labelling differs from the best: the first token with another label. */
function difference({ rows, best }, at) {
  const tokens = best[at].labels.flatMap((label, token) => label !== best[0].labels[token] ? [token] : []);
  if (!at) return " the best";
  const [first] = tokens;
  return first === undefined ? "" : ` ${rows[first].split("\t")[0]}: ${called(fieldOf(best[at].labels[first]))}` + (tokens.length > 1 ? ` and ${tokens.length - 1} more` : "");
}

function drawExplanation({ explanation = [] }) {
  return explanation.length > 0 && make("details", { class: "explanation", open: true },
    make("summary", {}, "Rules that were active"), make("ul", {}, explanation.map(words => make("li", {}, words))));
}

function walk(event) {
  const tokens = [...event.currentTarget.querySelectorAll(".token")], at = tokens.indexOf(event.target);
  const target = { ArrowRight: tokens[at + 1], ArrowLeft: tokens[at - 1], Home: tokens[0], End: tokens[tokens.length - 1] }[event.key];
  if (!target) return;
  event.preventDefault();
  for (const own of tokens) own.tabIndex = own === target ? 0 : -1;
  target.focus();
}
