// Maps key presses to action names. A held key acts once; keys typed into a field are ignored.

import { filled, gettext } from "./words.js";

const TYPING = "input:not([type=button], [type=submit]), textarea, select, [contenteditable]";
const SHOWN_AS = { ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓" };
// Reserved: these move the focus, press buttons, scroll and close.
const OF_THE_BROWSER = new Set(["Tab", "Enter", " ", "Escape", "Backspace", "Delete"]);

/** Calls `act(name, event)` for shortcuts, `choose(number, event)` for 1 to 5 while `choosing()` is true. */
export class Keys {
  #act;
  #choose;
  #choosing;
  #settings;

  constructor({ act, choose, choosing, settings }) {
    this.#act = act;
    this.#choose = choose;
    this.#choosing = choosing;
    this.#settings = settings;
    document.addEventListener("keydown", (event) => this.#pressed(event));
  }

  #pressed(event) {
    if (event.target.closest?.(TYPING) || event.isComposing) return;
    const dialog = document.querySelector("dialog[open]");
    if (dialog) return this.#pressedOver(dialog, event);
    if (isUndoChord(event)) return this.#take(event, () => this.#act("undo", event));
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const key = nameOf(event);
    if (this.#choosing()) return this.#pressedInPanel(key, event);
    const action = this.#settings.switches.single_keys && this.#settings.actionOf(key);
    if (action) this.#take(event, () => this.#act(action, event));
  }

  // Over a dialog only the key that closes it again acts.
  #pressedOver(dialog, event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.#settings.switches.single_keys) return;
    const action = this.#settings.actionOf(nameOf(event));
    if (action && action === dialog.dataset.closedBy) this.#take(event, () => this.#act(action, event));
  }

  // While the reasons are open, verdict keys must not judge.
  #pressedInPanel(key, event) {
    if (key === "Escape") return this.#take(event, () => this.#choose(null, event));
    if (!this.#settings.switches.single_keys) return;
    const take = (number) => this.#take(event, () => this.#choose(number, event));
    if (/^[1-5]$/.test(key)) take(Number(key));
    else if (this.#settings.actionOf(key) === "cannot_judge") take(null);
  }

  #take(event, action) {
    event.preventDefault();
    if (!event.repeat) action();
  }
}

/** The label on the key cap. */
export function capOf(key) {
  return SHOWN_AS[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Why a key that was pressed cannot be a shortcut, or nothing. */
export function objectionTo(event, key) {
  const isChord = event.ctrlKey || event.altKey || event.metaKey;
  if (isChord || !key) return gettext("Press one key without Ctrl, Alt or Shift.");
  if (!OF_THE_BROWSER.has(event.key)) return "";
  const wording = gettext("{key} is needed for moving and closing. Press another key.");
  return filled(wording, { key: event.code || event.key });
}

// The letter printed on the key; its position on layouts without Latin letters or with digits under Shift.
export function nameOf(event) {
  if (event.key === "?" || event.key.length > 1) return event.shiftKey && event.key !== "?" ? "" : event.key;
  if (event.shiftKey && !/^[0-9]$/.test(event.key)) return "";
  const key = event.key.toLowerCase();
  if (/^[a-z0-9]$/.test(key)) return key;
  const place = /^(?:Key([A-Z])|Digit([0-9]))$/.exec(event.code);
  return place ? (place[1] ?? place[2]).toLowerCase() : key;
}

function isUndoChord(event) {
  return (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && nameOf(event) === "z";
}
