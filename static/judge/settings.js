// A person's settings for the pages with keys: keys by page, highlighting, sides. Kept in this browser, by account.

const JUDGING = {
  relevant: ["j", "ArrowRight", "1"],
  not_relevant: ["f", "ArrowLeft", "0"],
  same: ["r"],
  skip: ["s"],
  cannot_judge: ["x"],
  undo: ["u"],
  keep: ["k"],
  change: ["c"],
  document: ["d"],
  next_hit: ["]"],
  previous_hit: ["["],
  highlight: ["h"],
  note: ["n"],
  message: ["m"],
  evidence: ["v"],
  term: ["t"],
  guidelines: ["g"],
  search: ["e"],
  pause: ["p"],
  stop_after: ["q"],
  help: ["?"],
};
const FACTS = {
  none: ["0"],
  evidence: ["v"],
  save: ["Enter"],
  down: ["ArrowDown"],
  up: ["ArrowUp"],
  before: ["["],
  after: ["]"],
  skip: ["s"],
  undo: ["u"],
  guidelines: ["g"],
  help: ["?"],
};
const ADJUDICATION = {
  relevant: ["j"],
  not_relevant: ["f"],
  cannot_judge: ["x"],
  later: ["s"],
  undo: ["u"],
  note: ["n"],
  help: ["?"],
};
// By the name under which a page's keys are stored.
const KEYMAPS = { keymap: JUDGING, facts: FACTS, adjudication: ADJUDICATION };

const DEFAULTS = { single_keys: true, highlight: true, whole: false, swapped: false, breaks: true };

/** Event: "change". The switches are `single_keys`, `highlight`, `whole`, `swapped` and `breaks`. */
export class Settings extends EventTarget {
  #page;
  #place;

  constructor(account, page = "keymap") {
    super();
    this.#page = page;
    this.#place = `soundings.judging.${account}`;
    const stored = this.#stored();
    this.switches = { ...DEFAULTS, ...chosen(stored.switches) };
    this.keymap = { ...copied(KEYMAPS[page]), ...this.#usable(stored[page]) };
  }

  /** Whether the digits 1 to 9 stand for the facts of the page. */
  get numbersFacts() {
    return this.#page === "facts";
  }

  turn(name, on) {
    this.switches[name] = on;
    if (name === "swapped") this.#swapSides();
    this.#changed();
  }

  /** The action of a key, or undefined. */
  actionOf(key) {
    return Object.keys(this.keymap).find((action) => this.keymap[action].includes(key));
  }

  /**
   * Put `key` in the place of `old` (null: add it to the others; a null `key` removes `old`). False: it is
   * taken.
   */
  setKey(action, old, key) {
    const holder = key && this.actionOf(key);
    if (holder && !(holder === action && key === old)) return false;
    const keys = this.keymap[action];
    if (old === null) keys.push(key);
    else keys.splice(keys.indexOf(old), 1, ...(key ? [key] : []));
    this.#changed();
    return true;
  }

  resetKeys() {
    this.keymap = copied(KEYMAPS[this.#page]);
    if (this.switches.swapped && this.#page === "keymap") this.#swapSides();
    this.#changed();
  }

  // Left and right keys follow the buttons; 1 and 0 keep their meaning.
  #swapSides() {
    const { relevant, not_relevant: notRelevant } = this.keymap;
    const [digits, others] = [(keys) => keys.filter(isDigit), (keys) => keys.filter((key) => !isDigit(key))];
    this.keymap.relevant = [...others(notRelevant), ...digits(relevant)];
    this.keymap.not_relevant = [...others(relevant), ...digits(notRelevant)];
  }

  #stored() {
    try {
      return JSON.parse(localStorage.getItem(this.#place)) ?? {};
    } catch {
      return {};
    }
  }

  #changed() {
    try {
      const stored = { ...this.#stored(), switches: this.switches, [this.#page]: this.keymap };
      localStorage.setItem(this.#place, JSON.stringify(stored));
    } catch {
      // Without storage, the choice lasts as long as the page.
    }
    this.dispatchEvent(new Event("change"));
  }

  // Stored settings may come from another version of this page.
  #usable(keymap) {
    const entries = Object.entries(keymap ?? {});
    return Object.fromEntries(
      entries.filter(([action, keys]) => action in KEYMAPS[this.#page] && Array.isArray(keys)),
    );
  }
}

function isDigit(key) {
  return /^[0-9]$/.test(key);
}

function copied(keymap) {
  return Object.fromEntries(Object.entries(keymap).map(([action, keys]) => [action, [...keys]]));
}

function chosen(switches) {
  const entries = Object.entries(switches ?? {});
  return Object.fromEntries(entries.filter(([name, on]) => name in DEFAULTS && typeof on === "boolean"));
}
