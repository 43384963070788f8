// What the annotator has selected of a document's text, as offsets in it.

import { count } from "./layers.js";

/** The selected words inside `part`, without space around them; "" when nothing of it is selected. */
export function selectedText(part) {
  const range = rangeIn(part);
  return range ? range.toString().trim() : "";
}

/**
 * The selection as [start, end] in characters of the document's text, or null. `part` shows plain text from
 * `from` to `to`, behind `before` characters that are not the document's.
 */
export function selectedSpan(part, { from, to, before }) {
  const range = rangeIn(part);
  if (!range) return null;
  const said = range.toString();
  const words = said.trim();
  if (!words) return null;
  const lead = textBetween(part, 0, range.startContainer, range.startOffset);
  const start = from - before + count(lead) + count(said) - count(said.trimStart());
  const span = [Math.max(start, from), Math.min(start + count(words), to)];
  return span[0] < span[1] ? span : null;
}

// What a page made from Markdown or HTML does not show of its source. An image that is not shown is its text.
const IMAGE = /<img\b[^>]*>|!\[[^\]]*\]\([^)]*\)/gi;
const TEXT_OF_IMAGE = /(?:^!\[|\balt\s*=\s*["'])([^\]"']*)/i;
const HIDDEN = /<!--[^]*?-->|<(script|style)\b[^]*?<\/\1\s*>|<[^>]*>|\]\([^)]*\)/gi;
const LETTER = /&(?:#x?[0-9a-f]+|[a-z][a-z0-9]*);|[\p{L}\p{N}\p{M}]/giu;
// Letters around the selection that tell one place with the same words from another.
const CONTEXT = 200;

/**
 * Where a selection on a page made from Markdown or HTML lies in its source: [start, end] in characters, or
 * null. Only letters and digits are compared, as neither markup nor space is on both sides; of several places
 * with the same words, that with the most alike around it. `part` shows the document, `range` is in it;
 * `images` are the addresses of those that the page shows.
 */
export function spanInSource(part, range, source, images = []) {
  if (!range) return null;
  const words = plainLetters(range.toString());
  if (!words) return null;
  const before = plainLetters(textBetween(part, 0, range.startContainer, range.startOffset)).slice(-CONTEXT);
  const after = plainLetters(textBetween(range.endContainer, range.endOffset, part, part.childNodes.length)).slice(0, CONTEXT);
  const letters = [...lettersOf(readable(source, images))];
  const text = letters.map(({ letter }) => letter).join("");
  let [place, likeness] = [-1, -1];
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const alike = alikeBefore(text, at, before) + alikeAfter(text, at + words.length, after);
    if (alike > likeness) [place, likeness] = [at, alike];
  }
  if (place < 0) return null;
  const [first, last] = [letters[place], letters[place + words.length - 1]];
  const start = count(source.slice(0, first.start));
  return [start, start + count(source.slice(first.start, last.end))];
}

/** The selection inside `part`, or null. */
export function rangeIn(part) {
  const selection = document.getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  return part.contains(range.startContainer) && part.contains(range.endContainer) ? range : null;
}

function textBetween(start, startOffset, end, endOffset) {
  const range = document.createRange();
  range.setStart(start, startOffset);
  range.setEnd(end, endOffset);
  return range.toString();
}

function plainLetters(text) {
  return (text.match(/[\p{L}\p{N}\p{M}]/gu) ?? []).join("");
}

// Letters and digits of a source with their places, a UTF-16 unit each; entities are what they stand for.
function* lettersOf(source) {
  for (const { 0: piece, index } of source.matchAll(LETTER)) {
    const isEntity = piece.startsWith("&");
    for (const letter of isEntity ? plainLetters(decoded(piece)) : piece) {
      for (const unit of letter.split("")) yield { letter: unit, start: index, end: index + piece.length };
    }
  }
}

function decoded(entity) {
  return new DOMParser().parseFromString(entity, "text/html").documentElement.textContent;
}

function alikeBefore(text, end, context) {
  let alike = 0;
  while (alike < context.length && text[end - 1 - alike] === context[context.length - 1 - alike]) alike += 1;
  return alike;
}

function alikeAfter(text, start, context) {
  let alike = 0;
  while (alike < context.length && text[start + alike] === context[alike]) alike += 1;
  return alike;
}

// The source with spaces for what is not seen, so that every place in it stays.
function readable(source, images) {
  const seen = source.replace(IMAGE, (image) => {
    const address = image.replaceAll("&amp;", "&");
    const text = TEXT_OF_IMAGE.exec(image);
    if (!text || images.some((shown) => address.includes(shown))) return blank(image);
    const start = text.index + text[0].length - text[1].length;
    return blank(image.slice(0, start)) + text[1] + blank(image.slice(start + text[1].length));
  });
  return seen.replace(HIDDEN, blank);
}

function blank(text) {
  return " ".repeat(text.length);
}
