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
  const lead = document.createRange();
  lead.setStart(part, 0);
  lead.setEnd(range.startContainer, range.startOffset);
  const start = from - before + count(lead.toString()) + count(said) - count(said.trimStart());
  const span = [Math.max(start, from), Math.min(start + count(words), to)];
  return span[0] < span[1] ? span : null;
}

// What a page made from Markdown or HTML does not show of its source. An image that is not shown is its text.
const IMAGE = /<img\b[^>]*>|!\[[^\]]*\]\([^)]*\)/gi;
const TEXT_OF_IMAGE = /(?:^!\[|\balt\s*=\s*["'])([^\]"']*)/i;
const HIDDEN = /<[^>]*>|&\w+;|\]\([^)]*\)/g;

/**
 * Where words that were selected on a page made from Markdown or HTML stand in its source, or null. `images` are
 * the addresses of those that the page shows.
 */
export function spanInSource(words, source, images = []) {
  const parts = words.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  if (!parts.length) return null;
  const wanted = new RegExp(parts.join("[^\\p{L}\\p{N}]+"), "u");
  const found = wanted.exec(readable(source, images)) ?? wanted.exec(source);
  if (!found) return null;
  const start = count(source.slice(0, found.index));
  return [start, start + count(source.slice(found.index, found.index + found[0].length))];
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

function rangeIn(part) {
  const selection = document.getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  return part.contains(range.startContainer) && part.contains(range.endContainer) ? range : null;
}
