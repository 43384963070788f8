// Maps key presses to action names. A held key acts once; keys typed into a field are ignored.

import { filled, gettext } from "./words.js";

const TYPING = "input:not([type=button], [type=submit], [type=radio]), textarea, select, [contenteditable]";
const SHOWN_AS = { ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", Enter: "↵" };
const BRACKETS = { BracketLeft: "[", BracketRight: "]" };
// Reserved: these move the focus, press buttons, scroll and close.
const OF_THE_BROWSER = new Set(["Tab", "Enter", " ", "Escape", "Backspace", "Delete"]);

/**
 * Calls `act(name, event)` for shortcuts, `choose(number, event)` for 1 to 5 while `choosing()` is true, and
 * `digit(number, event)` for digits, with Shift or without, that are no shortcut. A held key acts again only
 * for the actions in `repeating`.
 */
export class Keys {
  #act;
  #choose;
  #choosing;
  #digit;
  #repeating;
  #settings;

  constructor({ act, settings, choose = () => {}, choosing = () => false, digit = null, repeating = [] }) {
    this.#act = act;
    this.#choose = choose;
    this.#choosing = choosing;
    this.#digit = digit;
    this.#repeating = repeating;
    this.#settings = settings;
    document.addEventListener("keydown", (event) => this.#pressed(event));
  }

  #pressed(event) {
    if (event.target.closest?.(TYPING) || event.isComposing) return;
    const dialog = document.querySelector("dialog[open]");
    if (dialog) return this.#pressedOver(dialog, event);
    if (isUndoChord(event)) return this.#take(event, () => this.#act("undo", event));
    if (isChord(event)) return;
    const key = nameOf(event);
    if (this.#choosing()) return this.#pressedInPanel(key, event);
    if (!this.#settings.switches.single_keys) return;
    const action = this.#settings.actionOf(key);
    const digit = !action && this.#digit && digitOf(event);
    if (digit) this.#take(event, () => this.#digit(Number(digit), event));
    // Enter presses the link or button that has the focus.
    else if (action && !(key === "Enter" && event.target.closest?.("a, button"))) {
      this.#take(event, () => this.#act(action, event), this.#repeating.includes(action));
    }
  }

  // Over a dialog only the key that closes it again acts.
  #pressedOver(dialog, event) {
    if (isChord(event) || !this.#settings.switches.single_keys) return;
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

  #take(event, action, repeats = false) {
    event.preventDefault();
    if (!event.repeat || repeats) action();
  }
}

/** The label on the key cap. */
export function capOf(key) {
  return SHOWN_AS[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Write the keys of today on the caps of a page, and hide caps without a key. */
export function paintCaps(root, { keymap, switches }) {
  root.classList.toggle("no-keys", !switches.single_keys);
  for (const cap of root.querySelectorAll("kbd[data-key]")) {
    const [key] = keymap[cap.dataset.key];
    cap.textContent = key ? capOf(key) : "";
    cap.hidden = !key;
  }
}

/** Why a key that was pressed cannot be a shortcut, or nothing. */
export function objectionTo(event, key, numbersFacts) {
  if (isChord(event) || !key) return gettext("Press one key without Ctrl, Alt or Shift.");
  if (numbersFacts && /^[1-9]$/.test(key)) return gettext("1 to 9 are the facts of the page. Press another key.");
  if (!OF_THE_BROWSER.has(event.key)) return "";
  const wording = gettext("{key} is needed for moving and closing. Press another key.");
  return filled(wording, { key: event.code || event.key });
}

// The letter printed on the key; its place on layouts without Latin letters or brackets, or with digits under Shift.
export function nameOf(event) {
  if (event.key === "?" || event.key.length > 1) return event.shiftKey && event.key !== "?" ? "" : event.key;
  if (isAltGraph(event)) return event.key;
  if (event.shiftKey && !/^[0-9]$/.test(event.key)) return "";
  const key = event.key.toLowerCase();
  if (/^[a-z0-9]$/.test(key)) return key;
  const place = /^(?:Key([A-Z])|Digit([0-9]))$/.exec(event.code);
  return place ? (place[1] ?? place[2]).toLowerCase() : (BRACKETS[event.code] ?? key);
}

// The digit of a key by its place. A number pad without NumLock moves.
function digitOf(event) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
  return digit && (event.code.startsWith("Digit") || event.key === digit) ? digit : "";
}

// With AltGr, layouts write brackets and other signs; the browser then reports Ctrl and Alt as well.
function isAltGraph(event) {
  return Boolean(event.getModifierState?.("AltGraph"));
}

function isChord(event) {
  return !isAltGraph(event) && (event.ctrlKey || event.altKey || event.metaKey);
}

function isUndoChord(event) {
  return (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && nameOf(event) === "z";
}
