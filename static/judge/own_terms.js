// Words that an annotator looks for in the documents of a query, besides the query's own. Kept in this tab.

import { filled, gettext } from "./words.js";

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
    if (!term) return gettext("Select a word first.");
    if (terms.includes(term)) {
      const others = terms.filter((one) => one !== term);
      return this.#store(query, others, filled(gettext("No longer marked: {term}."), { term }));
    }
    if (term.length > LONGEST) return gettext("Select a word or a few, not a sentence.");
    if (terms.length >= MOST) return filled(gettext("At most {count} words of your own are marked; remove one first."), { count: MOST });
    const said = filled(gettext("Marked in the documents of this query: {term}."), { term });
    return this.#store(query, [...terms, term], said);
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
