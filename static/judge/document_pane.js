// Title and text of the document on screen: the passage or the whole, with the words of the query marked.

import { occurrences, painted, spanOf } from "./layers.js";
import { rangeIn, selectedSpan, selectedText, spanInSource } from "./selecting.js";
import { UNTITLED, gettext } from "./words.js";

export class DocumentPane {
  #parts;
  #painted;
  #document = null;
  #terms = [];
  #evidence = null;
  #whole = false;
  #openedWhole = false;

  /** `painted`: called whenever the text on screen has changed. */
  constructor(parts, { painted }) {
    this.#parts = parts;
    this.#painted = painted;
  }

  /** What the verdict goes by: "document" once the whole of it was opened. */
  get shown() {
    return this.#document?.passage && !this.#openedWhole ? "passage" : "document";
  }

  /** Read what the server rendered. */
  adopt(document, whole) {
    this.#document = document;
    this.#evidence = null;
    this.#whole = this.#openedWhole = whole;
    this.#painted();
  }

  paint(document, whole) {
    this.adopt(document, whole);
    const { title, text } = document;
    this.#paintTitle();
    this.#parts.title.classList.toggle("quiet", !title);
    this.#parts.text.hidden = !text;
    this.#parts.no_text.hidden = Boolean(text);
    this.#paintFacts();
    this.#paintImage();
    this.#paintText();
  }

  /** From the passage to the whole document and back; the passage stays where it is on screen. */
  toggle() {
    if (!this.#document?.passage) return false;
    const before = this.#passageTop();
    this.#whole = !this.#whole;
    this.#openedWhole ||= this.#whole;
    this.#paintText();
    window.scrollBy({ top: this.#passageTop() - before, behavior: "instant" });
    return true;
  }

  /** Show the whole document with this span marked, in the middle of the screen. */
  decide(span) {
    if (this.#document.html) return;
    this.#document = { ...this.#document, passage: span };
    this.#whole = this.#openedWhole = true;
    this.#paintText();
    const region = this.#parts.text.querySelector(".judging-passage");
    region?.scrollIntoView({ block: "center", behavior: "instant" });
  }

  get whole() {
    return this.#whole;
  }

  /** Which words the annotator looks for as well. */
  set terms(terms) {
    this.#terms = terms;
    if (!this.#document) return;
    this.#paintTitle();
    this.#paintText();
  }

  /** The span that decides, or null. */
  get evidence() {
    return this.#evidence;
  }

  set evidence(span) {
    this.#evidence = span;
    this.#paintText();
  }

  /** The strongest sentence, where the queue highlights one; null too if it is not found in the source. */
  get sentence() {
    if (!this.#document?.html) return this.#document?.sentence ?? null;
    const parts = [...this.#parts.text.querySelectorAll(".judging-sentence")];
    if (!parts.length) return null;
    const sentence = document.createRange();
    sentence.setStartBefore(parts[0]);
    sentence.setEndAfter(parts.at(-1));
    return this.#inSource(sentence);
  }

  /** Whether a sentence stands out. */
  get isTinted() {
    return Boolean(this.#document?.sentence) || Boolean(this.#parts.text.querySelector(".judging-sentence"));
  }

  /** What is selected of the text: [start, end], or null. */
  get selection() {
    const { text, html, passage } = this.#document ?? {};
    if (!text) return null;
    if (html) return this.#inSource(rangeIn(this.#parts.text));
    const [from, to] = passage && !this.#whole ? passage : [0, Infinity];
    return selectedSpan(this.#parts.text, { from, to, before: from > 0 ? 2 : 0 });
  }

  /** The words that are selected of title or text. */
  get selectedWords() {
    return selectedText(this.#parts.title) || selectedText(this.#parts.text);
  }

  #inSource(range) {
    const images = [...this.#parts.text.querySelectorAll("img")].map((image) => image.getAttribute("src"));
    return spanInSource(this.#parts.text, range, this.#document.text, images);
  }

  quote([start, end]) {
    return spanOf(this.#document.text).cut(start, end);
  }

  #paintTitle() {
    const { title, title_marks: words = [] } = this.#document;
    const nodes = title ? painted(spanOf(title), { words, own: occurrences(this.#terms, title) }) : [UNTITLED];
    this.#parts.title.replaceChildren(...nodes);
  }

  get #layers() {
    const { text, marks = [], sentence = null } = this.#document;
    return { words: marks, own: occurrences(this.#terms, text ?? ""), sentence, evidence: this.#evidence };
  }

  #paintFacts() {
    const { facts = [] } = this.#document;
    this.#parts.facts.hidden = !facts.length;
    this.#parts.facts.replaceChildren(
      ...facts.map((fact) => Object.assign(document.createElement("span"), { textContent: fact })),
    );
  }

  // A new element: one that gets another address shows the former image until the next has arrived.
  #paintImage() {
    const { image: address } = this.#document;
    const shown = this.#parts.image.cloneNode();
    if (address) shown.src = address;
    else shown.removeAttribute("src");
    shown.hidden = !address;
    this.#parts.image.replaceWith(shown);
    this.#parts.image = shown;
  }

  // The server has sanitised this; the parser runs nothing, and the policy of the page would not let it.
  #paintRich(html) {
    const { body } = new DOMParser().parseFromString(html, "text/html");
    this.#parts.text.replaceChildren(...body.childNodes);
    this.#parts.extent.hidden = true;
  }

  #paintText() {
    this.#painted();
    const { text, html, passage } = this.#document;
    this.#parts.text.classList.toggle("judging-rich", Boolean(html));
    if (html) return this.#paintRich(html);
    const span = spanOf(text ?? "");
    if (!passage) this.#parts.text.replaceChildren(...painted(span, this.#layers));
    else if (this.#whole) this.#parts.text.replaceChildren(...this.#wholeWithPassage(span));
    else this.#parts.text.replaceChildren(...this.#passageOnly(span));
    this.#parts.extent.hidden = !passage;
    this.#parts.extent_word.textContent = this.#whole ? gettext("Whole document") : gettext("Best-matching passage");
    this.#parts.extent_action.textContent = this.#whole ? gettext("Only the passage") : gettext("Whole document");
  }

  #passageOnly(span) {
    const { passage: [start, end] } = this.#document;
    const dots = (there) => (there ? ["…"] : []);
    const isEnd = end >= span.length || !span.cut(end, span.length).trim();
    const inside = painted(span, this.#layers, start, end);
    return [...dots(start > 0), ...(start > 0 ? [" "] : []), ...inside, ...(isEnd ? [] : [" ", "…"])];
  }

  #wholeWithPassage(span) {
    const { passage: [start, end] } = this.#document;
    const region = document.createElement("span");
    region.className = "judging-passage";
    const layers = this.#layers;
    region.append(...painted(span, layers, start, end));
    return [...painted(span, layers, 0, start), region, ...painted(span, layers, end)];
  }

  // Located by its first marked word, because lines break differently when the passage does not start a line.
  #passageTop() {
    const region = this.#parts.text.querySelector(".judging-passage") ?? this.#parts.text;
    return (region.querySelector("mark") ?? region).getBoundingClientRect().top;
  }
}
