// Requests to the server that this page came from, and to no other.

const RETRIES = 4;
const NO_ANSWER = "The server does not answer. Check that `bethe serve` is still running, then try again.";

/** What the server said was wrong, in one sentence for a person. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let token = null;
export const useToken = own => { token = own; };

export const get = path => request(path, { method: "GET" }).then(response => response.json());

/** Sends a JSON body and reads a JSON answer. */
export const post = (path, body, signal) => send(path, body, "application/json", signal).then(response => response.json());

/** Sends a JSON body; the answer is a file: its bytes and their type. */
export const postForFile = (path, body, signal) => send(path, body, "*/*", signal).then(response => response.blob());

/** Sends a JSON body and hears events until the last, which is returned: the answer. `hear(name, data)` gets those before it. */
export async function follow(path, body, signal, hear) {
  const response = await send(path, body, "text/event-stream", signal);
  for await (const { name, data } of events(response)) {
    if (name === "answer") return data;
    if (name === "error") throw new Refusal(200, data.error);
    hear(name, data);
  }
  throw new Refusal(0, "The server ended before it had an answer. Try again.");
}

/** Whether an error only says that the work was cancelled from this page. */
export const cancelled = error => error.name === "AbortError";

function send(path, body, accept, signal) {
  return request(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", Accept: accept }, signal });
}

async function request(path, options) {
  const headers = { ...options.headers, ...(token ? { Authorization: "Bearer " + token } : {}) };
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(path, { ...options, headers, cache: "no-store" }).catch(error => {
      throw cancelled(error) ? error : new Refusal(0, NO_ANSWER);
    });
    if (response.ok) return response;
    if (response.status === 503 && attempt < RETRIES) {
      await pause(1000 * (Number(response.headers.get("Retry-After")) || 1), options.signal);
      continue;
    }
    throw new Refusal(response.status, await reason(response));
  }
}

async function reason(response) {
  if (response.status === 401) return "This server needs its token. Open the whole address that `bethe serve` printed, with #token= at its end.";
  const said = await response.json().then(body => body.error).catch(() => null);
  if (response.status === 503) return (said || "The server is busy.") + " Try again in a moment.";
  return said || "The server answered with status " + response.status + ".";
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); reject(signal.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Server-sent events in the body of a response. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch(error => {
      throw cancelled(error) ? error : new Refusal(0, NO_ANSWER);
    });
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const part = name => lines.filter(line => line.startsWith(name + ":")).map(line => line.slice(name.length + 1).replace(/^ /, "")).join("\n");
      if (part("data")) yield { name: part("event"), data: JSON.parse(part("data")) };
    }
  }
}
