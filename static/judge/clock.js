// Measures active time: it stands still after a minute without input and while the page is hidden.

const IDLE_MS = 60_000;
// The server takes no more for one document.
const LONGEST_MS = 24 * 60 * 60 * 1000;
const SIGNS_OF_LIFE = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart"];

/** Event: "alive", at every sign of life. */
export class ActiveClock extends EventTarget {
  #counted = 0;
  #lastSign = performance.now();
  #hidden = document.hidden;

  constructor() {
    super();
    for (const sign of SIGNS_OF_LIFE) {
      window.addEventListener(sign, () => this.#alive(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.#turned());
  }

  restart() {
    this.#counted = 0;
    this.#lastSign = performance.now();
  }

  /** Active milliseconds since the last restart, a day at most. */
  read() {
    return Math.min(Math.round(this.#counted + this.#sinceLastSign()), LONGEST_MS);
  }

  #alive() {
    this.#counted += this.#sinceLastSign();
    this.#lastSign = performance.now();
    this.dispatchEvent(new Event("alive"));
  }

  #sinceLastSign() {
    return this.#hidden ? 0 : Math.min(performance.now() - this.#lastSign, IDLE_MS);
  }

  #turned() {
    this.#alive();
    this.#hidden = document.hidden;
  }
}
