// A message to the admins from the pair on screen; its text stays until the server has it.

import { newKey } from "./session.js";
import { gettext } from "./words.js";

export class Message {
  #parts;
  #client;
  #view;
  #key = null;

  constructor(root, { client, view }) {
    const part = (name) => root.querySelector(`[data-part=${name}]`);
    this.#parts = { panel: part("message"), text: part("message_text"), told: part("message_told") };
    this.#client = client;
    this.#view = view;
    this.#parts.text.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#close();
    });
  }

  open() {
    if (!this.#view.shown) return;
    this.#parts.told.textContent = "";
    this.#parts.panel.open = true;
    this.#parts.text.focus();
  }

  async send() {
    const text = this.#parts.text.value.trim();
    const item = this.#view.shown?.item;
    if (!text || !item) return;
    // The same key until it is sent: what was sent already and only seemed to fail arrives once.
    this.#key ??= newKey();
    try {
      await this.#client.message(item, text, this.#key);
    } catch (failure) {
      this.#parts.told.textContent = failure.told ? failure.message : gettext("Not sent. Try again.");
      return;
    }
    this.#key = null;
    this.#parts.text.value = "";
    this.#close();
    this.#view.say(gettext("Message sent to the admins."));
  }

  #close() {
    this.#parts.panel.open = false;
    this.#parts.panel.querySelector("summary").focus();
  }
}
