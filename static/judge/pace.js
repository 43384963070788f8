// Tells when a break is due: after a number of documents or an amount of active time without one.

import { filled, gettext, ngettext } from "./words.js";

const LONG_SITTING_MINUTES = 50;

export class Pace {
  #after;
  #wanted;
  #judged = 0;
  #activeMs = 0;
  #sitting = { judged: 0, activeMs: 0 };

  /** `after`: {items, minutes}; `wanted()`: whether the person wants to be reminded. */
  constructor(after, wanted = () => true) {
    this.#after = after;
    this.#wanted = wanted;
  }

  count(activeMs) {
    this.#judged += 1;
    this.#activeMs += activeMs;
  }

  uncount() {
    this.#judged = Math.max(0, this.#judged - 1);
  }

  get due() {
    if (!this.#wanted()) return false;
    return this.#judged >= this.#after.items || this.#activeMs >= this.#after.minutes * 60_000;
  }

  /** Start the next stretch; returns a sentence or two about this one and the whole sitting. */
  rest() {
    this.#sitting.judged += this.#judged;
    this.#sitting.activeMs += this.#activeMs;
    const documents = this.#judged;
    const stretch = ngettext(
      "{count} document in {time} of active time",
      "{count} documents in {time} of active time",
      documents,
    );
    const values = { count: documents, time: spoken(this.#activeMs) };
    const { judged, activeMs } = this.#sitting;
    const isFirst = judged === this.#judged;
    this.#judged = this.#activeMs = 0;
    if (activeMs >= LONG_SITTING_MINUTES * 60_000) {
      const wording = gettext("{stretch}, {count} in {time} in total. Time for a longer break.");
      return filled(wording, { stretch: filled(stretch, values), count: judged, time: spoken(activeMs) });
    }
    const wording = isFirst ? gettext("{stretch}.") : gettext("{stretch}, {count} in total since you began.");
    return filled(wording, { stretch: filled(stretch, values), count: judged });
  }

  /** After a pause, a new sitting begins. */
  restart() {
    this.#judged = this.#activeMs = 0;
    this.#sitting = { judged: 0, activeMs: 0 };
  }
}

function spoken(milliseconds) {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 1) return gettext("less than a minute");
  if (minutes === 1) return gettext("one minute");
  return filled(ngettext("{count} minute", "{count} minutes", minutes), { count: minutes });
}
