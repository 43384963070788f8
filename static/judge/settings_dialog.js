// The dialog for keys and switches; it always shows the state of `Settings`.

import { capOf, nameOf, objectionTo } from "./keys.js";
import { filled, gettext } from "./words.js";

export class SettingsDialog {
  #dialog;
  #settings;
  #message;
  #waiting = null;

  constructor(dialog, settings) {
    this.#dialog = dialog;
    this.#settings = settings;
    this.#message = dialog.querySelector("[data-part=key_message]");
    for (const box of this.#boxes()) {
      box.addEventListener("change", () => settings.turn(box.name, box.checked));
    }
    dialog.querySelector("[data-part=keys_reset]").addEventListener("click", () => this.#reset());
    dialog.addEventListener("keydown", (event) => this.#pressed(event));
    dialog.addEventListener("cancel", (event) => this.#waiting && this.#giveUp(event));
    dialog.addEventListener("close", () => (this.#waiting = null));
    settings.addEventListener("change", () => this.#paint());
    this.#paint();
  }

  open() {
    this.#say("");
    this.#dialog.showModal();
    this.#dialog.querySelector("h2").focus();
  }

  #boxes() {
    return this.#dialog.querySelectorAll("input[type=checkbox]");
  }

  #paint() {
    for (const box of this.#boxes()) box.checked = this.#settings.switches[box.name];
    for (const cell of this.#dialog.querySelectorAll("[data-keys-of]")) this.#paintKeys(cell);
  }

  #paintKeys(cell) {
    const action = cell.dataset.keysOf;
    const keys = this.#settings.keymap[action].map((key) => this.#button(cell, action, key));
    cell.replaceChildren(...keys, this.#button(cell, action, null));
  }

  #button(cell, action, key) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "key-button";
    button.dataset.key = key ?? "";
    button.textContent = key ? capOf(key) : "+";
    const what = cell.parentElement.querySelector("th").textContent;
    const wording = key ? gettext("{what}: {key}. Change this key") : gettext("{what}: add a key");
    button.setAttribute("aria-label", filled(wording, { what, key: key ? capOf(key) : "" }));
    button.addEventListener("click", () => this.#listen(action, key, what, button));
    return button;
  }

  #listen(action, key, what, button) {
    this.#stopListening();
    this.#waiting = { action, key, what };
    button.classList.add("waiting");
    const wording = key
      ? gettext("Press the key for “{what}”. Delete takes it away, Esc cancels.")
      : gettext("Press the key for “{what}”. Esc cancels.");
    this.#say(filled(wording, { what }));
  }

  #pressed(event) {
    if (!this.#waiting || event.key === "Escape" || event.key === "Shift") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat) return;
    const key = nameOf(event);
    const isRemoval = this.#waiting.key && (event.key === "Delete" || event.key === "Backspace");
    const objection = isRemoval ? "" : objectionTo(event, key, this.#settings.numbersFacts);
    if (objection) return this.#say(objection);
    this.#take(isRemoval ? null : key);
  }

  #take(key) {
    const { action, key: old, what } = this.#waiting;
    if (!this.#settings.setKey(action, old, key)) {
      const holder = this.#dialog.querySelector(`[data-keys-of=${this.#settings.actionOf(key)}]`);
      const taken = holder.parentElement.querySelector("th").textContent;
      const wording = gettext("{key} is the key for “{taken}” already. Press another key, or Esc.");
      return this.#say(filled(wording, { key: capOf(key), taken }));
    }
    this.#stopListening();
    const wording = key ? gettext("{key} is now a key for “{what}”.") : gettext("{key} is no longer a key for “{what}”.");
    this.#say(filled(wording, { key: capOf(key ?? old), what }));
    const buttons = [...this.#dialog.querySelectorAll(`[data-keys-of=${action}] button`)];
    (buttons.find((button) => button.dataset.key === key) ?? buttons.at(-1)).focus();
  }

  // Esc leaves the key as it was; only the next one closes the dialog.
  #giveUp(event) {
    event.preventDefault();
    this.#stopListening();
    this.#say(gettext("The key is unchanged."));
  }

  #stopListening() {
    this.#waiting = null;
    for (const button of this.#dialog.querySelectorAll(".waiting")) button.classList.remove("waiting");
  }

  #reset() {
    this.#stopListening();
    this.#settings.resetKeys();
    this.#say(gettext("All keys are reset."));
  }

  #say(sentence) {
    this.#message.textContent = sentence;
  }
}
