// Tells when a break is due: after a number of documents or an amount of active time without one.

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
    const stretch = `${this.#judged} documents in ${spoken(this.#activeMs)} of active time`;
    const { judged, activeMs } = this.#sitting;
    const isFirst = judged === this.#judged;
    this.#judged = this.#activeMs = 0;
    if (activeMs >= LONG_SITTING_MINUTES * 60_000) {
      return `${stretch}, ${judged} in ${spoken(activeMs)} in total. Time for a longer break.`;
    }
    return isFirst ? `${stretch}.` : `${stretch}, ${judged} in total since you began.`;
  }

  /** After a pause, a new sitting begins. */
  restart() {
    this.#judged = this.#activeMs = 0;
    this.#sitting = { judged: 0, activeMs: 0 };
  }
}

function spoken(milliseconds) {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "one minute" : `${minutes} minutes`;
}
