// Choosing a piece of a reference to relabel, with the pointer or with keys.
import { openMenu } from "./menu.js";

/** Lets people choose segments or tokens below `list`; `relabel(index, first, end, label)` gets what they want. */
export function letChoose(list, { names, textOf, relabel }) {
  let chosen = null;

  const lineOf = index => list.querySelector(`[data-index="${index}"] .line`);
  const mark = piece => {
    list.querySelectorAll(".chosen").forEach(own => own.classList.remove("chosen"));
    chosen = piece;
    if (!piece) return;
    for (const token of lineOf(piece.index).querySelectorAll(".token")) {
      const at = Number(token.dataset.token);
      token.classList.toggle("chosen", piece.first <= at && at < piece.end);
    }
  };
  const pieceOf = segment => ({ index: Number(segment.closest(".entry").dataset.index), first: Number(segment.dataset.first), end: Number(segment.dataset.end) });
  const open = (piece, segment) => {
    mark(piece);
    const line = lineOf(piece.index), tokens = line.querySelectorAll(".token");
    const whole = segment && pieceOf(segment), same = whole && whole.first === piece.first && whole.end === piece.end;
    openMenu({
      box: tokens[piece.first].getBoundingClientRect(), title: textOf(piece), names: names(),
      current: same ? segment.dataset.label : null,
      choose: label => { mark(null); relabel(piece, label); },
      leave: () => { mark(null); segment?.focus({ preventScroll: true }); },
    });
  };

  list.addEventListener("click", event => {
    const line = event.target.closest(".line");
    if (!line) return;
    const tokens = selectedTokens(line);
    const segment = event.target.closest(".segment");
    if (tokens.length) {
      getSelection().removeAllRanges();
      const index = Number(line.closest(".entry").dataset.index);
      open({ index, first: tokens[0], end: tokens[tokens.length - 1] + 1 }, line.querySelectorAll(".token")[tokens[0]].closest(".segment"));
    } else if (segment) {
      open(pieceOf(segment), segment);
    }
  });

  list.addEventListener("keydown", event => {
    const segment = event.target.closest(".segment");
    if (!segment || event.altKey || event.ctrlKey || event.metaKey) return;
    const piece = chosen && chosen.index === pieceOf(segment).index ? chosen : pieceOf(segment);
    if (event.key === "Enter" || event.key === " ") open(piece, segment);
    else if (event.key === "Escape") mark(null);
    else if (event.shiftKey && event.key.startsWith("Arrow")) mark(stretched(piece, event.key, lineOf(piece.index).querySelectorAll(".token").length));
    else if (!move(segment, event.key, list)) return;
    event.preventDefault();
  });
  list.addEventListener("focusout", event => { if (event.relatedTarget?.closest?.("#menu") == null) mark(null); });
}

/** The tokens of a line that are selected, by their index. */
function selectedTokens(line) {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return [];
  const range = selection.getRangeAt(0);
  return [...line.querySelectorAll(".token")].filter(token => touches(range, token)).map(token => Number(token.dataset.token));
}

/** Whether a range holds at least one character of an element. */
function touches(range, element) {
  const own = document.createRange();
  own.selectNodeContents(element);
  return range.compareBoundaryPoints(Range.START_TO_END, own) > 0 && range.compareBoundaryPoints(Range.END_TO_START, own) < 0;
}

/** A piece whose end (left, right) or start (up, down) was moved by a token. */
function stretched({ index, first, end }, key, count) {
  if (key === "ArrowRight") end = Math.min(count, end + 1);
  if (key === "ArrowLeft") end = Math.max(first + 1, end - 1);
  if (key === "ArrowDown") first = Math.min(end - 1, first + 1);
  if (key === "ArrowUp") first = Math.max(0, first - 1);
  return { index, first, end };
}

/** Moves the focus to another segment; each reference is one stop of the Tab key. */
function move(segment, key, list) {
  const line = segment.closest(".line"), own = [...line.querySelectorAll(".segment")], at = own.indexOf(segment);
  const lines = [...list.querySelectorAll(".line")], row = lines.indexOf(line);
  const target = {
    ArrowRight: own[at + 1], ArrowLeft: own[at - 1], Home: own[0], End: own[own.length - 1],
    ArrowDown: lines[row + 1]?.querySelector(".segment"), ArrowUp: lines[row - 1]?.querySelector(".segment"),
  }[key];
  if (target) focusSegment(target);
  return ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End"].includes(key);
}

export function focusSegment(segment) {
  for (const own of segment.closest(".line").querySelectorAll(".segment")) own.tabIndex = own === segment ? 0 : -1;
  segment.focus();
}
