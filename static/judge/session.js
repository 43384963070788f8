// A judging session: the effects of verdict, skip, undo and pause on batch, outbox and screen.

import { VERDICTS, filled, gettext, titleOf } from "./words.js";

const UNDO_STEPS = 20;
const RECHECK_LEAST_MS = 5_000;
const RECHECK_MOST_MS = 300_000;
// After these failures the page cannot continue without the user.
const STOPPING = new Set(["other_account", "shut_out"]);

export class Session {
  #batch;
  #outbox;
  #client;
  #clock;
  #pace;
  #tabs;
  #view;
  #own;
  #history = [];
  #given = 0; // how many verdicts were put into the history
  #progress;
  #recheck = null;
  #lastQuery = null;
  #revealed = null;
  #undoing = new Map(); // by key, what the server has yet to say of
  #stopsAfter = null;
  #state = "working"; // or "starting", "paused", "resting", "stopped"

  constructor({ batch, outbox, client, clock, pace, tabs, view, own, recent, progress }) {
    this.#batch = batch;
    this.#outbox = outbox;
    this.#client = client;
    this.#clock = clock;
    this.#pace = pace;
    this.#tabs = tabs;
    this.#view = view;
    this.#own = own;
    this.#remember(...recent);
    this.#progress = progress;
    this.#listen();
  }

