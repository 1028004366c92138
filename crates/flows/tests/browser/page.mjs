// The page of `bethe flows` in a real browser: node page.mjs BETHE CHROMIUM [FOLDER FOR PICTURES]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./devtools.mjs";

const [bethe, chromium, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "bethe-page-"));
const quoted = name => '"' + name.replaceAll('"', '""') + '"';

/** Runs `bethe flows` on cells { name, x, y } and counts[time][cell]. */
function flows(name, header, cells, counts, flags) {
  const csv = rows => rows.map(row => row.join(",")).join("\n") + "\n";
  const paths = ["cells", "counts"].map(part => join(folder, name + "-" + part + ".csv"));
  writeFileSync(paths[0], csv([header, ...cells.map(([own, x, y]) => [quoted(own), x, y])]));
  writeFileSync(paths[1], csv([["time", ...cells.map(own => quoted(own[0]))], ...counts.map((row, t) => [t + 1, ...row])]));
  const out = join(folder, name);
  execFileSync(bethe, ["flows", paths[1], "--cells", paths[0], "--out", out, "--quiet", ...flags]);
  return pathToFileURL(join(out, "index.html")).href;
}

const CITIES = ["Aachen", "Bonn", "<!--<script>", "</script><script>boom()</script>", "Llanfairpwllgwyngyllgogerychwyrndrobwll", "東京 🚲"];
const SEEN = [[180, 15, 4, 0, 1, 0], [120, 60, 15, 3, 2, 0], [60, 80, 45, 10, 5, 1], [20, 60, 80, 30, 8, 2], [5, 30, 90, "", 12, 3]];
const few = flows("few", ["cell", "lon", "lat"], CITIES.map((name, k) => [name, 170 + 8 * (k % 3), 40 + 6 * Math.floor(k / 3)]), SEEN, ["--population", "200"]);
const side = 12, many = flows("many", ["cell", "x", "y"],
  Array.from({ length: side * side }, (_, k) => ["c" + k, k % side, Math.floor(k / side)]),
  Array.from({ length: 6 }, (_, t) => Array.from({ length: side * side }, (_, k) => Math.round(90 * Math.exp(-((k % side - 2 * t) ** 2 + (Math.floor(k / side) - t) ** 2) / 6)))),
  ["--population", "1500", "--reach", "3"]);
// Many scattered places, one of them far away and some not observed.
const dots = Array.from({ length: 90 }, (_, k) => [(k * 37) % 89 / 10, (k * 53) % 83 / 10]);
const scattered = flows("scattered", ["cell", "x", "y"], dots.map(([x, y], k) => ["d" + k, k ? x : 4000, k ? y : 3000]),
  Array.from({ length: 3 }, (_, t) => dots.map((_, k) => k % 7 === 3 ? "" : (k * (t + 2)) % 11)), ["--population", "450"]);
// Few places on both sides of the date line.
const ocean = flows("ocean", ["cell", "lon", "lat"], [["w", 166, -20], ["m", 178, -10], ["e", -166, 5], ["n", -172, 12]],
  [[50, 30, 10, 10], [40, "", 20, 10], [20, 30, 30, 20]], ["--population", "100"]);

const browser = new Browser(chromium);
let page;
const keep = async name => { if (pictures) writeFileSync(join(pictures, name + ".png"), await page.picture()); };
const shown = id => page.run(`document.getElementById(${JSON.stringify(id)}).textContent`);
/** Where a cell is on the screen. */
const place = cell => page.run(`(() => { const b = canvas.getBoundingClientRect(), [x, y] = at(view.panes[0], ${cell}); return [b.left + x, b.top + y]; })()`);
/** Distinct colours on the canvas: something was drawn. */
const colours = () => page.run(`new Set(new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size`);

