// Fields and their colours. A colour is a hue: style.css makes tints of it for light and dark.
import { make } from "./element.js";

/** Hues of the fields of references, far apart where fields are neighbours. */
const HUES = {
  author: 250, authors: 250, "person-last": 250, "person-first": 225, "person-middle": 210,
  title: 150, editor: 285, translator: 310, journal: 50, "container-title": 70, booktitle: 70, venue: 60, "collection-title": 95, series: 95,
  volume: 195, number: 175, issue: 175, pages: 325, date: 20, year: 20, publisher: 115, location: 135, address: 135,
  doi: 265, url: 240, web: 240, note: 0, genre: 345, edition: 170, isbn: 300, "citation-number": 215, "ref-marker": 215,
};
const GOLDEN_ANGLE = 137.5;

/** Hues of other names follow their order in `names`. */
export const hueOf = (name, names) => HUES[name] ?? Math.round((40 + GOLDEN_ANGLE * Math.max(0, names.indexOf(name))) % 360);

/** What a field is called where people read it; "" is outside all fields. */
export const called = name => name || "outside";

/** The segment's name in a label such as B-title or B-venue:I-journal; "" outside. */
export function fieldOf(label) {
  const last = label.split(":").pop();
  return last === "O" ? "" : last.replace(/^[BIESLU]-/, "");
}

export const swatch = (name, names) => make("span", name ? { class: "swatch", "--hue": hueOf(name, names) } : { class: "swatch none" });

/** Items of a legend: the fields in the order in which they first appear. */
export function legend(used, names) {
  return [...new Set(used)].filter(Boolean).map(name => make("li", {}, swatch(name, names), name));
}

/** Where each token is in the text, as [start, end]; tokens are pieces of it in order. */
export function places(text, tokens) {
  let at = 0;
  return tokens.map(token => {
    const found = text.indexOf(token, at);
    const start = found < 0 ? at : found;
    at = start + token.length;
    return [start, at];
  });
}

/** All tokens as stretches in order: segments, and what is between them (label ""). */
export function stretches(segments, count) {
  const all = [];
  let at = 0;
  const outside = end => { if (at < end) all.push({ label: "", first: at, end, probability: null }); };
  for (const segment of segments) {
    outside(segment.first);
    all.push(segment);
    at = segment.end;
  }
  outside(count);
  return all;
}
