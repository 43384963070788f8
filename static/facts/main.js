// Judging facts: keys, evidence, and choices that outlast a reload or a lost connection. The page works without it.

import { Client } from "../judge/client.js";
import { ActiveClock } from "../judge/clock.js";
import { Keys, paintCaps } from "../judge/keys.js";
import { painted, spanOf } from "../judge/layers.js";
import { rangeIn, selectedSpan, spanInSource } from "../judge/selecting.js";
import { Settings } from "../judge/settings.js";
import { SettingsDialog } from "../judge/settings_dialog.js";
import { Draft } from "./draft.js";

const RETRY_MS = 5_000;
const clock = new ActiveClock();
const settings = new Settings(document.body.dataset.account, "facts");
const dialog = new SettingsDialog(document.getElementById("keys"), settings);
let page = null;

class FactPage {
  constructor(root) {
    this.root = root;
    this.form = root.querySelector("#fact-form");
    this.text = root.querySelector("#fact-text");
    this.facts = this.form ? JSON.parse(root.querySelector("#fact-data").textContent) : [];
    this.document = this.form ? JSON.parse(root.querySelector("#fact-document").textContent) : null;
    this.focused = 0;
    this.waitsForDigit = false;
    if (!this.form) return;
    const { item } = this.form.elements;
    const { number } = this.form.querySelector(".facts-list").dataset;
    this.draft = new Draft(`${root.dataset.account}:${root.dataset.queue}:${item.value}:${number}`);
    this.draft.fill(this.form);
    this.facts.forEach((_, place) => this.showEvidence(place));
    const first = this.facts.findIndex((_, place) => !this.box(place).dataset.verdict);
    this.focus(Math.max(first, 0), { scroll: false });
    clock.restart();
  }

  box(place) {
    return this.form.querySelector(`.fact[data-place="${place + 1}"]`);
  }

  verdict(place) {
    return this.form.elements[`verdict-${place + 1}`].value;
  }

  say(place, verdict) {
    if (!this.facts[place]) return;
    this.form.elements[`verdict-${place + 1}`].value = this.verdict(place) === verdict ? "no" : verdict;
    this.changed(place);
  }

  changed(place) {
    if (!["supports", "partly"].includes(this.verdict(place))) this.form.elements[`evidence-${place + 1}`].value = "";
    this.showEvidence(place);
    this.focus(place);
    this.draft.keep(this.form);
  }

  /** The document supports none of the facts that have no verdict yet. */
  none() {
    this.facts.forEach((_, place) => {
      if (!this.verdict(place)) this.form.elements[`verdict-${place + 1}`].value = "no";
    });
    this.draft.keep(this.form);
  }

  focus(place, { scroll = true } = {}) {
    if (!this.facts[place]) return;
    this.focused = place;
    this.form.querySelectorAll(".fact").forEach((box) => box.classList.toggle("focused", box === this.box(place)));
    if (scroll) this.box(place).scrollIntoView({ block: "nearest", behavior: "instant" });
    this.paint();
  }

  paint() {
    if (this.document.html || !this.document.text) return;
    const { marks, sentence } = this.facts[this.focused];
    const layers = { words: marks, sentence, evidence: this.evidence(this.focused) };
    this.text.replaceChildren(...painted(spanOf(this.document.text), layers));
  }

  evidence(place) {
    const written = this.form.elements[`evidence-${place + 1}`].value;
    return written ? written.split("-").map(Number) : null;
  }

  /** What is selected of the document; else the sentence that is tinted for the fact. */
  span(place) {
    if (this.document.html) return spanInSource(this.text, rangeIn(this.text), this.document.text);
    const whole = { from: 0, to: Infinity, before: 0 };
    return this.selection ?? selectedSpan(this.text, whole) ?? this.facts[place].sentence;
  }

  startEvidence() {
    this.waitsForDigit = !this.waitsForDigit;
    // Painting another fact's words takes the selection away.
    this.selection = this.document.html ? null : selectedSpan(this.text, { from: 0, to: Infinity, before: 0 });
    this.root.querySelector("#facts-evidence").setAttribute("aria-pressed", String(this.waitsForDigit));
  }

  giveEvidence(place) {
    const span = this.facts[place] && this.span(place);
    this.startEvidence();
    if (!span) return;
    if (!["supports", "partly"].includes(this.verdict(place))) {
      this.form.elements[`verdict-${place + 1}`].value = "supports";
    }
    this.form.elements[`evidence-${place + 1}`].value = span.join("-");
    this.changed(place);
  }

