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

/** Where words that were selected on a page made from Markdown or HTML stand in its source, or null. */
export function spanInSource(words, source) {
  const parts = words.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  if (!parts.length) return null;
  const found = new RegExp(parts.join("(?:<[^>]*>|&\\w+;|[^\\p{L}\\p{N}])+"), "u").exec(source);
  if (!found) return null;
  const start = count(source.slice(0, found.index));
  return [start, start + count(found[0])];
}

function rangeIn(part) {
  const selection = document.getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  return part.contains(range.startContainer) && part.contains(range.endContainer) ? range : null;
}
