// Where the query's words are in a long document: a map next to the scroll bar, and steps from one to the next.

// Hits so near to each other are one place; a document of fewer screens needs no map.
const NEAR_PX = 160;
const LEAST_SCREENS = 1.5;

export class Hits {
  #text;
  #map;
  #timer = null;

  /** `text`: what holds the marks; `map`: the strip next to the scroll bar. */
  constructor(text, map) {
    this.#text = text;
    this.#map = map;
    map.addEventListener("click", (event) => this.#jump(event));
    window.addEventListener("resize", () => this.paintLater());
  }

  /** After the document is on screen, so that no key waits for the map. */
  paintLater() {
    this.#map.hidden = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#paint(), 0);
  }

  /** Scroll to the next place with hits, or with -1 to the one before; its number and how many there are. */
  step(direction) {
    const places = this.#places();
    const here = window.scrollY + this.#offset();
    const isAhead = (place) => (place - here) * direction > 8;
    const ahead = places.filter(isAhead);
    const place = direction > 0 ? ahead[0] : ahead.at(-1);
    if (place !== undefined) window.scrollTo({ top: place - this.#offset(), behavior: "instant" });
    return { number: places.indexOf(place) + 1, count: places.length };
  }

  #places() {
    const tops = [...this.#text.querySelectorAll("mark")].map((mark) => mark.getBoundingClientRect().top);
    const places = [];
    let last = -Infinity;
    for (const top of tops) {
      if (top - last > NEAR_PX) places.push(top + window.scrollY);
      last = top;
    }
    return places;
  }

  // A place is brought to a third of the window's height, below anything that stays on top.
  #offset() {
    return window.innerHeight / 3;
  }

  #paint() {
    const { top, height } = this.#text.getBoundingClientRect();
    const isLong = height > LEAST_SCREENS * window.innerHeight;
    const places = isLong ? this.#places() : [];
    this.#map.hidden = !places.length;
    const start = top + window.scrollY;
    this.#map.replaceChildren(
      ...places.map((place) => {
        const tick = document.createElement("span");
        tick.style.top = `${(100 * (place - start)) / height}%`;
        return tick;
      }),
    );
  }

  #jump({ clientY }) {
    const map = this.#map.getBoundingClientRect();
    const { top, height } = this.#text.getBoundingClientRect();
    const wanted = top + window.scrollY + ((clientY - map.top) / map.height) * height;
    const nearest = (best, place) => (Math.abs(place - wanted) < Math.abs(best - wanted) ? place : best);
    const place = this.#places().reduce(nearest, Infinity);
    if (place < Infinity) window.scrollTo({ top: place - this.#offset(), behavior: "instant" });
  }
}
