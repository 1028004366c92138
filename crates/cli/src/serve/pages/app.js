// Which page is shown: the hash names it, and holds the token of a server that wants one (#flows&token=T).
import { byId, make } from "./element.js";
import { get, useToken } from "./api.js";
import { complain } from "./notice.js";
import * as references from "./references.js";
import * as tag from "./tag.js";
import * as flows from "./flows.js";
import * as problem from "./problem.js";

const PAGES = { references, tag, flows, problem };
const started = new Set();
let models = null;

function hash() {
  const parts = location.hash.slice(1).split("&");
  const token = parts.find(part => part.startsWith("token="));
  return { page: parts.find(part => part in PAGES), token: token && decodeURIComponent(token.slice(6)) };
}

function keepToken(token) {
  useToken(token);
  for (const link of document.querySelectorAll("[data-page]")) link.href = "#" + link.dataset.page + "&token=" + encodeURIComponent(token);
}

async function open() {
  const { page = "references", token } = hash();
  if (token) keepToken(token);
  for (const name of Object.keys(PAGES)) byId(name).hidden = name !== page;
  for (const link of document.querySelectorAll("nav a")) {
    link.dataset.page === page ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  document.title = byId(page + "-title").textContent + " · bethe";
  if (started.has(page)) return;
  started.add(page);
  try {
    models ??= get("/api/v1/models").then(answer => answer.models);
    await PAGES[page].start(await models);
  } catch (error) {
    models = null;
    started.delete(page);
    complain(byId(page + "-error"), error, open);
  }
}

byId("skip").addEventListener("click", event => { event.preventDefault(); byId("main").focus(); });
addEventListener("hashchange", () => { scrollTo(0, 0); open(); });
open();
get("/api/v1/version").then(answer => byId("version").replaceChildren(make("span", {}, "bethe " + answer.version)), () => {});
