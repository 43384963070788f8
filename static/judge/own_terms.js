// Words that an annotator looks for in the documents of a query, besides the query's own. Kept in this tab.

const LONGEST = 60;
const MOST = 12;

export class OwnTerms {
  #place;
  #byQuery;

  constructor(queue) {
    this.#place = `soundings.terms.${queue}`;
    this.#byQuery = this.#stored();
  }

  of(query) {
    return this.#byQuery[query] ?? [];
  }

  /** Look for `words`, or no longer. Returns a sentence for the annotator. */
  toggle(query, words) {
    const term = words.trim().replace(/\s+/g, " ");
    const terms = this.of(query);
    if (!term) return "Select a word first.";
    if (terms.includes(term)) return this.#store(query, terms.filter((one) => one !== term), `No longer marked: ${term}.`);
    if (term.length > LONGEST) return "Select a word or a few, not a sentence.";
    if (terms.length >= MOST) return `At most ${MOST} words of your own are marked; remove one first.`;
    return this.#store(query, [...terms, term], `Marked in the documents of this query: ${term}.`);
  }

  #store(query, terms, said) {
    this.#byQuery[query] = terms;
    try {
      sessionStorage.setItem(this.#place, JSON.stringify(this.#byQuery));
    } catch {
      // Without storage, they last as long as the page.
    }
    return said;
  }

  #stored() {
    try {
      return JSON.parse(sessionStorage.getItem(this.#place)) ?? {};
    } catch {
      return {};
    }
  }
}
