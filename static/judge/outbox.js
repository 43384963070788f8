// Operations that the server has not acknowledged yet, in order: each is written
// to the store first, then sent, one after the other, and retried until it arrives.

import { Failure } from "./client.js";
import { MemoryStore } from "./store.js";
import { gettext } from "./words.js";

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
const VERDICTS_AT_ONCE = 20;

/**
 * Events: "change" (state or length), "done" (detail: {operation, answer}), "refused" (detail: {operation,
 * reason}), "state" (detail: the queue's, as the answer to verdicts has it).
 */
export class Outbox extends EventTarget {
  #client;
  #store;
  #entries = [];
  #sending = false;
  #retryTimer = null;
  #failures = 0;
  #passenger = null;

  constructor(client, store = new MemoryStore()) {
    super();
    this.#client = client;
    this.#store = store;
    this.failure = null;
    window.addEventListener("online", () => this.sendNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.sendNow());
  }

  /** Take over operations left by earlier pages and return them; they may already have been sent. */
  async open() {
    try {
      const operations = await this.#store.load();
      this.#entries = operations.map((operation) => ({ operation, tried: true, kept: Promise.resolve() }));
    } catch {
      this.#forgetful();
    }
    return this.#entries.map(({ operation }) => operation);
  }

  /** Whether waiting operations survive a crash of the page. */
  get isLasting() {
    return !(this.#store instanceof MemoryStore);
  }

  /** How many verdicts, skips and undos the server has not acknowledged. */
  get length() {
    return this.#entries.length;
  }

  holds(item) {
    return this.#entries.some(({ operation }) => operation.item === item && operation.kind !== "undo");
  }

  add(operation) {
    const kept = this.#store.add(operation).catch(() => this.#forgetful());
    this.#entries.push({ operation, tried: false, kept });
    this.#changed();
    if (this.#retryTimer === null) this.#pump();
  }

  /** Remove an operation that was never sent; false if the server may already know it. */
  withdraw(key) {
    const entry = this.#entries.find(({ operation, tried }) => operation.key === key && !tried);
    if (!entry) return false;
    this.#entries = this.#entries.filter((other) => other !== entry);
    this.#takeFromStore(entry);
    if (!this.#canCarry()) this.putDown();
    this.#changed();
    return true;
  }

  /**
   * Let the next call that sends verdicts claim `count` items too, one request instead of two. Resolves to
   * its answer, or to null where no such call comes; rejects as the call does. One at a time.
   */
  bring(count) {
    if (this.#passenger || !this.#canCarry()) return Promise.resolve(null);
    return new Promise((resolve, reject) => (this.#passenger = { count, resolve, reject }));
  }

  /** Cancel the claim attached to the next call. */
  putDown() {
    this.#passenger?.resolve(null);
    this.#passenger = null;
  }

  sendNow() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    return this.#pump();
  }

  /** The verdicts that can be sent in one last call, because no undo or skip precedes them. */
  partingVerdicts() {
    return leadingVerdicts(this.#entries).map(submissionOf);
  }

  async #pump() {
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#entries.length && this.#retryTimer === null) await this.#sendFirst();
    } finally {
      this.#sending = false;
    }
  }

  async #sendFirst() {
    await this.#entries[0].kept;
    if (!this.#entries.length) return;
    const verdicts = leadingVerdicts(this.#entries);
    const sent = verdicts.length ? verdicts : this.#entries.slice(0, 1);
    for (const entry of sent) entry.tried = entry.underWay = true;
    await Promise.all(sent.map((entry) => entry.kept));
    const passenger = verdicts.length ? this.#passenger : null;
    if (passenger) this.#passenger = null;
    try {
      const { answers, ...answer } = await this.#call(sent, passenger);
      this.#failures = 0;
      this.failure = null;
      sent.forEach((entry, place) => this.#settle(entry, answers[place]));
      if (answer.state) this.dispatchEvent(new CustomEvent("state", { detail: answer }));
      if (answer.items) passenger?.resolve(answer);
      else passenger?.reject(new Failure("unreachable", gettext("The server could not fetch more documents.")));
    } catch (failure) {
      for (const entry of sent) entry.underWay = false;
      passenger?.reject(failure);
      this.putDown();
      const isVerdict = sent[0].operation.kind === "verdict";
      if (failure.kind === "refused" && !isVerdict) this.#refuse(sent[0], failure.message);
      else this.#tryLater(failure);
    }
    this.#changed();
  }

  // `answers` has one entry per operation, in order, plus the result of an attached claim.
  async #call(sent, passenger) {
    const { kind, item, lease, undoes } = sent[0].operation;
    if (kind === "skip") return { answers: [await this.#client.skip(item, lease)] };
    if (kind === "undo") return { answers: [await this.#client.undo(undoes)] };
    const claim = passenger?.count;
    const { results = [], ...rest } = await this.#client.judge(sent.map(submissionOf), { claim });
    const refusal = { status: "rejected", detail: "" };
    const answerTo = ({ operation: { key } }) => results.find((result) => result.key === key) ?? refusal;
    return { ...rest, answers: sent.map(answerTo) };
  }

  // Whether the next call carries verdicts: nothing has failed, and no undo or skip precedes them.
  #canCarry() {
    const next = this.#entries.find((entry) => !entry.underWay);
    return this.#retryTimer === null && next?.operation.kind === "verdict";
  }

  #settle(entry, answer) {
    if (answer.status === "rejected") return this.#refuse(entry, answer.detail);
    this.#remove(entry);
    this.dispatchEvent(new CustomEvent("done", { detail: { operation: entry.operation, answer } }));
  }

  #refuse(entry, reason) {
    this.#remove(entry);
    this.dispatchEvent(new CustomEvent("refused", { detail: { operation: entry.operation, reason } }));
  }

  #remove(entry) {
    this.#entries = this.#entries.filter((other) => other !== entry);
    this.#store.remove(entry.operation.key).catch(() => {});
  }

  // Another tab may have assumed this page was gone and sent the verdict: then undo it on the server.
  async #takeFromStore({ operation, kept }) {
    await kept;
    const wasThere = await this.#store.remove(operation.key).catch(() => true);
    if (wasThere || !this.isLasting) return;
    this.add({ kind: "undo", key: `u-${operation.key}`, undoes: operation.key });
  }

  #tryLater(failure) {
    if (!failure.kind) throw failure;
    this.failure = failure;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => this.sendNow(), wait);
  }

  // The disk may be full or storage disabled: from then on, operations are kept in memory.
  #forgetful() {
    this.#store = new MemoryStore();
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

function leadingVerdicts(entries) {
  const end = entries.findIndex(({ operation }) => operation.kind !== "verdict");
  return entries.slice(0, end < 0 ? VERDICTS_AT_ONCE : Math.min(end, VERDICTS_AT_ONCE));
}

function submissionOf({ operation: { kind, title, ...submission } }) {
  return submission;
}
