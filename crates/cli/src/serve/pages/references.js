// References: text in, entries out, with labels that people may set themselves.
import { byId, counted, debounced, make, show } from "./element.js";
import { post, postForFile } from "./api.js";
import { acceptFiles, copy, download, textOf } from "./files.js";
import { calm, complain, worded } from "./notice.js";
import { legend, places } from "./fields.js";
import { DOUBTFUL, drawReference } from "./reference.js";
import { focusSegment, letChoose } from "./choosing.js";
import { offerRules } from "./rules.js";

const FILES = { bibtex: "references.bib", "csl-json": "references.json", ris: "references.ris", conll: "references.conll" };
const part = name => byId("references-" + name);

let models = [];
/** Lines that are whole, each with the labels that were set by hand: what is sent. */
let lines = [];
/** Answers for those lines under both choices of rules; null where there is none. */
let answers = { with: null, without: null };
let running = null;
let drawn = new Map();

const model = () => models.find(own => own.name === part("model").value);
const choice = () => model().rules && part("rules").querySelector("input:checked").value === "without" ? "without" : "with";

export async function start(all) {
  models = all.filter(own => own.cites);
  show(part("model"), ...models.map(own => make("option", { value: own.name }, own.name + (own.built_in ? " (built in)" : ""))));
  part("text").value = await fetch("/example-references.txt").then(answer => answer.text());
  listen();
  await changeModel();
}

function listen() {
  part("text").addEventListener("input", debounced(parse));
  part("unwrap").addEventListener("change", parse);
  part("order").addEventListener("change", draw);
  part("model").addEventListener("change", changeModel);
  part("rules").addEventListener("change", () => answers[choice()] ? draw() : infer());
  part("copy").addEventListener("click", () => hand(async blob => { await copy(await blob.text()); say("Copied."); }));
  part("download").addEventListener("click", () => hand(blob => download(blob, FILES[part("format").value])));
  acceptFiles(part("drop"), part("file"), async files => {
    try {
      part("text").value = (await Promise.all(files.map(textOf))).join("\n");
      await parse();
    } catch (error) { complain(part("error"), error); }
  });
  letChoose(part("list"), { names: () => model().fields, textOf: wordsOf, relabel });
}

function changeModel() {
  offerRules(part("rules"), part("rules-note"), model());
  lines = [];
  return parse();
}

/** Sends a request in place of the one that runs; `use` gets its answer unless another follows. */
async function ask(body, use) {
  running?.abort();
  const own = running = new AbortController();
  part("list").setAttribute("aria-busy", "true");
  try {
    const answer = await post("/api/v1/cite", { model: model().name, ...body }, own.signal);
    calm(part("error"));
    await use(answer);
  } catch (error) {
    complain(part("error"), error, parse);
  } finally {
    if (running === own) part("list").removeAttribute("aria-busy");
  }
}

/** Reads the text again. Labels set by hand stay with lines that did not change. */
function parse() {
  if (!part("text").value.trim()) {
    running?.abort();
    [lines, answers] = [[], { with: null, without: null }];
    return draw();
  }
  const body = { text: part("text").value, unwrap: part("unwrap").value, rules: choice() === "with" };
  return ask(body, answer => {
    const kept = new Map(lines.map(line => [line.text, line.force]));
    lines = answer.references.map(({ text }) => ({ text, force: kept.get(text) || [] }));
    keep(answer, body.rules);
    if (lines.some(line => line.force.length)) return infer();
  });
}

/** Infers all lines again under the labels that were set: keys and repeated authors depend on the others. */
function infer() {
  const rules = choice() === "with";
  return ask({ references: lines, rules }, answer => keep(answer, rules));
}

/** Keeps an answer, and the one under the other choice of rules if it is about the same lines. */
function keep(answer, rules) {
  const [own, other] = rules ? ["with", "without"] : ["without", "with"];
  const about = JSON.stringify(lines);
  answers = { [own]: { ...answer, about }, [other]: answers[other]?.about === about ? answers[other] : null };
  draw();
}

/** The labels of the other choice of rules, to show what rules change. */
function otherLabels(index) {
  if (choice() === "with") return answers.with.references[index].without_rules ?? null;
  return answers.with?.references[index].labels ?? null;
}

function draw() {
  const references = answers[choice()]?.references ?? [];
  const names = model().fields, told = choice() === "with" ? "without" : "with";
  const cards = references.map((reference, index) => {
    const own = { reference, index, names, forced: lines[index].force, other: model().rules ? otherLabels(index) : null, told };
    const key = JSON.stringify(own);
    return { confidence: reference.confidence ?? 0, key, element: drawn.get(key) ?? drawReference({ ...own, undo: at => undo(index, at) }) };
  });
  drawn = new Map(cards.map(({ key, element }) => [key, element]));
  if (part("order").value === "unsure") cards.sort((a, b) => a.confidence - b.confidence);
  show(part("list"), ...cards.map(card => card.element));
  show(part("legend"), ...legend(references.flatMap(own => (own.segments ?? []).map(segment => segment.label)), names));
  for (const button of ["copy", "download"]) part(button).disabled = !references.length;
  say(summary(references), answers[choice()]?.warnings ?? []);
}

function summary(references) {
  if (!references.length) return "Paste references above, or drop a file.";
  const doubtful = references.filter(own => own.confidence < DOUBTFUL).length;
  return counted(references.length, "reference") + (doubtful ? ", " + doubtful + " worth a look" : "");
}

const say = (words, warnings = []) => show(part("status"), make("span", {}, words), ...warnings.map(own => make("span", { class: "warn" }, ...worded(own))));

function wordsOf({ index, first, end }) {
  const { text, tokens } = answers[choice()].references[index], at = places(text, tokens);
  return text.slice(at[first][0], at[end - 1][1]);
}

/** Forces a label; earlier ones keep the tokens that it leaves them. */
async function relabel({ index, first, end }, label) {
  const others = lines[index].force.flatMap(own => [
    { ...own, end: Math.min(own.end, first) }, { ...own, first: Math.max(own.first, end) },
  ].filter(left => left.first < left.end));
  await force(index, [...others, { first, end, label }].sort((a, b) => a.first - b.first), first);
}

const undo = (index, at) => force(index, lines[index].force.filter((_, own) => own !== at), lines[index].force[at].first);

async function force(index, labels, token) {
  lines = lines.map((line, own) => own === index ? { ...line, force: labels } : line);
  await infer();
  const place = part("list").querySelector(`[data-index="${index}"] [data-token="${token}"]`);
  if (place) focusSegment(place.closest(".segment"));
}

/** Gives the file in the chosen format to `use`. */
async function hand(use) {
  try {
    await use(await postForFile("/api/v1/cite", { model: model().name, rules: choice() === "with", references: lines, format: part("format").value }));
  } catch (error) { complain(part("error"), error); }
}
