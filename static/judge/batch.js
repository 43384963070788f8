// The items this page holds leases for: claimed ten at a time, refilled when five are left (by the call that
// sends the verdicts, where there are some), renewed while the annotator is active, returned on leaving. The
// first one is on screen.

const BATCH = 10;
const REFILL_AT = 5;
// Everything offered was already judged here and is being sent: the next offer will take this into account.
const SETTLING_MS = 300;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** Events: "change" (items came), "empty" (detail: the server's answer), "failure". */
export class Batch extends EventTarget {
  #client;
  #outbox;
  #leaseMs;
  #settledAt = new Map();
  #claiming = false;
  #givenUp = false;
  #stretch = 0;
  #dry = false;
  #retryTimer = null;
  #failures = 0;
  #renewing = false;
  #left = new Map();

  /** Lease times never use the client's clock. */
  constructor(client, outbox, { leaseSeconds }) {
    super();
    this.#client = client;
    this.#outbox = outbox;
    this.#leaseMs = leaseSeconds * 1000;
    this.items = [];
    /** What the last try to fetch more failed with, or null. */
    this.failure = null;
  }

  get current() {
    return this.items[0] ?? null;
  }

  get following() {
    return this.items[1] ?? null;
  }

  /** How much of a query is left for the annotator, including the item on screen: the server's count, updated here. */
  leftIn(query) {
    return this.#left.get(query) ?? 0;
  }

  /** Add the item that came with the page. */
  adopt(item) {
    this.#left.set(item.query.id, item.query.left);
    this.items.push(this.#stamped(item));
  }

  /** Remove an item from the batch once the annotator is done with it. */
  settle(item) {
    this.items = this.items.filter((held) => held.item !== item.item);
    this.#settledAt.set(item.item, Infinity);
    this.#left.set(item.query.id, Math.max(0, this.leftIn(item.query.id) - 1));
    if (this.items.length === 0 || (this.items.length <= REFILL_AT && !this.#dry)) this.refill();
  }

  /** The server has acknowledged the item, so it may offer it again. */
  acknowledged(item) {
    if (this.#settledAt.has(item)) this.#settledAt.set(item, performance.now());
  }

  /** Bring an item back to the front, after an undo. */
  putBack(item) {
    if (this.#settledAt.delete(item.item)) this.#left.set(item.query.id, this.leftIn(item.query.id) + 1);
    this.items = [item, ...this.items.filter((held) => held.item !== item.item)];
    this.#dry = false;
  }

  /** Give a held item its new lease, from a response of this `serverTime`. */
  refresh(item, serverTime) {
    this.items = this.items.map((held) => (held.item === item.item ? this.#stamped(item, serverTime) : held));
  }

  async refill() {
    if (this.#claiming || this.#retryTimer !== null) return;
    this.#claiming = true;
    const stretch = this.#stretch;
    try {
      const answer = await this.#claim();
      this.#failures = 0;
      this.failure = null;
      if (stretch !== this.#stretch) this.#handBack(answer);
      else this.#receive(answer);
    } catch (failure) {
      if (!this.#givenUp) this.#tryLater(failure);
    } finally {
      this.#claiming = false;
    }
    if (stretch !== this.#stretch && !this.#givenUp) this.refill();
  }

  claimNow() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    this.#givenUp = false;
    this.#dry = false;
    return this.refill();
  }

  /** Call on user activity: renews leases when less than half of the time is left. */
  async renewIfDue() {
    const due = this.items.some((held) => held.lease && performance.now() > held.renewAt);
    if (!due || this.#renewing) return;
    this.#renewing = true;
    try {
      const tokens = this.items.map((held) => held.lease).filter(Boolean);
      this.#renewed(await this.#client.renew(tokens));
    } catch {
      // A verdict for an expired lease is accepted, and the next sign of life tries again.
    } finally {
      this.#renewing = false;
    }
  }

  /** Forget the batch and return its leases' tokens. */
  giveUp() {
    const tokens = this.items.map((held) => held.lease).filter(Boolean);
    this.items = [];
    this.#givenUp = true;
    this.#stretch += 1;
    this.#outbox.putDown();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    return tokens;
  }

  async #claim() {
    const brought = await this.#outbox.bring(BATCH);
    if (brought || this.#givenUp) return brought;
    return this.#client.claim(BATCH);
  }

  // Claimed before the annotator paused, so some of it was returned.
  #handBack(answer) {
    const tokens = (answer?.items ?? []).map((item) => item.lease).filter(Boolean);
    if (tokens.length) this.#client.release(tokens).catch(() => {});
  }

  #receive(answer) {
    const held = new Set(this.items.map((item) => item.item));
    const isNew = ({ item }) => !held.has(item) && this.#mayShow(item, answer.askedAt);
    const fresh = answer.items.filter(isNew);
    // A held item may have a new lease: the previous page returned the old one.
    for (const item of answer.items) if (held.has(item.item)) this.refresh(item, answer.serverTime);
    for (const { query } of fresh) if (!this.#left.has(query.id)) this.#left.set(query.id, query.left);
    this.items.push(...fresh.map((item) => this.#stamped(item, answer.serverTime)));
    this.#dry = fresh.length === 0;
    if (this.items.length) this.dispatchEvent(new Event("change"));
    else if (answer.items.length) this.#claimIn(SETTLING_MS);
    else this.dispatchEvent(new CustomEvent("empty", { detail: answer }));
  }

  // A late response does not bring back an item that the annotator has settled meanwhile.
  #mayShow(item, askedAt) {
    if (this.#outbox.holds(item)) return false;
    const settledAt = this.#settledAt.get(item);
    return settledAt === undefined || settledAt < askedAt;
  }

  // Leases that were not renewed have expired: only the item on screen stays.
  #renewed({ leases }) {
    const kept = new Set(leases.map(({ lease }) => lease));
    this.items = this.items
      .filter((held, place) => place === 0 || !held.lease || kept.has(held.lease))
      .map((held) => (kept.has(held.lease) ? this.#stamped(held) : held));
    if (this.items.length <= REFILL_AT) this.claimNow();
  }

  #tryLater(failure) {
    const wait = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures += 1;
    this.failure = failure;
    this.#claimIn(wait);
    this.dispatchEvent(new CustomEvent("failure", { detail: failure }));
  }

  #claimIn(wait) {
    this.#retryTimer = setTimeout(() => this.claimNow(), wait);
  }

  // A claim renews a lease only when half of it is over, so one that was held before may have less left.
  #stamped(item, serverTime) {
    const left = serverTime ? Date.parse(item.expires_at) - serverTime : Infinity;
    const renewIn = Math.min(left, this.#leaseMs) - this.#leaseMs / 2;
    return { ...item, renewAt: performance.now() + renewIn };
  }
}
