// Flows: counts and places in, an animated map out.
import { byId, make, show } from "./element.js";
import { acceptFiles, textOf } from "./files.js";
import { complain } from "./notice.js";
import { Work } from "./work.js";

const part = name => byId("flows-" + name);
let work;

export async function start() {
  const example = name => fetch("/example-" + name + ".csv").then(answer => answer.text());
  [part("counts").value, part("cells").value] = await Promise.all([example("counts"), example("cells")]);
  work = new Work({ begin: part("fit"), cancel: part("cancel"), error: part("error") });
  part("form").addEventListener("submit", event => { event.preventDefault(); fit(); });
  acceptFiles(part("drop"), part("counts-file"), files => take(files, "counts"));
  part("cells-file").addEventListener("change", event => { take([...event.target.files], "cells"); event.target.value = ""; });
  await fit();
}

/** Puts files into their places: those that say where cells are, and those that say what was counted. */
async function take(files, one) {
  try {
    for (const file of files) {
      const text = await textOf(file);
      part(files.length === 1 && one === "cells" || listsPlaces(text) ? "cells" : "counts").value = text;
    }
    part("population").value = "";
    show(part("status"), "The files are loaded. Set the population if the counts do not add up to it, then fit.");
    part("fit").focus();
  } catch (error) { complain(part("error"), error); }
}

/** Whether the header of a CSV file is one of places: two coordinates and no count. */
function listsPlaces(text) {
  const header = text.split(/\r?\n/, 1)[0].toLowerCase().split(/[,;\t]/).map(own => own.trim().replaceAll('"', ""));
  const has = (...names) => names.every(name => header.includes(name));
  return (has("x", "y") || has("lon", "lat")) && !["time", "t", "date", "day", "week", "month", "year", "count", "counts"].some(name => header.includes(name));
}

function request() {
  const options = { noise: part("noise").value, ...(part("reach").value.trim() ? { reach: part("reach").value.trim() } : {}) };
  const population = part("population").value === "" ? {} : { population: Number(part("population").value) };
  return { counts: part("counts").value, cells: part("cells").value, ...population, options };
}

async function fit() {
  part("progress").hidden = false;
  show(part("status"), "Fitting …");
  const hear = (name, data) => { if (name === "progress") show(part("status"), data.message); };
  const answer = await work.run("/api/v1/flows", request(), hear, () => show(part("status"), "Cancelled. Fit again when you like."));
  if (work.running) return;
  part("progress").hidden = true;
  if (answer) draw(answer);
  else if (part("error").hasChildNodes()) show(part("status"));
}

function draw({ summary, words, page, files }) {
  part("result").hidden = false;
  part("map").src = page;
  part("words").textContent = words;
  show(part("files"), ...files.map(({ name, bytes, href }) => make("li", {},
    make("a", { href, download: name.split("/").pop() }, name), make("span", { class: "soft" }, size(bytes)))));
  show(part("status"), `${summary.cells} places at ${summary.times} times: ${summary.status.replace("_", " ")}.`);
}

const size = bytes => bytes < 1000 ? bytes + " bytes" : bytes < 1e6 ? (bytes / 1000).toFixed(1) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