const tests = {
  async "loads, with every name as text"() {
    await page.open(few);
    assert.deepEqual(await page.run("D.names"), CITIES);
    assert.equal(await page.run("typeof boom"), "undefined");
    assert.equal(await shown("now"), "1 → 2");
    assert.ok(await colours() > 20);
    await keep("few");
  },
  async "labels do not overlap"() {
    const apart = `view.labels[0].map(l => { pen.font = "12px system-ui"; const w = pen.measureText(l.words).width;
      const x = l.align === "left" ? l.x : l.align === "right" ? l.x - w : l.x - w / 2; return [x, l.y - 6, x + w, l.y + 6]; })
      .every((a, i, all) => all.slice(i + 1).every(b => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]))`;
    assert.ok(await page.run("view.labels[0].length") >= 4);
    assert.ok(await page.run(apart));
  },
  async "pointing at a place names it"() {
    await page.mouse("mouseMoved", ...await place(4));
    await page.settle();
    assert.match(await shown("tip"), /^Llanfairpwllgwyngyllgogerychwyrndrobwll\ninferred .*\nobserved 1$/);
  },
  async "a click says where individuals came from and went"() {
    await page.key("ArrowRight");
    await page.click(...await place(1));
    assert.equal(await page.run(`document.getElementById("panel").hidden`), false);
    assert.equal(await shown("place-name"), "Bonn");
    assert.match(await shown("came-title"), /^came from, 1 → 2$/);
    const sum = await page.run(`[...document.querySelectorAll("#went li span:last-child")].map(s => parseFloat(s.textContent.replaceAll(",", ""))).reduce((a, b) => a + b)`);
    const all = await page.run("count(1, 1)");
    assert.ok(Math.abs(sum - all) < .02 * all, sum + " of " + all);
    assert.equal(await page.run(`document.querySelectorAll("#course circle").length`), 5);
    await keep("few-selected");
    await page.key("Escape");
    assert.equal(await page.run(`document.getElementById("panel").hidden`), true);
  },
  async "keys move in time, play and choose places"() {
    await page.run("document.activeElement.blur()");
    await page.key("Home"); assert.equal(await shown("now"), "1 → 2");
    await page.key("ArrowRight"); await page.key("ArrowRight"); assert.equal(await shown("now"), "3 → 4");
    await page.key("ArrowLeft"); assert.equal(await shown("now"), "2 → 3");
    await page.key("End"); assert.equal(await shown("now"), "5");
    await page.key(" ", "Space"); assert.match(await shown("play"), /pause/);
    await new Promise(done => setTimeout(done, 1300));
    assert.equal(await shown("now"), "1 → 2");
    await page.key(" ", "Space"); assert.match(await shown("play"), /play/);
    await page.run("canvas.focus()");
    assert.notEqual(await page.run("getComputedStyle(canvas).outlineStyle"), "none", "a ring shows the focus");
    await page.key("ArrowDown"); assert.equal(await shown("place-name"), "Aachen");
    await page.key("ArrowDown"); await page.key("ArrowUp"); assert.equal(await shown("place-name"), "Aachen");
    await page.key("Escape");
    const reached = [];
    for (let k = 0; k < 12; k++) { await page.key("Tab"); reached.push(await page.run("document.activeElement.id")); }
    for (const id of ["play", "before", "time", "after", "view", "many", "net", "common", "names", "place"]) assert.ok(reached.includes(id), id);
  },
  async "every view draws"() {
    assert.deepEqual(await page.run("Object.keys(VIEWS)"), ["inferred", "observed", "beside", "difference", "uncertainty"]);
    for (const view of ["observed", "beside", "difference", "uncertainty", "inferred"]) {
      await page.run(`$("view").value = "${view}"; $("view").onchange()`);
      assert.ok(await colours() > 8, view);
    }
    assert.ok(await page.run(`$("common").click(), $("net").click(), shownMoves().length`) > 3);
  },
  async "standard errors make a view of their own"() {
    await page.open(few + "?view=uncertainty&place=Bonn&time=2");
    assert.equal(await page.run("state.view"), "uncertainty");
    assert.match(await shown("place-now"), /inferred .* ± /);
    assert.ok(await page.run(`shownMoves().some(m => m.error > 0)`));
    await keep("few-errors");
  },
  async "fits a phone"() {
    await page.resize(360, 740);
    for (const query of ["", "?place=Aachen"]) {
      await page.open(few + query);
      assert.ok(await page.run("document.documentElement.scrollWidth") <= 360);
      assert.ok(await page.run(`canvas.getBoundingClientRect().height`) > 200);
    }
    await keep("few-phone");
    await page.resize(1200, 850);
  },
  async "is dark where the system is"() {
    await page.open(few);
    await page.emulate("", "dark");
    assert.equal(await page.run("getComputedStyle(document.body).backgroundColor"), "rgb(17, 24, 31)");
    assert.equal(await page.run("theme === DARK"), true);
    await keep("few-dark");
    await page.emulate("", "light");
  },
  async "prints on paper"() {
    const { data } = await page.send("Page.printToPDF", { printBackground: true });
    const pages = Buffer.from(data, "base64").toString("latin1").match(/\/Type \/Page\b/g).length;
    assert.equal(pages, 1);
    assert.equal(await page.run("printing"), false, "and returns to the screen");
  },
  async "degrees are named whole or not at all"() {
    await page.resize(390, 800);
    for (const query of ["", "?view=beside", "?view=difference"]) {
      await page.open(ocean + query);
      const marks = await page.run(`view.marks.map(([words, x, y, align]) => { pen.font = fontOf(11); const w = pen.measureText(words).width; return [words, align === "left" ? x : x - w / 2, align === "left" ? x + w : x + w / 2]; })`);
      assert.ok(marks.length >= 2, query);
      for (const [words, left, right] of marks) assert.ok(left >= 0 && right <= 390, words);
      assert.ok(marks.every(([words]) => /^(1[678]\d°[EW]?|\d\d?°[NS]?)$/.test(words)), marks.join());
    }
    await page.open(ocean);
    await keep("ocean-phone");
    await page.resize(1280, 850);
    await keep("ocean");
  },
  async "a wheel, keys, a double click and a button zoom"() {
    await page.open(ocean);
    const [x, y] = await place(1), scale = () => page.run("view.scale"), whole = await scale();
    const wheel = deltaY => page.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY });
    await wheel(-400); await page.settle();
    assert.ok(await scale() > 1.8 * whole);
    const [u, v] = await place(1);
    assert.ok(Math.hypot(u - x, v - y) < 40, "the place under the pointer stays near it: " + [u - x, v - y]);
    assert.equal(await page.run(`document.getElementById("whole").hidden`), false);
    await keep("ocean-zoomed");
    await page.run(`document.getElementById("whole").click()`);
    assert.ok(Math.abs(await scale() / whole - 1) < 1e-9);
    assert.equal(await page.run(`document.getElementById("whole").hidden`), true);
    await page.key("+", "Equal"); await page.key("+", "Equal"); await page.key("-", "Minus");
    assert.ok(Math.abs(await scale() / whole - 1.5) < 1e-6);
    await page.key("0", "Digit0");
    assert.ok(Math.abs(await scale() / whole - 1) < 1e-9);
    for (const clickCount of [1, 2]) for (const type of ["mousePressed", "mouseReleased"])
      await page.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount });
    await page.settle();
    assert.ok(await scale() > 1.9 * whole);
    assert.equal(await page.run("state.selected"), -1, "and selects nothing");
    await page.key("0", "Digit0");
  },
  async "what is zoomed is dragged, and two fingers zoom"() {
    const left = () => page.run("view.panes[0].left"), scale = () => page.run("view.scale"), whole = await scale();
    for (let k = 0; k < 3; k++) await page.key("+", "Equal");
    const [x, y] = await place(1), before = await left();
    await page.mouse("mouseMoved", x, y);
    await page.mouse("mousePressed", x, y);
    for (const by of [10, 25, 40]) await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: x + by, y, button: "left", buttons: 1 });
    await page.mouse("mouseReleased", x + 40, y);
    await page.settle();
    assert.ok(Math.abs(await left() - before - 40) < 2, await left() - before + " px");
    assert.equal(await page.run("state.selected"), -1, "a drag selects nothing");
    await page.key("0", "Digit0");
    await page.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
    const [a, b] = await place(1), touch = (type, by) => page.send("Input.dispatchTouchEvent", { type, touchPoints: by === null ? [] : [{ x: a - by, y: b, id: 0 }, { x: a + by, y: b, id: 1 }] });
    await touch("touchStart", 20);
    for (const by of [30, 40, 60]) await touch("touchMove", by);
    await touch("touchEnd", null);
    await page.settle();
    assert.ok(Math.abs(await scale() / whole - 3) < .1, await scale() / whole + " times");
    await page.send("Emulation.setTouchEmulationEnabled", { enabled: false });
    await page.key("0", "Digit0");
  },
  async "a place far away leaves room to see the others"() {
    await page.open(scattered);
    await keep("far");
    await page.run("select(5)");
    for (let k = 0; k < 30; k++) await page.key("+", "Equal");
    assert.ok(await page.run("view.cell") > 30, "neighbours are apart");
    await keep("far-zoomed");
    assert.ok(await colours() > 8);
    const [p, q] = await page.run("[at(view.panes[0], 1), at(view.panes[0], 2)]");
    assert.ok(Math.hypot(p[0] - q[0], p[1] - q[1]) > 30);
  },
  async "places that were not observed have their sign in the legend"() {
    await page.open(scattered + "?view=observed");
    assert.match(await shown("legend"), /not observed/);
    await page.open(scattered);
    assert.doesNotMatch(await shown("legend"), /not observed/);
    await page.open(ocean + "?view=observed&time=2");
    assert.match(await shown("legend"), /not observed/);
    await keep("ocean-observed");
  },
  async "legends of mean movement have whole arrows, on a phone too"() {
    await page.resize(390, 800);
    await page.open(many + "?view=beside&time=3");
    const [, length, head] = await page.run(`document.querySelector("#legend path[fill=none]").getAttribute("d")`).then(d => d.match(/^M0 24h([\d.]+)m-([\d.]+) /).map(Number));
    assert.ok(length > 0 && head <= length, length + " " + head);
    await keep("many-phone-beside");
    await page.resize(1280, 850);
  },
  async "the uncertainty bar ends with its maximum"() {
    await page.open(ocean + "?view=uncertainty");
    const words = await page.run(`[...document.querySelectorAll("#legend svg:first-child text")].map(own => own.textContent)`);
    assert.ok(words.includes(await page.run("show(most(VIEWS.uncertainty))")), words.join());
  },
  async "those who stayed have a standard error"() {
    await page.open(ocean + "?place=m");
    assert.match(await page.run(`document.querySelector("#went li").textContent`), /^this place, stayed[\d.,]+ ± [\d.,]+ /);
  },
  async "arrows cannot be chosen where there are none"() {
    await page.open(ocean + "?view=difference");
    const off = () => page.run(`["many", "net", "common"].map(id => $(id).disabled)`);
    assert.deepEqual(await off(), [true, true, true]);
    await keep("ocean-difference");
    await page.run(`$("view").value = "inferred"; $("view").onchange()`);
    assert.deepEqual(await off(), [false, false, false]);
  },
  async "many cells show mean movement"() {
    await page.open(many + "?time=3");
    assert.equal(await page.run("drifting()"), true);
    assert.match(await shown("status"), /on average/);
    assert.ok(await colours() > 50);
    await keep("many");
    await page.run(`$("kind").value = "largest"; $("kind").onchange()`);
    assert.match(await shown("status"), /^60 arrows: \d+% of the /);
    const query = many + "?time=2&net&view=beside&place=c26";
    await page.open(query);
    assert.deepEqual(await page.run(`[state.now, state.view, D.names[state.selected], $("net").checked]`), [1, "beside", "c26", true]);
  },
};

let failed = 0;
try {
  page = await browser.page();
  await page.resize(1200, 850);
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      assert.deepEqual(page.complaints.splice(0), []);
      console.log("ok: " + name);
    } catch (error) {
      failed++;
      console.log("FAILED: " + name + "\n" + error.stack);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failed ? failed + " failed" : "the page works in this browser");
process.exit(failed ? 1 : 0);
