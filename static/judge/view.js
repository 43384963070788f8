// Everything the annotator sees and hears. Outside text is only ever inserted as text nodes.

import { DocumentPane } from "./document_pane.js";
import { Hits } from "./hits.js";
import { paintCaps } from "./keys.js";
import { Reading } from "./reading.js";
import { SettingsDialog } from "./settings_dialog.js";
import {
  UNTITLED,
  VERDICTS,
  emptySentence,
  filled,
  gettext,
  isFinished,
  ngettext,
  progressParts,
  querySize,
  refusedSentence,
  shutOutSentence,
  stateSentence,
  verdicts,
} from "./words.js";

const KEY_PAUSE_MS = 120;
const POINTER_PAUSE_MS = 300;
const QUIET_SAVE_MS = 400;
const CHIPS = 3;
const OWN_SHOWN = 50;
// Characters, as the server has it.
const LONGEST_EVIDENCE = 2_000;
const STAGES = ["start", "document", "fetching", "empty", "paused", "break", "stopped"];
// Points of the document, as far as the window reaches, that are tried: one that is not covered is enough.
const SIGHTS = 5;

export class View {
  #parts = {};
  #acceptTimer = null;
  #saveTimer = null;
  #hits;
  #pane;
  #settings;
  #dialog;
  #sizes;
  #terms;
  #highlight;
  #guidelines;
  #selected = null;
  #selectedWords = "";

