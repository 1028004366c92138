// The pages of `bethe serve` in a real browser: node pages.mjs BETHE CHROMIUM [FOLDER FOR PICTURES]
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser } from "../../../flows/tests/browser/devtools.mjs";

const [bethe, chromium, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "bethe-pages-"));
const PATIENCE = 20_000;
let url, page;

/** Starts the service and gives its process and its address. */
function serve(...flags) {
  const child = spawn(bethe, ["serve", "--port", "0", "--quiet", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const address = new Promise((resolve, reject) => {
    child.stdout.once("data", bytes => resolve(String(bytes).trim()));
    child.once("exit", code => reject(new Error("bethe serve ended with " + code)));
  });
  return { child, address };
}

const keep = async name => { if (pictures) writeFileSync(join(pictures, name + ".png"), await page.picture()); };
const quoted = text => JSON.stringify(text);
const text = id => page.run(`document.getElementById(${quoted(id)}).textContent`);

/** Waits until an expression holds in the page. */
async function until(expression) {
  const end = Date.now() + PATIENCE;
  while (!await page.run(`Boolean(${expression})`)) {
    if (Date.now() > end) throw new Error("it never came: " + expression + "\n" + await page.run("document.querySelector('main').innerText.slice(0, 2000)"));
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

async function open(name) {
  page.home = "about:";
  await page.open("about:blank");
  page.home = url;
  await page.open(url + "#" + name);
}

/** Puts text into a field as if it was typed. */
const type = (id, words) => page.run(`(() => { const own = document.getElementById(${quoted(id)}); own.value = ${quoted(words)}; own.dispatchEvent(new Event("input", { bubbles: true })); })()`);

/** Clicks the middle of the first element that a selector finds. */
async function click(selector) {
  const [x, y] = await page.run(`(() => { const own = document.querySelector(${quoted(selector)}); own.scrollIntoView({ block: "center" }); const b = own.getClientRects()[0]; return [b.left + b.width / 2, b.top + b.height / 2]; })()`);
  await page.click(x, y);
}

const LINES = "Smith, J. Deep graphs. Nature 12, 3-9 (2004).\nKnuth, D. E. The Art of Computer Programming. Addison-Wesley, 1997.\n";
const bibtexOf = index => `document.querySelectorAll("#references-list .bibtex")[${index}].textContent`;

const tests = {
  async "references are read as the page opens"() {
    await open("references");
    await until(`document.querySelectorAll("#references-list .entry").length === 5`);
    assert.match(await text("references-status"), /^5 references/);
    assert.ok(await page.run(`document.querySelectorAll("#references-list .segment").length`) > 20);
    await page.run(`scrollTo(0, document.getElementById("references-list").getBoundingClientRect().top + scrollY - 130)`);
    await keep("serve-references");
  },
  async "what is typed is read"() {
    await type("references-text", LINES);
    await until(`document.querySelectorAll("#references-list .entry").length === 2`);
    assert.match(await page.run(bibtexOf(0)), /title = \{Deep graphs\}/);
  },
  async "a click on a field gives it another label, and the rest follows"() {
    await click(`[data-index="0"] [data-label="journal"]`);
    await until(`document.getElementById("menu")`);
    await page.run(`[...document.querySelectorAll("#menu button")].find(own => own.textContent === "publisher").click()`);
    await until(`!(${bibtexOf(0)}).includes("journal =")`);
    assert.equal(await page.run(`document.querySelector('[data-index="0"] .chip strong').textContent`), "publisher");
    await click(`[data-index="0"] .chip button`);
    await until(`(${bibtexOf(0)}).includes("journal = {Nature}")`);
  },
  async "keys do the same"() {
    await page.run(`document.querySelector('[data-index="1"] .segment').focus()`);
    await page.key("ArrowRight");
    assert.equal(await page.run("document.activeElement.dataset.label"), "title");
    await page.key(" ", "Space");
    await until(`document.getElementById("menu")`);
    assert.equal(await page.run("document.activeElement.textContent"), "title");
    await page.key("Escape");
    assert.equal(await page.run("document.getElementById('menu')"), null);
    assert.equal(await page.run("document.activeElement.dataset.label"), "title");
  },
  async "exports are what the command line writes"() {
    const file = join(folder, "refs.txt");
    writeFileSync(file, LINES);
    await page.run(`URL.createObjectURL = blob => { blob.text().then(own => { window.handed = own; }); return "#references"; }`);
    for (const format of ["bibtex", "csl-json", "ris", "conll"]) {
      await page.run(`window.handed = null; document.getElementById("references-format").value = ${quoted(format)}; document.getElementById("references-download").click()`);
      await until("window.handed !== null");
      const written = execFileSync(bethe, ["cite", file, "--format", format, "--quiet"], { encoding: "utf8" });
      assert.equal(await page.run("window.handed"), written, format);
    }
  },
  async "a tagger shows labels and their probabilities"() {
    await open("tag");
    await until(`document.querySelectorAll("#tag-list .segment").length > 3`);
    assert.equal(await text("tag-error"), "");
  },
  async "rules show what they change"() {
    await open("references");
    await until(`document.querySelectorAll("#references-list .entry").length === 5`);
    assert.match(await text("references-rules-note"), /^[1-9]\d* rules$/);
    await type("references-text", "Lee3 . On graphs2 . On graphs1 . 1993");
    await page.run(`(() => { const own = document.getElementById("references-model"); own.value = "ruled"; own.dispatchEvent(new Event("change", { bubbles: true })); })()`);
    const titles = `document.querySelectorAll('#references-list [data-label="title"]').length`;
    await until(`${titles} === 1 && document.querySelectorAll("#references-list .entry").length === 1`);
    assert.match(await page.run(`document.querySelector("#references-list .explanation").textContent`), /title/);
    await page.run(`document.querySelector('#references-rules input[value="without"]').click()`);
    await until(`${titles} === 2`);
    assert.ok(await page.run(`document.querySelectorAll("#references-list .changed").length`) > 0);
  },
  async "a problem is checked while it is typed, and solved"() {
    await open("problem");
    await until(`document.getElementById("problem-status").textContent.includes("converged")`);
    await until(`document.getElementById("problem-check").textContent.includes("Valid")`);
    assert.ok(await page.run(`document.querySelectorAll("#problem svg, #problem-course svg").length`) > 0);
    await keep("serve-problem");
    await type("problem-text", `{"variables": [2,]}`);
    await until(`document.getElementById("problem-check").textContent.includes("line 1, column 18")`);
  },
  async "work can be cancelled"() {
    await open("problem");
    await until(`document.getElementById("problem-status").textContent.includes("converged")`);
    const states = 30, length = 120;
    const problem = {
      variables: Array(length).fill(states),
      factors: Array.from({ length: length - 1 }, (_, at) => ({ scope: [at, at + 1], log_potentials: Array.from({ length: states * states }, (_, k) => (k * 7919 % 13) / 5) })),
      energies: Array.from({ length }, (_, at) => ({ kind: "measurement", weight: 40, offset: -.3, penalty: { kind: "squared" }, terms: [{ scope: [at], coefficients: Array.from({ length: states }, (_, s) => (s + at) % 3) }] })),
    };
    await type("problem-text", JSON.stringify(problem));
    await page.run(`document.getElementById("problem-solver").value = "rda"; document.getElementById("problem-iterations").value = "1000000"; document.getElementById("problem-tolerance").value = "1e-15"`);
    await until(`document.getElementById("problem-check").textContent.includes("Valid")`);
    await page.run(`document.getElementById("problem-form").requestSubmit()`);
    await until(`!document.getElementById("problem-cancel").disabled`);
    await page.run(`document.getElementById("problem-cancel").click()`);
    await until(`document.getElementById("problem-cancel").disabled`);
    assert.doesNotMatch(await text("problem-status"), /converged/);
  },
  async "counts become an animated map"() {
    await open("flows");
    await until(`document.getElementById("flows-status").textContent.includes("converged")`);
    await until(`document.getElementById("flows-files").children.length >= 6`);
    assert.match(await page.run(`document.getElementById("flows-map").getAttribute("sandbox")`), /^allow-scripts/);
    const map = await page.run(`fetch(document.getElementById("flows-map").src).then(answer => answer.status)`);
    assert.equal(map, 200);
  },
  async "a phone shows it all, light or dark"() {
    await page.resize(390, 800);
    for (const name of ["references", "tag", "flows", "problem"]) {
      await open(name);
      await until(`document.querySelectorAll("#${name} .segment, #${name} svg, #${name}-files li").length > 0`);
      assert.ok(await page.run("document.documentElement.scrollWidth") <= 390, name + " scrolls sideways");
      await keep("phone-" + name);
    }
    await page.emulate("screen", "dark");
    const [red, green, blue] = await page.run(`getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)`);
    assert.ok(red + green + blue < 200, "the page is dark");
    await keep("dark");
    await page.emulate("screen", "light");
    await page.resize(1280, 900);
  },
  async "a token opens the page"() {
    const other = serve("--token", "secret");
    try {
      url = await other.address;
      await open("token=secret");
      await until(`document.querySelectorAll("#references-list .entry").length === 5`);
    } finally { other.child.kill(); }
  },
};

writeFileSync(join(folder, "train.txt"), Array.from({ length: 60 }, (_, k) => `Lee${k % 7}\tB-author\n.\tO\nOn\tB-title\ngraphs${k % 5}\tI-title\n.\tO\n${1990 + k % 9}\tB-year\n\n`).join(""));
writeFileSync(join(folder, "rules.toml"), `[[rule]]\nat_most = 1\nof = "title"\nweight = "hard"\n`);
const trained = () => execFileSync(bethe, ["train", join(folder, "train.txt"), "--model", join(folder, "ruled.safetensors"), "--constraints", join(folder, "rules.toml"), "--quiet"]);

let failed = 0;
trained();
const browser = new Browser(chromium);
const own = serve("--model", join(folder, "ruled.safetensors"));
try {
  url = await own.address;
  page = await browser.page();
  await page.resize(1280, 900);
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      assert.deepEqual(page.complaints.splice(0), []);
      console.log("ok: " + name);
    } catch (error) {
      failed++;
      page.complaints.splice(0);
      console.log("FAILED: " + name + "\n" + error.stack);
    }
  }
} finally {
  await browser.close();
  own.child.kill();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failed ? failed + " failed" : "the pages work in this browser");
process.exit(failed ? 1 : 0);