  showEvidence(place) {
    const note = this.box(place).querySelector("[data-part=evidence]");
    const span = this.evidence(place);
    note.hidden = !span;
    if (span) note.textContent = `“${spanOf(this.document.text ?? "").cut(...span)}”`;
  }

  digit(number, { partly }) {
    if (this.waitsForDigit) return this.giveEvidence(number - 1);
    this.say(number - 1, partly ? "partly" : "supports");
  }

  /** Give the document back, for others to judge. */
  part() {
    const { api, account, lease } = this.root.dataset;
    const formToken = this.form?.elements.csrfmiddlewaretoken.value;
    if (this.form && lease) new Client(api, { account, formToken }).partingCall("", { lease });
  }

  send() {
    if (!this.form || this.form.querySelector(".facts-save").disabled) return;
    this.form.requestSubmit();
  }
}

function press(id) {
  document.getElementById(id)?.click();
}

// What a key does, by its action; the page may have no form, and no button for a step that cannot be taken.
const ACTIONS = {
  none: () => page?.form && page.none(),
  evidence: () => page?.form && page.startEvidence(),
  save: () => page?.send(),
  down: () => page?.form && page.focus(page.focused + 1),
  up: () => page?.form && page.focus(page.focused - 1),
  before: () => press("facts-before"),
  after: () => press("facts-after"),
  skip: () => press("facts-skip"),
  undo: () => press("facts-undo"),
  guidelines: () => press("facts-guidelines"),
  help: () => dialog.open(),
};

function trouble(kind, why = "") {
  const notice = document.getElementById("facts-trouble");
  notice.hidden = !kind;
  if (kind) notice.textContent = notice.dataset[kind].replace("{why}", () => why || notice.dataset.gone);
}

/** The sentence of a refusal: a page's, or the detail of what was sent under another name; empty for 404. */
function reasonOf({ status, responseText }) {
  if (status === 404) return "";
  try {
    return JSON.parse(responseText).detail;
  } catch {
    return new DOMParser().parseFromString(responseText, "text/html").querySelector(".lead")?.textContent.trim();
  }
}

let timer = null;
function again() {
  clearTimeout(timer);
  timer = setTimeout(() => page?.send(), RETRY_MS);
}

function start() {
  const root = document.getElementById("fact-page");
  page = root ? new FactPage(root) : null;
  paintCaps(document.querySelector(".judging"), settings);
}

const body = document.body;
body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt.id === "fact-form") detail.parameters.active_ms = clock.read();
});
body.addEventListener("htmx:sendError", () => {
  trouble("offline");
  again();
});
body.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
  if (xhr.status < 500) return trouble("refused", reasonOf(xhr));
  trouble("offline");
  again();
});
// Anything but a page of facts is the page to sign in.
body.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status === 200 && !detail.xhr.responseText.includes('id="fact-page"')) {
    detail.shouldSwap = false;
    trouble("signedOut");
  }
});
body.addEventListener("htmx:afterSwap", ({ detail }) => {
  clearTimeout(timer);
  trouble(null);
  const isRefused = document.querySelector("#fact-page > .warning");
  if (detail.requestConfig.elt.id === "fact-form" && !isRefused) page?.draft?.forget();
  page = null;
  window.scrollTo({ top: 0, behavior: "instant" });
});
// Not before: until then htmx does not know the new form, and Enter would load another page.
body.addEventListener("htmx:afterSettle", start);
body.addEventListener("change", ({ target }) => {
  const box = target.closest(".fact");
  if (box && page) page.changed(Number(box.dataset.place) - 1);
});
body.addEventListener("click", ({ target }) => {
  if (target.closest("#facts-evidence")) return page?.startEvidence();
  if (target.closest("#facts-keys")) return dialog.open();
  const box = target.closest(".fact");
  if (!box || !page) return;
  const place = Number(box.dataset.place) - 1;
  if (page.waitsForDigit) page.giveEvidence(place);
  else page.focus(place, { scroll: false });
});
new Keys({
  act: (name) => ACTIONS[name](),
  digit: (number, { shiftKey }) => page?.form && page.digit(number, { partly: shiftKey }),
  repeating: ["down", "up"],
  settings,
});
settings.addEventListener("change", () => paintCaps(document.querySelector(".judging"), settings));
window.addEventListener("pagehide", () => page?.part());
// A page that comes back as it was left holds nothing any more.
window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());
window.addEventListener("online", () => page?.send());
start();