  constructor(root, { settings, sizes, terms = null, highlight = "none", guidelines = "" }) {
    this.root = root;
    this.shown = null;
    this.alikeVerdict = null;
    for (const part of root.querySelectorAll("[data-part]")) this.#parts[part.dataset.part] = part;
    this.form = this.#parts.form;
    this.#sizes = sizes;
    this.#terms = terms;
    this.#highlight = highlight;
    this.#guidelines = guidelines;
    this.#settings = settings;
    this.#hits = new Hits(this.#parts.text, this.#parts.hits);
    this.#pane = new DocumentPane(this.#parts, { painted: () => this.#hits.paintLater() });
    this.#dialog = new SettingsDialog(this.#parts.settings, settings);
    new Reading(root, this.#parts.reading, this.form.elements.csrfmiddlewaretoken.value);
    settings.addEventListener("change", () => this.#applySettings());
    this.#applySettings();
    this.#parts.guidelines?.addEventListener("click", (event) => {
      if (event.target === this.#parts.guidelines) this.#parts.guidelines.close();
    });
  }

  /** Whether the item has been on screen long enough for a key press, or longer for a tap, to be meant for it. */
  accepts(event) {
    const { accepts } = this.root.dataset;
    return !this.shown || accepts === "true" || (accepts === "keys" && !(event?.detail > 0));
  }

  /** Whether the document on screen is in sight; one that is not is brought there, for the next key or tap. */
  bringsDocument() {
    if (!this.shown || this.#seesDocument()) return true;
    this.#closeMore();
    this.#parts.document.scrollIntoView({ block: "start", behavior: "instant" });
    this.say(gettext("Look at the document first, then judge it."));
    return false;
  }

  #seesDocument() {
    const { top, bottom, left, width } = this.#parts.document.getBoundingClientRect();
    const [from, to] = [Math.max(top, 0), Math.min(bottom, window.innerHeight)];
    const isHit = (step) => {
      const y = from + ((to - from) * (step + 0.5)) / SIGHTS;
      return this.#parts.document.contains(document.elementFromPoint(left + width / 2, y));
    };
    return to > from && [...Array(SIGHTS).keys()].some(isHit);
  }

  /** Read what the server rendered. */
  adopt(item) {
    this.shown = item;
    this.reveal(null);
    this.#enable(Boolean(item));
    if (!item) return;
    this.#pane.adopt(item.document, this.form.elements.shown.value === "document");
    if (item.document.passage && this.#settings.switches.whole) this.#pane.paint(item.document, true);
    this.#paintTerms();
    if (item.document.sentence) this.#pane.evidence = null;
    this.root.dataset.accepts = "true";
  }

  /** What the verdict on the current item is based on. */
  get shownExtent() {
    return this.#pane.shown;
  }

  /** What stood out on screen, to be stored with the verdict. */
  get highlighted() {
    if (!this.#settings.switches.highlight || this.#highlight === "none") return "none";
    return this.#pane.isTinted ? "sentence" : "terms";
  }

  /** The card before the first document. */
  start() {
    this.#clear();
    this.#stage("start");
    const { start, begin } = this.#parts;
    begin.focus();
    // A click anywhere takes the focus from the button, which says that Enter presses it.
    document.addEventListener("keydown", ({ key, target }) => {
      if (key === "Enter" && !start.hidden && !target.closest("a, button, dialog")) begin.click();
    });
  }

  /** Paint an item; false when it is on screen already. */
  show(item, said = "") {
    const same = this.shown?.item === item.item && this.shown.version === item.version;
    this.shown = item;
    if (same) return false;
    this.#stage("document");
    this.#paintQuery(item.query);
    this.#paintProposal(item.prelabel);
    this.#pane.paint(item.document, this.#settings.switches.whole);
    this.#paintTerms();
    this.#paintEvidence();
    this.#closePanels();
    this.restoreNote("");
    this.#enable(true);
    this.#afterPaint();
    this.#parts.title.focus({ preventScroll: true });
    const title = item.document.title || gettext("a document without a title");
    const next = ended(filled(said ? gettext("Next: {title}.") : gettext("{title}."), { title }));
    const verdict = item.prelabel ? VERDICTS[item.prelabel.verdict] : "";
    const proposed = verdict && filled(gettext("A model suggests: {verdict}."), { verdict });
    this.say([said, next, proposed].filter(Boolean).join(" "));
    return true;
  }

  /** Ask whether to keep the verdict of `operation`, which a model contradicts; null: stop asking. */
  reveal(operation, prelabel) {
    if (!this.#parts.reveal) return;
    this.#parts.reveal.hidden = !operation;
    if (!operation) return;
    const [said, proposed] = [VERDICTS[operation.verdict], VERDICTS[prelabel.verdict]];
    paintVerdict(this.#parts.reveal_said, operation.verdict);
    paintVerdict(this.#parts.reveal_proposed, prelabel.verdict);
    this.#parts.reveal_title.textContent = operation.title || UNTITLED;
    this.#parts.reveal_reasoning.textContent = prelabel.reasoning;
    this.#parts.reveal_model.textContent = prelabel.model;
    this.#parts.reveal_change.textContent = proposed;
    const wording = gettext("You said {said}; a model says {proposed}. Keep or change your verdict; judging on keeps it.");
    this.say(filled(wording, { said, proposed }));
  }

  fetching() {
    this.#clear();
    this.#parts.fetching_sign_in.hidden = true;
    this.#parts.fetching_text.textContent = gettext("Fetching the next document …");
    this.#stage("fetching");
  }

  claimFailed(failure) {
    this.#clear();
    const wording =
      failure.kind === "refused"
        ? gettext("Could not fetch a document: {why}")
        : gettext("Could not fetch a document: {why} Trying again.");
    this.#parts.fetching_text.textContent = filled(wording, { why: failure.message });
    this.#parts.fetching_sign_in.hidden = failure.kind !== "signed_out";
    this.#stage("fetching");
  }

  empty(empty, serverTime) {
    this.#clear();
    const sentence = emptySentence(empty, serverTime);
    const { empty: card, empty_text: text, look_again: lookAgain, back, measure } = this.#parts;
    text.textContent = sentence;
    const finished = isFinished(empty);
    if (measure) measure.hidden = !finished;
    lookAgain.classList.toggle("primary", !finished);
    back.classList.toggle("primary", finished && !measure);
    this.#linkAway(empty?.state);
    this.queueState({ state: "open" }); // the sentence says it
    const isNew = card.hidden;
    this.#stage("empty");
    if (isNew) (finished ? back : lookAgain).focus();
    this.say(sentence);
  }

  /** What the queue is by now, while its documents are still judged, and whether the guidelines on the page are old. */
  queueState({ state, guidelines = this.#guidelines }) {
    const isChanged = guidelines !== this.#guidelines;
    const changed = isChanged ? gettext("The guidelines have changed. Reload this page to read them.") : "";
    this.#parts.queue_state.textContent = [stateSentence(state), changed].filter(Boolean).join(" ");
    this.#parts.queue_state.hidden = state === "open" && !isChanged;
    this.#linkAway(state);
  }

  // A deleted queue has no page to go back to.
  #linkAway(state) {
    if (state !== "deleted") return;
    const { brand, back, away } = this.#parts;
    [brand.href, brand.title, back.hidden, away.hidden] = [away.href, away.textContent, true, false];
  }

  /** The page cannot continue: another account is signed in, or this person lost access to the queue. */
  stop(failure, waiting) {
    this.#clear();
    const kept = ngettext(
      "{count} verdict of yours waits in this browser.",
      "{count} verdicts of yours wait in this browser.",
      waiting,
    );
    const isOther = failure.kind === "other_account";
    this.#parts.stopped_text.textContent = [
      isOther ? failure.message : shutOutSentence(failure),
      waiting ? filled(kept, { count: waiting }) : "",
      gettext("Verdicts are only ever sent under your name."),
    ].filter(Boolean).join(" ");
    this.#stage("stopped");
    this.#closeHistory();
    this.say(this.#parts.stopped_text.textContent);
  }

  rest(sentence, nextQuery) {
    this.#clear();
    this.#parts.break_text.textContent = sentence;
    this.#parts.break_next.textContent = filled(gettext("Next: {query}"), { query: nextQuery });
    this.#stage("break");
    this.#parts.go_on.focus();
    this.say(`${gettext("Time for a short break.")} ${sentence}`);
  }

  pause(returned, queryIsDone) {
    this.#clear();
    this.stopsAfter(false);
    const wording = ngettext("{count} document returned to the queue.", "{count} documents returned to the queue.", returned);
    this.#parts.paused_title.textContent = queryIsDone ? gettext("This query is done") : gettext("Paused");
    this.#parts.paused_text.textContent = returned ? filled(wording, { count: returned }) : "";
    this.#stage("paused");
    this.#closeHistory();
    this.#parts.resume.focus();
    this.say(queryIsDone ? gettext("This query is done. Paused.") : gettext("Paused."));
  }

  /** Whether the page will pause at the end of this query. */
  stopsAfter(on) {
    this.#parts.stop_after.setAttribute("aria-pressed", String(on));
  }

  saveState(waiting, failure) {
    this.root.dataset.waiting = waiting;
    clearTimeout(this.#saveTimer);
    const calm = waiting > 0 && !failure;
    this.#saveTimer = setTimeout(() => this.#paintSaveState(waiting, failure), calm ? QUIET_SAVE_MS : 0);
  }

  progress(counts) {
    const parts = progressParts(counts).map(([name, words], place) => {
      const part = Object.assign(document.createElement("span"), { textContent: place ? ` · ${words}` : words });
      part.dataset.count = name;
      return part;
    });
    this.#parts.progress.replaceChildren(...parts);
  }

  /** Show the last verdicts so that they can be reopened; undo reopens the last one. */
  last(history) {
    this.#parts.undo.disabled = history.length === 0;
    this.#parts.last.replaceChildren(...history.slice(-CHIPS).map(chip));
  }

  refused(operation, reason) {
    this.trouble(refusedSentence({ operation, reason }));
  }

  /** Say what went wrong, where it is seen. */
  trouble(sentence) {
    this.#parts.notice.textContent = sentence;
    this.#parts.notice.hidden = false;
    this.say(sentence);
  }

  /** In practice: the pair stays, with the answer and the passage that decides it; undefined: ask again. */
  explain(passage) {
    const on = passage !== undefined;
    this.root.classList.toggle("judging-explained", on);
    this.#parts.answer.hidden = this.#parts.next.hidden = !on;
    this.#parts.notice.hidden = true;
    this.#closePanels();
    this.#enable(!on);
    if (!on) return;
    if (passage) this.#pane.decide(passage);
    this.#afterPaint();
    this.#parts.next.focus({ preventScroll: true });
  }

  /** Show a remark (not an error) until the page is left. */
  remark(sentence) {
    this.#parts.others.textContent = `${this.#parts.others.textContent} ${sentence}`.trim();
    this.#parts.others.hidden = false;
  }

  /** Speak to a screen reader. */
  say(sentence) {
    this.#parts.live.textContent = sentence;
  }

  // --- Note, reasons, guidelines, help

  get choosing() {
    return this.#parts.reasons.open;
  }

  toggleReasons(open = !this.#parts.reasons.open) {
    this.#parts.note.open = false;
    this.#parts.reasons.open = open && Boolean(this.shown);
    if (this.#parts.reasons.open) this.#parts.reasons.querySelector("button").focus();
    else this.#parts.title.focus({ preventScroll: true });
  }

  reason(number) {
    return this.#parts.reasons.querySelectorAll("button")[number - 1].value;
  }

  openNote() {
    if (!this.shown) return;
    this.#parts.reasons.open = false;
    this.#parts.note.open = true;
    this.#parts.note_text.focus();
  }

  /** Enter keeps the note, Escape discards it. */
  listenToNote() {
    const text = this.#parts.note_text;
    text.addEventListener("input", () => this.noteChanged());
    text.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") this.closeNote({ keep: false });
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        this.closeNote({ keep: true });
      }
    });
  }

  /** Close the note; its text is kept for the next verdict unless discarded. */
  closeNote({ keep }) {
    if (!keep) this.#parts.note_text.value = "";
    this.#parts.note.open = false;
    this.noteChanged();
    this.#parts.title.focus({ preventScroll: true });
  }

  noteChanged() {
    this.#parts.note_kept.hidden = !this.#parts.note_text.value.trim();
  }

  takeNote() {
    const note = this.#parts.note_text.value.trim();
    this.restoreNote("");
    return note;
  }

  restoreNote(note) {
    this.#parts.note_text.value = note;
    this.noteChanged();
  }

  // --- One's own verdicts on the query

  /** The list next to the document, newest first. */
  ownVerdicts(given) {
    this.#parts.own.hidden = !given.length;
    this.#parts.own_count.textContent = given.length;
    this.#parts.own_list.replaceChildren(...given.slice(0, OWN_SHOWN).map(ownLine));
  }

  /** A document of the query that is nearly the same, with the verdict on it; null: none. */
  alike(other) {
    this.alikeVerdict = other?.verdict ?? null;
    this.#parts.alike.hidden = !other;
    const title = other?.title || gettext("untitled document");
    const wording = gettext("Nearly the same as “{title}”, which you called {verdict}.");
    this.#parts.alike_word.textContent = other ? filled(wording, { title, verdict: VERDICTS[other.verdict] }) : "";
  }

  // --- Evidence, and words of one's own

  /** The span that goes with a relevant verdict, or null. */
  get evidence() {
    return this.shown ? this.#pane.evidence : null;
  }

  restoreEvidence(span) {
    this.#pane.evidence = span;
    this.#paintEvidence();
  }

  /** Take the selection, else the strongest sentence; with neither, drop what was taken. */
  toggleEvidence() {
    if (!this.shown) return;
    const selected = this.#pane.selection ?? this.#selected;
    const taken = this.#pane.evidence;
    const span = selected ?? (taken ? null : this.#pane.sentence);
    if (!span && !taken) return this.say(gettext("Select the words that decide, then mark them as evidence."));
    if (span && span[1] - span[0] > LONGEST_EVIDENCE) {
      return this.say(gettext("Select the sentence that decides; this is too long."));
    }
    document.getSelection()?.removeAllRanges();
    this.#selected = null;
    this.restoreEvidence(span);
    this.say(span ? filled(gettext("Evidence: {quote}"), { quote: this.#pane.quote(span) }) : gettext("No evidence."));
  }

  /** Mark words in all documents of the query, or no longer; without `words`, the selected ones. */
  toggleTerm(words = this.#pane.selectedWords || this.#selectedWords) {
    if (!this.shown) return;
    this.say(this.#terms.toggle(this.shown.query.id, words));
    document.getSelection()?.removeAllRanges();
    this.#paintTerms();
  }

  /** Offer to mark what is selected. A tap on the offer may end the selection, so it is remembered. */
  listenToSelection() {
    document.addEventListener("selectionchange", () => {
      const words = this.shown ? this.#pane.selectedWords : "";
      if (!words && this.#parts.evidence_line.matches(":hover, :focus-within")) return;
      this.#selectedWords = words;
      this.#selected = words ? this.#pane.selection : null;
      this.#paintEvidence();
    });
    this.#parts.evidence_line.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  #paintEvidence() {
    const line = this.#parts.evidence_line;
    if (!line) return;
    const span = this.#pane.evidence;
    const isOffered = Boolean(this.#selected);
    line.hidden = !span && !this.#selectedWords;
    this.#parts.evidence_quote.hidden = !span || isOffered;
    this.#parts.evidence_quote.textContent = span ? this.#pane.quote(span) : "";
    this.#parts.evidence_button.hidden = !span && !isOffered;
    this.#parts.evidence_word.textContent = isOffered ? gettext("Mark as evidence") : gettext("Remove evidence");
    this.#parts.term_button.hidden = !this.#selectedWords;
  }

  #paintTerms() {
    if (!this.#terms || !this.shown) return;
    const terms = this.#terms.of(this.shown.query.id);
    this.#parts.terms.hidden = !terms.length;
    this.#parts.terms.replaceChildren(...terms.map(termChip));
    this.#pane.terms = terms;
  }

  get hasGuidelines() {
    return Boolean(this.#parts.guidelines);
  }

  /** A sheet over the document; nothing can be judged while it is open. */
  toggleGuidelines() {
    const sheet = this.#parts.guidelines;
    if (!sheet) return;
    if (sheet.open) return sheet.close();
    sheet.showModal();
    sheet.querySelector("h2").focus();
  }

  /** On narrow screens, the whole query with its narrative, or two lines of it. */
  toggleQuery() {
    const open = this.#parts.query_column.classList.toggle("is-open");
    this.#parts.more.setAttribute("aria-expanded", String(open));
    this.#parts.more.firstChild.textContent = open ? gettext("less") : gettext("more");
    if (open) window.scrollTo(0, 0);
  }

  #closeMore() {
    if (this.#parts.query_column.classList.contains("is-open")) this.toggleQuery();
  }

  /** Opens in a separate tab; nothing changes here. */
  openSearch() {
    if (!this.#parts.search_area.hidden) this.#parts.search.click();
  }

  openSettings() {
    this.#dialog.open();
  }

  toggleExtent() {
    if (this.shown && this.#pane.toggle()) this.say(this.#parts.extent_word.textContent);
  }

  /** To the next place with words of the query (-1: the one before), in the whole document. */
  stepToHit(direction) {
    if (!this.shown) return;
    if (!this.#pane.whole) this.#pane.toggle();
    const { number, count } = this.#hits.step(direction);
    const nowhere = count ? gettext("No more places with hits.") : gettext("No hits.");
    this.say(number ? filled(gettext("Place {number} of {count}."), { number, count }) : nowhere);
  }

  toggleHighlight() {
    this.#settings.turn("highlight", !this.#settings.switches.highlight);
    this.say(this.#settings.switches.highlight ? gettext("Highlighting is on.") : gettext("Highlighting is off."));
  }

  // --- Painting

  #paintQuery(query) {
    this.#parts.query.textContent = query.text;
    this.#parts.query.dataset.length = querySize(query.text, this.#sizes);
    const { search } = this.#parts;
    search.href = `${search.dataset.address}?query=${encodeURIComponent(query.id)}`;
    this.#parts.narrative.textContent = query.narrative ?? "";
    this.#parts.narrative.hidden = !query.narrative;
    this.#closeMore();
    window.scrollTo(0, 0);
  }

  #paintProposal(prelabel) {
    this.#parts.proposal.hidden = !prelabel;
    if (!prelabel) return;
    paintVerdict(this.#parts.proposal_verdict, prelabel.verdict);
    this.#parts.proposal_reasoning.textContent = prelabel.reasoning;
    this.#parts.proposal_reasoning.hidden = !prelabel.reasoning;
    this.#parts.proposal_model.textContent = prelabel.model;
  }

  #stage(name) {
    for (const stage of STAGES) this.#parts[stage].hidden = stage !== name;
    const idle = name !== "document" && name !== "fetching";
    this.#parts.query_area.hidden = idle;
    this.#parts.search_area.hidden = idle;
    if (name !== "document") this.#parts.proposal.hidden = true;
    this.root.classList.toggle("judging-idle", idle && name !== "start");
    this.root.classList.toggle("judging-starting", name === "start");
  }

  #clear() {
    this.shown = null;
    this.root.dataset.accepts = "false";
    clearTimeout(this.#acceptTimer);
    this.#closePanels();
    this.#enable(false);
  }

  #closePanels() {
    this.#parts.reasons.open = false;
    this.#parts.note.open = false;
    if (this.#parts.message) this.#parts.message.open = false;
  }

  #enable(on) {
    for (const button of this.form.querySelectorAll("[data-needs-item]")) button.disabled = !on;
    // Practice has no messages.
    for (const panel of [this.#parts.reasons, this.#parts.note, this.#parts.message].filter(Boolean)) {
      panel.inert = !on;
      panel.querySelector("summary").setAttribute("aria-disabled", String(!on));
    }
  }

  // Until `last` shows the verdicts again.
  #closeHistory() {
    this.#parts.undo.disabled = true;
    for (const button of this.#parts.last.querySelectorAll("button")) button.disabled = true;
  }

  #afterPaint() {
    this.root.dataset.accepts = "false";
    clearTimeout(this.#acceptTimer);
    const accept = (what, pause, then) => {
      this.#acceptTimer = setTimeout(() => {
        this.root.dataset.accepts = what;
        then?.();
      }, pause);
    };
    requestAnimationFrame(() => accept("keys", KEY_PAUSE_MS, () => accept("true", POINTER_PAUSE_MS - KEY_PAUSE_MS)));
  }

  #paintSaveState(waiting, failure) {
    const state = this.#parts.save_state;
    state.dataset.state = failure ? "trouble" : waiting ? "waiting" : "saved";
    state.replaceChildren(saveSentence(waiting, failure));
    if (failure?.kind !== "signed_out") return;
    const link = document.createElement("a");
    Object.assign(link, { href: state.dataset.signIn, target: "_blank", textContent: gettext("Sign in again") });
    state.append(" ", link);
  }

  #applySettings() {
    const { switches } = this.#settings;
    this.root.classList.toggle("no-marks", !switches.highlight);
    paintCaps(this.root, this.#settings);
    const [first, second] = switches.swapped ? ["relevant", "not-relevant"] : ["not-relevant", "relevant"];
    const buttons = (name) => this.form.querySelector(`.verdict-button.${name}`);
    if (buttons(first).nextElementSibling !== buttons(second)) buttons(first).after(buttons(second));
  }
}

// A title that ends as a sentence does keeps its own mark alone.
function ended(sentence) {
  return sentence.replace(/([.!?…。！？।]["')\]”’»]*)\.$/u, "$1");
}

function chip({ key, verdict, title }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `chip verdict-${verdict}`;
  button.dataset.reopen = key;
  const name = title || gettext("untitled document");
  button.title = filled(gettext("Judge again: {title}"), { title: name });
  const word = document.createElement("span");
  word.className = "visually-hidden";
  word.textContent = `${filled(gettext("Judge again, {verdict}:"), { verdict: VERDICTS[verdict] })} `;
  button.append(word, isolated(name));
  return button;
}

function ownLine({ title, verdict }) {
  const line = document.createElement("li");
  const word = document.createElement("strong");
  paintVerdict(word, verdict);
  line.append(word, " ", isolated(title || gettext("untitled document")));
  return line;
}

function termChip(term) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip";
  button.dataset.term = term;
  const word = document.createElement("span");
  word.className = "visually-hidden";
  word.textContent = `${gettext("No longer look for")} `;
  const cross = document.createElement("span");
  cross.ariaHidden = "true";
  cross.textContent = " ×";
  button.append(word, term, cross);
  return button;
}

// A title runs in its own direction, whatever stands around it.
function isolated(title) {
  return Object.assign(document.createElement("bdi"), { textContent: title });
}

function paintVerdict(part, verdict) {
  part.className = `verdict-${verdict}`;
  part.textContent = VERDICTS[verdict];
}

function saveSentence(waiting, failure) {
  const values = { count: waiting, why: failure?.message, verdicts: verdicts(waiting) };
  return filled(saveWording(waiting, failure), values);
}

function saveWording(waiting, failure) {
  const counted = ngettext("{count} waiting", "{count} waiting", waiting);
  if (!failure) return waiting ? counted : gettext("All saved");
  if (failure.kind === "signed_out") return ngettext("Signed out: {count} waiting.", "Signed out: {count} waiting.", waiting);
  if (["other_account", "shut_out"].includes(failure.kind)) return counted; // why stands in the middle of the page
  if (failure.full) return gettext("{why} {verdicts} kept here, sent when there is room");
  if (failure.told) return gettext("{why} {count} waiting, trying again");
  if (navigator.onLine) return gettext("No answer: {count} waiting, trying again");
  return gettext("Offline: {count} waiting, trying again");
}
