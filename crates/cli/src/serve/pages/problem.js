// Problem: a JSON problem that is checked while it is typed, and solved while people watch.
import { byId, debounced, make, number, show } from "./element.js";
import { cancelled, post } from "./api.js";
import { acceptFiles, textOf } from "./files.js";
import { complain, worded } from "./notice.js";
import { Work } from "./work.js";
import { Convergence } from "./convergence.js";
import { drawMarginals } from "./marginals.js";

const part = name => byId("problem-" + name);
let work, course, checking = null;

export async function start() {
  part("text").value = await fetch("/example-problem.json").then(answer => answer.text());
  work = new Work({ begin: part("solve"), cancel: part("cancel"), error: part("error") });
  course = new Convergence(part("course"));
  part("form").addEventListener("submit", event => { event.preventDefault(); solve(); });
  part("text").addEventListener("input", debounced(check, 250));
  part("text").addEventListener("keydown", event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) solve(); });
  acceptFiles(part("drop"), part("file"), async ([file]) => {
    try {
      part("text").value = await textOf(file);
      if (await check()) await solve();
    } catch (error) { complain(part("error"), error); }
  });
  if (await check()) await solve();
}

/** Says below the text whether it is a problem; returns whether it is. */
async function check() {
  checking?.abort();
  checking = new AbortController();
  try {
    const { valid, holds, error } = await post("/api/v1/check", { problem: part("text").value }, checking.signal);
    part("check").className = "check " + (valid ? "valid" : "invalid");
    part("text").setAttribute("aria-invalid", String(!valid));
    show(part("check"), ...(valid ? ["Valid: " + holds] : [...worded(error), goTo(error)]));
    return valid;
  } catch (error) {
    if (!cancelled(error)) { part("check").className = "check invalid"; show(part("check"), ...worded(error.message)); }
    return false;
  }
}

/** A button that goes to the line and column of a message. */
function goTo(message) {
  const found = message.match(/line (\d+), column (\d+)/);
  return found && make("button", { type: "button", class: "link", onclick: () => {
    const before = part("text").value.split("\n").slice(0, found[1] - 1).join("\n").length + (found[1] > 1 ? 1 : 0);
    part("text").focus();
    part("text").setSelectionRange(before + Number(found[2]) - 1, before + Number(found[2]));
  } }, "Go there");
}

async function solve() {
  course.clear();
  show(part("result"));
  say("", "Solving …");
  let last = null;
  const hear = (name, data) => { if (name === "iteration") { course.add(last = data); say("", progress(data)); } };
  const body = {
    problem: part("text").value, solver: part("solver").value,
    tolerance: Number(part("tolerance").value), max_iterations: Number(part("iterations").value),
  };
  const answer = await work.run("/api/v1/solve", body, hear, () => say("", last ? "Cancelled at " + progress(last) : "Cancelled."));
  if (work.running) return;
  if (answer) finish(answer);
  else if (part("error").hasChildNodes()) say("", "");
}

const progress = ({ iteration, objective, gap }) => `iteration ${iteration.toLocaleString("en")}: objective ${number(objective)}, gap ${number(gap)}`;

const say = (look, ...words) => { part("status").className = "verdict " + look; show(part("status"), ...words); };

function finish({ answer, words, variables }) {
  const gap = gapInWords(answer);
  say(answer.status, make("strong", {}, answer.status.replaceAll("_", " ")), " " + gap);
  show(part("result"), ...drawMarginals({ answer, variables }), drawAssignment(answer, variables),
    make("details", { class: "explanation" }, make("summary", {}, "As text, as on a terminal"), make("pre", { tabindex: 0 }, words)));
}

/** How good the answer is, and how that is known. */
function gapInWords({ status, gap, marginal_error_bound: bound, solver }) {
  if (status === "infeasible") return "The hard measurements cannot hold together; that is proved. Drop one of them, or make it a penalty.";
  if (gap === null || gap === undefined) return `by ${solver}. Nothing bounds the distance from the optimum here: the problem is not convex, or a hard measurement is not met yet.`;
  return `by ${solver}: no marginal is off by more than ${number(bound)}. No distribution has an objective lower by more than ${number(gap)} nats; that is proved.`;
}

function drawAssignment({ map }, variables) {
  if (!map) return null;
  const states = map.assignment.slice(0, 200).map((state, at) => make("li", {}, make("span", { class: "soft" }, variables[at].name), " ", String(state)));
  return make("div", {}, make("h2", {}, "Best assignment"),
    make("p", { class: "soft" }, map.violated?.length ? "It breaks hard measurements that no assignment keeps together." : map.proved ? "Proved: no other scores more." : "The best that was found."),
    make("ul", { class: "assignment" }, states, map.assignment.length > 200 && make("li", { class: "soft" }, "…")));
}
