// Files into the page and out of it: chosen, dropped, downloaded, copied.
import { make } from "./element.js";

/** The text of a file as the command line reads it: gzip is unpacked, bytes that are not UTF-8 are Windows-1252. */
export async function textOf(file) {
  let bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    bytes = new Uint8Array(await new Response(unpacked).arrayBuffer().catch(() => {
      throw new Error(file.name + " is not a complete gzip file. Compress it again, or drop the uncompressed file.");
    }));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Lets people drop files on `area` or choose them with `input`; `take(files)` gets them. */
export function acceptFiles(area, input, take) {
  const over = on => event => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    area.classList.toggle("dropping", on);
  };
  area.addEventListener("dragenter", over(true));
  area.addEventListener("dragover", over(true));
  area.addEventListener("dragleave", event => { if (!area.contains(event.relatedTarget)) over(false)(event); });
  area.addEventListener("drop", event => {
    over(false)(event);
    if (event.dataTransfer.files.length) take([...event.dataTransfer.files]);
  });
  input.addEventListener("change", () => {
    if (input.files.length) take([...input.files]);
    input.value = "";
  });
}

export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers keep the clipboard from pages of other machines without HTTPS, but not this older way.
  const area = make("textarea", { class: "unseen" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("The browser does not let this page copy. Download the file instead.");
}
