// Sentences that the server also uses. The wording comes with the page; this fills in the values.

export const VERDICTS = {
  relevant: "relevant",
  not_relevant: "not relevant",
  cannot_judge: "can't judge",
  skip: "skipped",
};

export class Words {
  #words;

  constructor(words) {
    this.#words = words;
  }

  /** A count that is null is left out. */
  progress(counts) {
    const known = Object.entries(this.#words.progress).filter(([name]) => (counts[name] ?? null) !== null);
    return known.map(([name, wording]) => filled(wording, { count: counts[name] })).join(" · ");
  }

  /** How small a query is shown, 0 to 3: by its words, or by its letters in scripts without spaces. */
  querySize(text) {
    const words = Math.max(text.split(/\s+/).filter(Boolean).length, Math.floor(text.length / 7));
    return this.#words.query_sizes.filter((most) => words > most).length;
  }

  /** Why there is nothing to judge. `serverTime`: the server's clock when it answered, in milliseconds. */
  empty(empty, serverTime) {
    const { not_open: notOpen, waiting, next, finished } = this.#words.empty;
    if (empty && empty.state !== "open") return filled(notOpen, empty);
    const reasons = Object.entries(this.#words.reasons)
      .filter(([name]) => empty?.[name])
      .map(([name, [one, several]]) => filled(empty[name] > 1 ? several : one, { count: empty[name] }));
    if (!reasons.length) return finished;
    const frees = empty.next_free_at ? filled(next, { time: localTime(empty.next_free_at, serverTime) }) : "";
    return filled(waiting, { reasons: reasons.join(", "), next: frees });
  }

  /** Whether nothing is left of an open queue that anybody could judge. */
  isFinished(empty) {
    return this.empty(empty) === this.#words.empty.finished;
  }
}

/** "1 verdict", "3 verdicts". */
export function verdicts(count) {
  return count === 1 ? "1 verdict" : `${count} verdicts`;
}

function filled(wording, values) {
  return wording.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// A client's clock may be wrong: use the distance from the server's clock.
function localTime(moment, serverTime) {
  const drift = serverTime ? Date.now() - serverTime : 0;
  return new Date(Date.parse(moment) + drift).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
