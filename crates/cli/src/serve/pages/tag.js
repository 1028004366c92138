// Tag: any loaded tagger on text or columns.
import { byId, counted, debounced, make, show } from "./element.js";
import { post } from "./api.js";
import { acceptFiles, textOf } from "./files.js";
import { calm, complain, worded } from "./notice.js";
import { legend } from "./fields.js";
import { offerRules } from "./rules.js";
import { drawSequence } from "./sequence.js";

const EXAMPLE = "A. Chen and J. van Dyk. On sparse graphs. Journal of Ecology, 12(3):45–67, 2004.";
const LOAD = " Load others with `bethe serve --model MODEL`; `bethe train` makes them.";
const part = name => byId("tag-" + name);

let models = [];
let running = null;
const model = () => models.find(own => own.name === part("model").value);

export async function start(all) {
  models = all;
  show(part("model"), ...all.map(own => make("option", { value: own.name }, own.name + (own.built_in ? " (built in)" : ""))));
  part("text").addEventListener("input", debounced(tag));
  part("many").addEventListener("input", debounced(tag));
  part("rules").addEventListener("change", tag);
  part("model").addEventListener("change", changeModel);
  acceptFiles(part("drop"), part("file"), async ([file]) => {
    try {
      part("text").value = await textOf(file);
      await tag();
    } catch (error) { complain(part("error"), error); }
  });
  await changeModel();
}

function changeModel() {
  const { reads, columns, rules, labels, built_in } = model();
  offerRules(part("rules"), part("rules-note"), { rules });
  const text = reads === "text";
  part("label").textContent = text ? "Text, one sequence a line"
    : reads === "attributes" ? "Attributes: one token per line, a blank line between sequences"
    : `Columns: one token per line with ${counted(columns, "column")}, a blank line between sequences`;
  part("text").value = text ? EXAMPLE : reads === "columns" && columns === 1 ? EXAMPLE.match(/[\p{L}\d]+\.?|[^\s]/gu).join("\n") : "";
  show(part("about"), ...worded(`Reads ${reads}; ${counted(labels.length, "label")}.` + (built_in && models.length === 1 ? LOAD : "")));
  return tag();
}

async function tag() {
  running?.abort();
  const { name, reads, rules } = model();
  if (reads === "scores") return say("This model reads the scores of a neural network. Use `bethe tag --scores FILE.safetensors`.");
  if (!part("text").value.trim()) return say("Paste a sequence above, or drop a file.");
  const own = running = new AbortController();
  const many = Math.min(20, Math.max(1, Math.round(Number(part("many").value)) || 1));
  const body = {
    model: name, [reads === "text" ? "text" : "columns"]: part("text").value, n_best: many,
    rules: rules > 0 && part("rules").querySelector("input:checked").value === "with",
  };
  try {
    draw(await post("/api/v1/tag", body, own.signal), body.rules);
  } catch (error) { complain(part("error"), error, tag); }
}

/** Says something in place of sequences. */
function say(words) {
  calm(part("error"));
  show(part("list"));
  show(part("legend"));
  show(part("status"), ...worded(words));
}

function draw({ labels, sequences }, rules) {
  calm(part("error"));
  const names = model().fields;
  show(part("list"), ...sequences.map((sequence, index) => drawSequence({
    sequence: rules ? sequence : { ...sequence, without_rules: null }, index, labels, names,
  })));
  show(part("legend"), ...legend(sequences.flatMap(own => own.best[0].segments.map(segment => segment.label)), names));
  const tokens = sequences.reduce((sum, own) => sum + own.rows.length, 0);
  show(part("status"), counted(sequences.length, "sequence") + " of " + counted(tokens, "token"));
}
