// Title and text of the document on screen: the passage or the whole, with the words of the query marked.

export class DocumentPane {
  #parts;
  #painted;
  #document = null;
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
    this.#whole = this.#openedWhole = whole;
    this.#painted();
  }

  paint(document, whole) {
    this.adopt(document, whole);
    const { title, title_marks: titleMarks = [], text } = document;
    this.#parts.title.replaceChildren(...(title ? marked(title, titleMarks) : ["Untitled document"]));
    this.#parts.title.classList.toggle("quiet", !title);
    this.#parts.text.hidden = !text;
    this.#parts.no_text.hidden = Boolean(text);
    this.#paintFacts();
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

  #paintFacts() {
    const { facts = [] } = this.#document;
    this.#parts.facts.hidden = !facts.length;
    this.#parts.facts.replaceChildren(
      ...facts.map((fact) => Object.assign(document.createElement("span"), { textContent: fact })),
    );
  }

  // The server has sanitised this; the parser runs nothing, and the policy of the page would not let it.
  #paintRich(html) {
    const { body } = new DOMParser().parseFromString(html, "text/html");
    this.#parts.text.replaceChildren(...body.childNodes);
    this.#parts.extent.hidden = true;
  }

  #paintText() {
    this.#painted();
    const { text, html, passage, marks = [] } = this.#document;
    this.#parts.text.classList.toggle("judging-rich", Boolean(html));
    if (html) return this.#paintRich(html);
    const span = spanOf(text ?? "");
    if (!passage) this.#parts.text.replaceChildren(...marked(span, marks));
    else if (this.#whole) this.#parts.text.replaceChildren(...this.#wholeWithPassage(span));
    else this.#parts.text.replaceChildren(...this.#passageOnly(span));
    this.#parts.extent.hidden = !passage;
    this.#parts.extent_word.textContent = this.#whole ? "Whole document" : "Best-matching passage";
    this.#parts.extent_action.textContent = this.#whole ? "Only the passage" : "Whole document";
  }

  #passageOnly(span) {
    const { passage: [start, end], marks } = this.#document;
    const dots = (there) => (there ? ["…"] : []);
    const isEnd = end >= span.length || !span.cut(end, span.length).trim();
    const inside = marked(span, marks, start, end);
    return [...dots(start > 0), ...(start > 0 ? [" "] : []), ...inside, ...(isEnd ? [] : [" ", "…"])];
  }

  #wholeWithPassage(span) {
    const { passage: [start, end], marks } = this.#document;
    const region = document.createElement("span");
    region.className = "judging-passage";
    region.append(...marked(span, marks, start, end));
    return [...marked(span, marks, 0, start), region, ...marked(span, marks, end, span.length)];
  }

  // Located by its first marked word, because lines break differently when the passage does not start a line.
  #passageTop() {
    const region = this.#parts.text.querySelector(".judging-passage") ?? this.#parts.text;
    return (region.querySelector("mark") ?? region).getBoundingClientRect().top;
  }
}

// Marks count Unicode characters, JavaScript's strings count UTF-16 units.
function spanOf(text) {
  if (!/[\uD800-\uDFFF]/.test(text)) {
    return { length: text.length, cut: (start, end) => text.slice(start, end) };
  }
  const characters = Array.from(text);
  return { length: characters.length, cut: (start, end) => characters.slice(start, end).join("") };
}

function marked(text, marks, from = 0, to = Infinity) {
  const span = typeof text === "string" ? spanOf(text) : text;
  const nodes = [];
  let position = from;
  for (const [start, end] of marks) {
    if (start < from || end > to) continue;
    nodes.push(span.cut(position, start), markOf(span.cut(start, end)));
    position = end;
  }
  nodes.push(span.cut(position, Math.min(to, span.length)));
  return nodes.filter((node) => node !== "");
}

function markOf(text) {
  const mark = document.createElement("mark");
  mark.textContent = text;
  return mark;
}