  /**
   * `item`: what the server already rendered, or null; `unsent`: operations left by earlier pages; `starting`:
   * the start card comes first.
   */
  start(item, unsent, { starting = false } = {}) {
    const known = new Set(this.#history.map(({ key }) => key));
    const missing = unsent.filter(({ kind, key }) => kind === "verdict" && !known.has(key));
    this.#remember(...missing);
    const shown = item && !this.#outbox.holds(item.item) ? item : null;
    if (shown) this.#batch.adopt(shown);
    this.#view.adopt(shown);
    if (shown) this.#own.enter(shown, this.#batch.items);
    if (item && !shown) this.#view.fetching();
    else if (item && starting) this.#beginLater();
    this.#clock.restart();
    this.#view.last(this.#history);
    this.#batch.refill();
    this.#outbox.sendNow();
  }

  /** Leave the start card. */
  begin() {
    this.#state = "working";
    this.#clock.restart();
    if (this.#batch.current) this.#showCurrent();
    else this.#wait();
  }

  get state() {
    return this.#state;
  }

  /** The verdict is for the item and version on screen. */
  judge(verdict, reason = "") {
    const item = this.#view.shown;
    if (!item) return;
    const operation = {
      kind: "verdict",
      key: newKey(),
      item: item.item,
      version: item.version,
      lease: item.lease,
      verdict,
      reason,
      note: this.#view.takeNote(),
      active_ms: this.#clock.read(),
      shown: this.#view.shownExtent,
      highlight: this.#view.highlighted,
      evidence: verdict === "relevant" ? this.#view.evidence : null,
      title: titleOf(item.document),
    };
    this.#count(1);
    this.#pace.count(operation.active_ms);
    this.#leave(item, operation, verdict);
  }

  skip() {
    const item = this.#view.shown;
    if (!item) return;
    this.#leave(item, { kind: "skip", key: newKey(), item: item.item, lease: item.lease }, "skip");
  }

  /** Undo the last verdict, or the one with `key`, and show its document again. */
  undo(key = this.#history.at(-1)?.key) {
    const entry = this.#history.find((other) => other.key === key);
    if (!entry) return this.#view.say(gettext("Nothing to undo."));
    this.#forgetRevealed();
    this.#history = this.#history.filter((other) => other !== entry);
    if (entry.verdict !== "skip") {
      if (entry.item?.document) this.#own.undone(entry.item.document.id);
      this.#count(-1);
      this.#pace.uncount();
    }
    // A skip needs no undo on the server: a verdict without a lease is still accepted.
    if (!this.#outbox.withdraw(entry.key) && entry.verdict !== "skip") {
      this.#outbox.add({ kind: "undo", key: newKey(), undoes: entry.key });
      this.#undoing.set(entry.key, entry);
    }
    if (this.#state === "resting") this.#state = "working";
    if (entry.item?.document) this.#bringBack(entry);
    else this.#showCurrent();
    this.#view.last(this.#history);
  }

  /** Keep the verdict that a model contradicts; judging on does the same. */
  keep() {
    if (!this.#revealed) return;
    this.#view.say(filled(gettext("Kept: {verdict}."), { verdict: VERDICTS[this.#revealed.operation.verdict] }));
    this.#forgetRevealed();
  }

  /** Change to the model's verdict: a second verdict on the same item; the first is kept. */
  change() {
    if (!this.#revealed) return;
    const { operation, verdict } = this.#revealed;
    this.#forgetRevealed();
    const afresh = { key: newKey(), reason: "", evidence: null, lease: null, active_ms: null };
    const changed = { ...operation, ...afresh, verdict };
    const last = this.#history.at(-1);
    this.#history = [...this.#history.slice(0, -1), { ...last, key: changed.key, verdict }];
    this.#outbox.add(changed);
    this.#view.last(this.#history);
    this.#view.say(filled(gettext("Changed: {verdict}."), { verdict: VERDICTS[verdict] }));
  }

  /** Toggle: pause at the end of the query on screen. */
  stopAfterQuery() {
    const query = this.#view.shown?.query.id;
    if (query === undefined) return;
    this.#stopsAfter = this.#stopsAfter === query ? null : query;
    this.#view.stopsAfter(this.#stopsAfter !== null);
    const goesOn = this.#stopsAfter === null;
    this.#view.say(goesOn ? gettext("Going on after this query.") : gettext("Stopping after this query."));
  }

  async pause({ queryIsDone = false } = {}) {
    this.#state = "paused";
    this.#forgetRevealed();
    this.#stopsAfter = null;
    const tokens = this.#batch.giveUp();
    this.#view.pause(tokens.length, queryIsDone);
    this.#tellProgress();
    if (tokens.length) await this.#client.release(tokens).catch(() => {});
  }

  resume() {
    this.#pace.restart();
    this.lookAgain();
  }

  /** Go on after a break card. */
  goOn() {
    this.#state = "working";
    if (this.#batch.current) this.#showCurrent();
    else this.lookAgain();
  }

  lookAgain() {
    this.#state = "working";
    clearTimeout(this.#recheck);
    this.#view.last(this.#history);
    this.#view.fetching();
    this.#batch.claimNow();
    this.#outbox.sendNow();
  }

  /** The page is being left: send what waits and return the leases of unjudged items. */
  part() {
    const verdicts = this.#outbox.partingVerdicts();
    if (verdicts.length) this.#client.partingCall("judgments/", verdicts);
    const tokens = this.#batch.giveUp();
    if (tokens.length) this.#client.partingCall("release/", { leases: tokens });
  }

  #listen() {
    this.#batch.addEventListener("change", () => this.#showCurrent());
    this.#batch.addEventListener("empty", ({ detail }) => this.#ranDry(detail));
    this.#batch.addEventListener("failure", ({ detail }) => this.#claimFailed(detail));
    this.#outbox.addEventListener("change", () => this.#outboxChanged());
    this.#outbox.addEventListener("done", ({ detail }) => this.#arrived(detail));
    this.#outbox.addEventListener("refused", ({ detail }) => this.#refused(detail));
    this.#outbox.addEventListener("state", ({ detail }) => this.#view.queueState(detail));
    this.#clock.addEventListener("alive", () => this.#state === "paused" || this.#batch.renewIfDue());
    this.#tabs.addEventListener("settled", ({ detail }) => this.#settledElsewhere(detail.item));
    this.#tabs.addEventListener("counted", ({ detail }) => this.#countedElsewhere(detail.step));
    window.addEventListener("online", () => this.#backAgain());
    document.addEventListener("visibilitychange", () => document.hidden || this.#backAgain());
  }

  #leave(item, operation, verdict) {
    this.#forgetRevealed();
    const { key, note = "", evidence = null } = operation;
    const entry = { key, verdict, title: titleOf(item.document), item, note, evidence };
    this.#remember(entry);
    if (verdict !== "skip") this.#own.judged(item, verdict);
    this.#outbox.add(operation);
    this.#tabs.settled(item.item);
    this.#batch.settle(item);
    this.#lastQuery = item.query.id;
    this.#view.last(this.#history);
    if (this.#isAtItsStop()) this.pause({ queryIsDone: true });
    else if (this.#pace.due && this.#batch.current) this.#rest();
    else if (this.#batch.current) this.#showCurrent(filled(gettext("Saved: {verdict}."), { verdict: VERDICTS[verdict] }));
    else this.#wait();
  }

  #remember(...entries) {
    const given = entries.map((entry) => ({ ...entry, given: this.#given++ }));
    this.#history = [...this.#history, ...given].slice(-UNDO_STEPS);
  }

  #beginLater() {
    this.#state = "starting";
    this.#view.start();
  }

  // Nothing is held: more is being fetched, or the last attempt failed and the next one follows.
  #wait() {
    if (this.#batch.failure) this.#view.claimFailed(this.#batch.failure);
    else this.#view.fetching();
    this.#tellProgress();
  }

  #rest() {
    this.#state = "resting";
    this.#view.rest(this.#pace.rest(), this.#batch.current.query.text);
    this.#tellProgress();
  }

  // The next item belongs to another query than the one to stop after.
  #isAtItsStop() {
    const next = this.#batch.current?.query.id;
    if (this.#stopsAfter === null || this.#lastQuery !== this.#stopsAfter) return false;
    return next !== undefined && next !== this.#stopsAfter;
  }

  #bringBack({ item, verdict, note, evidence }) {
    this.#lastQuery = null;
    this.#batch.putBack(item);
    this.#showCurrent(filled(gettext("Undone: {verdict}."), { verdict: VERDICTS[verdict] }));
    this.#view.restoreNote(note);
    if (evidence) this.#view.restoreEvidence(evidence);
  }

  #showCurrent(said = "") {
    if (this.#state !== "working" || !this.#batch.current) return;
    if (this.#isAtItsStop()) return this.pause({ queryIsDone: true });
    clearTimeout(this.#recheck);
    if (this.#view.show(this.#batch.current, said)) {
      this.#clock.restart();
      this.#own.enter(this.#batch.current, this.#batch.items);
    }
    this.#tellProgress();
  }

  #ranDry({ empty, serverTime }) {
    if (this.#state === "paused") return;
    this.#state = "working";
    if (this.#outbox.length) return this.#view.fetching();
    this.#progress.left = !empty || empty.state === "open" ? (empty?.leased ?? 0) : null;
    this.#view.empty(empty, serverTime);
    this.#tellProgress();
    clearTimeout(this.#recheck);
    if (!empty?.next_free_at) return;
    const wait = Date.parse(empty.next_free_at) - (serverTime || Date.now()) + 1_000;
    const bounded = Math.min(Math.max(wait, RECHECK_LEAST_MS), RECHECK_MOST_MS);
    this.#recheck = setTimeout(() => this.#batch.claimNow(), bounded);
  }

  // The connection or the tab is back: fetch what has run out.
  #backAgain() {
    if (this.#state === "working" && !this.#batch.current) this.#batch.claimNow();
  }

  #claimFailed(failure) {
    if (STOPPING.has(failure.kind)) this.#stop(failure);
    else if (this.#state === "working" && !this.#batch.current) this.#view.claimFailed(failure);
  }

  #stop(failure) {
    if (this.#state === "stopped") return;
    this.#state = "stopped";
    this.#forgetRevealed();
    this.#view.stop(failure, this.#outbox.length);
  }

  #outboxChanged() {
    const { length, failure } = this.#outbox;
    this.#view.saveState(length, failure);
    if (failure && STOPPING.has(failure.kind)) this.#stop(failure);
    if (length === 0 && !this.#batch.current && this.#state === "working") this.#batch.claimNow();
  }

  #arrived({ operation, answer }) {
    if (this.#state === "stopped") this.lookAgain();
    if (operation.kind === "undo") {
      this.#undoing.delete(operation.undoes);
      return this.#undone(answer);
    }
    this.#batch.acknowledged(operation.item);
    if (answer.prelabel) this.#reveal(operation, answer.prelabel);
  }

  // Ask at once or not at all: an annotator who has judged on has moved past this verdict.
  #reveal(operation, prelabel) {
    if (this.#state !== "working" || this.#history.at(-1)?.key !== operation.key) return;
    this.#revealed = { operation, verdict: prelabel.verdict };
    this.#view.reveal(operation, prelabel);
  }

  #forgetRevealed() {
    this.#revealed = null;
    this.#view.reveal(null);
  }

  // The server hands the undone item back with a new lease.
  #undone({ item, serverTime }) {
    if (!item) return;
    const held = this.#batch.items.some((other) => other.item === item.item);
    if (held) this.#batch.refresh(item, serverTime);
    else if (!this.#outbox.holds(item.item)) this.#batch.putBack(item);
    this.#showCurrent();
  }

  #refused({ operation, reason }) {
    this.#batch.acknowledged(operation.item);
    if (operation.kind === "verdict") {
      this.#history = this.#history.filter((entry) => entry.key !== operation.key);
      this.#count(-1);
      this.#view.last(this.#history);
    }
    if (operation.kind === "undo") {
      this.#stands(this.#undoing.get(operation.undoes));
      this.#undoing.delete(operation.undoes);
    }
    if (operation.kind !== "skip") this.#view.refused(operation, reason);
  }

  // An undo was refused: what it took back is as it was, unless the document was judged again meanwhile.
  #stands(entry) {
    if (!entry) return;
    const { item, verdict } = entry;
    const isBack = this.#batch.items.some((held) => held.item === item?.item);
    if (item && !isBack && this.#history.some((other) => other.item?.item === item.item)) return;
    // In the order in which they were given: others may have been undone, or come back, meanwhile.
    this.#history = [...this.#history, entry].sort((one, other) => one.given - other.given).slice(-UNDO_STEPS);
    this.#count(1);
    this.#view.last(this.#history);
    if (!isBack) return;
    this.#own.judged(item, verdict);
    this.#batch.settle(item);
    if (this.#batch.current) this.#showCurrent();
    else this.#wait();
  }

  // Two tabs of one person hold the same documents: do not show what was judged in the other tab.
  #settledElsewhere(number) {
    const item = this.#batch.items.find((held) => held.item === number);
    if (!item) return;
    const wasShown = this.#view.shown?.item === number;
    this.#batch.settle(item);
    if (wasShown) this.#lastQuery = item.query.id;
    this.#batch.acknowledged(number);
    if (wasShown && this.#batch.current) this.#showCurrent(gettext("Judged in the other tab."));
    else if (wasShown) this.#wait();
  }

  #count(step) {
    this.#addUp(step);
    this.#tabs.counted(step);
  }

  #countedElsewhere(step) {
    this.#addUp(step);
    this.#tellProgress();
  }

  #addUp(step) {
    this.#progress.done += step;
    this.#progress.done_today += step;
    if (this.#progress.left !== null) this.#progress.left = Math.max(0, this.#progress.left - step);
  }

  #tellProgress() {
    const query = this.#batch.current?.query.id;
    const leftInQuery = query === undefined ? null : this.#batch.leftIn(query);
    this.#view.progress({ ...this.#progress, left_in_query: leftInQuery });
  }
}

// crypto.randomUUID exists only on secure origins; a team's internal server may use plain HTTP.
export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
