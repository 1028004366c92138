// A page in Chromium, driven through its DevTools over a pipe: nothing but Node is needed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-extensions", "--remote-debugging-pipe",
];
const PATIENCE = 30_000;

export class Browser {
  constructor(program) {
    this.folder = mkdtempSync(join(tmpdir(), "bethe-browser-"));
    this.child = spawn(program, [...FLAGS, "--user-data-dir=" + this.folder], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.heard = new Map();
    this.last = 0;
    let rest = "";
    this.child.stdio[4].on("data", bytes => {
      const parts = (rest + bytes).split("\0");
      rest = parts.pop();
      parts.forEach(part => this.receive(JSON.parse(part)));
    });
    this.child.on("error", error => this.waiting.forEach(own => own.reject(error)));
  }

  receive(message) {
    const own = this.waiting.get(message.id);
    if (own) {
      this.waiting.delete(message.id);
      message.error ? own.reject(new Error(own.method + ": " + message.error.message)) : own.resolve(message.result);
    }
    (this.heard.get(message.sessionId + message.method) || []).forEach(hear => hear(message.params));
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(method + ": no answer")), PATIENCE);
      const ends = end => value => { clearTimeout(late); end(value); };
      this.waiting.set(id, { method, resolve: ends(resolve), reject: ends(reject) });
    });
  }

  on(session, method, hear) {
    const key = session + method;
    this.heard.set(key, [...(this.heard.get(key) || []), hear]);
  }

  async page() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    return new Page(this, sessionId).begin();
  }

  async close() {
    const gone = new Promise(resolve => this.child.once("exit", resolve));
    await this.send("Browser.close").catch(() => this.child.kill());
    await gone;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Page {
  constructor(browser, session) {
    this.browser = browser;
    this.session = session;
    /** What should not be there: errors, messages on the console, requests. */
    this.complaints = [];
    /** Requests begin so; any other is a complaint. */
    this.home = "file:";
  }

  send(method, params) { return this.browser.send(method, params, this.session); }

  async begin() {
    const hear = (method, tell) => this.browser.on(this.session, method, params => {
      const words = tell(params);
      if (words) this.complaints.push(words);
    });
    hear("Runtime.exceptionThrown", p => p.exceptionDetails.exception?.description || p.exceptionDetails.text);
    hear("Runtime.consoleAPICalled", p => p.type + ": " + p.args.map(own => own.value).join(" "));
    hear("Log.entryAdded", p => p.entry.level === "error" && p.entry.text);
    hear("Network.requestWillBeSent", p => !p.request.url.startsWith(this.home) && "request of " + p.request.url);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.send(domain + ".enable");
    return this;
  }

  async open(url) {
    const loaded = new Promise(resolve => this.browser.on(this.session, "Page.loadEventFired", resolve));
    await this.send("Page.navigate", { url });
    await loaded;
    await this.settle();
  }

  /** Runs an expression in the page. */
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || expression);
    return result.value;
  }

  /** Waits until the page was drawn twice. */
  settle() { return this.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))).then(() => 0)"); }

  async resize(width, height) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    await this.settle();
  }

  async emulate(media, scheme) {
    await this.send("Emulation.setEmulatedMedia", { media, features: [{ name: "prefers-color-scheme", value: scheme }] });
    await this.settle();
  }

  async mouse(type, x, y) {
    const pressed = type === "mouseMoved" ? {} : { button: "left", clickCount: 1 };
    await this.send("Input.dispatchMouseEvent", { type, x, y, ...pressed });
  }

  async click(x, y) {
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) await this.mouse(type, x, y);
    await this.settle();
  }

  async key(key, code = key) {
    const text = key === " " ? { text: " " } : {};
    const windowsVirtualKeyCode = { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, Escape: 27, Tab: 9, " ": 32 }[key];
    for (const type of ["keyDown", "keyUp"]) await this.send("Input.dispatchKeyEvent", { type, key, code, windowsVirtualKeyCode, ...(type === "keyDown" ? text : {}) });
    await this.settle();
  }

  async picture() {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }
}
