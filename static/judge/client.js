// Client of one queue's HTTP interface, with the session cookie, for exactly one account.

import { filled, gettext } from "./words.js";

const TIMEOUT_MS = 20_000;

/**
 * A call that did not succeed. `kind` is "unreachable" (try again), "signed_out", "other_account", "shut_out"
 * (the queue is not this person's any more) or "refused". `told`: the server itself said what is wrong;
 * `full`: its disk has no room.
 */
export class Failure extends Error {
  constructor(kind, message, { told = false, full = false } = {}) {
    super(message);
    this.kind = kind;
    this.told = told;
    this.full = full;
  }
}

export class Client {
  /** `account`: the key of this page's user; responses for another session are rejected. */
  constructor(base, { account, formToken = "" }) {
    this.base = base;
    this.account = account;
    this.formToken = formToken;
  }

  claim(count) {
    return this.#post("claim/", { count });
  }

  /**
   * Send verdicts; answers `{results: [{key, status, detail}]}`, and with `claim` also what a claim of so
   * many items does; `items` is null where only that part failed.
   */
  judge(submissions, { claim = 0 } = {}) {
    return this.#post(claim ? `judgments/?claim=${claim}` : "judgments/", submissions);
  }

  /** Answer a practice question; this client's base is the address of the round. */
  practise(submission) {
    return this.#post("", submission);
  }

  /** `{total, answered, question}`: where this account is in the round; `question` is null at its end. */
  practiceRound() {
    return this.#call("", { method: "GET" });
  }

  skip(item, lease) {
    return this.#post("skip/", { item, lease });
  }

  message(item, text, key) {
    return this.#post("messages/", { item, text, key });
  }

  undo(key) {
    return this.#post("undo/", { key });
  }

  renew(leases) {
    return this.#post("renew/", { leases });
  }

  release(leases) {
    return this.#post("release/", { leases });
  }

  /**
   * `{verdicts: [{document, title, verdict}], alike: [{document, like, share}]}`: this account's own on a query,
   * oldest first, and which of these documents are nearly the same as one of them.
   */
  ownVerdicts(query, documents) {
    const asked = new URLSearchParams([["query", query], ...documents.map((one) => ["document", one])]);
    return this.#call(`own-verdicts/?${asked}`, { method: "GET" });
  }

  /** Send while the page is being left, without waiting for the response. */
  partingCall(path, body) {
    fetch(this.base + path, { ...this.#common(), ...this.#request(body), keepalive: true }).catch(() => {});
  }

  #post(path, body) {
    return this.#call(path, this.#request(body));
  }

  // Each response has the time of the request (by this page's clock) and of the answer (by the server's clock).
  async #call(path, request) {
    const askedAt = performance.now();
    let response;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      response = await fetch(this.base + path, { ...this.#common(), ...request, signal });
    } catch {
      const why = navigator.onLine ? gettext("The server is not responding.") : gettext("You are offline.");
      throw new Failure("unreachable", why);
    }
    const answer = await response.json().catch(() => null);
    if (!response.ok) throw failureOf(response.status, answer);
    return { ...answer, askedAt, serverTime: Date.parse(response.headers.get("Date")) };
  }

  #request(body) {
    return { method: "POST", body: JSON.stringify(body) };
  }

  #common() {
    return {
      credentials: "same-origin",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        "X-CSRFToken": this.#token(),
        "X-Account": String(this.account),
        "X-Language": document.documentElement.lang,
      },
    };
  }

  // The cookie is newer than the form when somebody signed in again in another tab.
  #token() {
    const cookie = document.cookie.split("; ").find((pair) => pair.startsWith("csrftoken="));
    return cookie ? cookie.slice("csrftoken=".length) : this.formToken;
  }
}

function failureOf(status, answer) {
  const detail = answer?.detail || filled(gettext("The server answered with {status}."), { status });
  const told = Boolean(answer?.detail);
  if (status === 401) return new Failure("signed_out", gettext("You are signed out."));
  if (status === 409 && answer?.signed_in) return new Failure("other_account", detail, { told });
  // Another sign-in may have replaced the form token; the next attempt reads it again.
  if (status === 403 && detail.startsWith("CSRF")) return new Failure("unreachable", detail);
  if (status === 403 || status === 404) return new Failure("shut_out", detail, { told });
  if (status === 507) return new Failure("unreachable", gettext("The server's disk is full."), { told, full: true });
  if (status >= 500 || status === 408 || status === 429) return new Failure("unreachable", detail, { told });
  return new Failure("refused", detail, { told });
}
