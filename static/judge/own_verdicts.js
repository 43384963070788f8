// What the annotator said of a query's documents so far: a list next to the document, and the verdict on one that
// is nearly the same. Only one's own; the document on screen is never in it, whatever was said of it before.

import { NEARLY, alikeness, runsOf } from "./alike.js";
import { titleOf } from "./words.js";

// Documents compared with one call, as the server has it.
const MOST_ASKED = 20;
const LONGEST_ADDRESS = 4_000;

export class OwnVerdicts {
  #client;
  #view;
  #query = null;
  #given = []; // {document, title, verdict, runs}: `runs` only of what was judged on this page
  #alike = new Map(); // of documents to come: {like, share} or null, as the server compared them with earlier verdicts
  #hasEarlier = false; // whether the query had verdicts before this page: later documents are compared with them
  #timer = null;

  constructor({ client, view }) {
    this.#client = client;
    this.#view = view;
  }

  /**
   * A document is on screen. What it takes comes after it is painted. `held`: the items that follow; one call
   * asks for all of the query, and others only where there are verdicts of earlier days to compare with.
   */
  enter(item, held = []) {
    clearTimeout(this.#timer);
    this.#view.alike(null);
    const isNew = item.query.id !== this.#query;
    if (isNew) this.#begin(item.query.id);
    this.#paint(item);
    if (isNew || (this.#hasEarlier && !this.#alike.has(item.document.id))) this.#fetch(item, held);
    this.#timer = setTimeout(() => this.#view.alike(this.#nearest(item)), 0);
  }

  judged({ document, query }, verdict) {
    if (query.id !== this.#query) return;
    const { id, text } = document;
    this.#given = [...this.#given, { document: id, title: titleOf(document), verdict, runs: runsOf(text ?? "") }];
  }

  undone(document) {
    const last = this.#given.findLastIndex((one) => one.document === document);
    if (last >= 0) this.#given.splice(last, 1);
  }

  #begin(query) {
    this.#query = query;
    this.#given = [];
    this.#alike = new Map();
    this.#hasEarlier = false;
  }

  async #fetch(item, held) {
    const query = item.query.id;
    const coming = [item, ...held].filter((one) => one.query.id === query).map(({ document }) => document.id);
    const isFirst = !this.#alike.size;
    const asked = [...new Set(coming)].slice(0, MOST_ASKED).filter(fitting());
    for (const document of asked) this.#alike.set(document, null);
    const answer = await this.#client.ownVerdicts(query, asked).catch(() => null);
    if (!answer || this.#query !== query) return; // the list is a help: without it, judging goes on
    for (const { document, ...one } of answer.alike) this.#alike.set(document, one);
    if (isFirst) this.#learn(answer.verdicts);
    const { shown } = this.#view;
    if (shown?.query.id !== query) return;
    this.#paint(shown);
    if (this.#alike.get(shown.document.id)) this.#view.alike(this.#nearest(shown));
  }

  // Once for each query: what comes after it is known here, and an undo may not have reached the server yet.
  #learn(verdicts) {
    const here = new Set(this.#given.map(({ document }) => document));
    const earlier = verdicts.filter(({ document }) => !here.has(document));
    this.#hasEarlier = earlier.length > 0;
    this.#given = [...earlier, ...this.#given];
  }

  #paint({ document }) {
    const latest = new Map(this.#given.map((one) => [one.document, one]));
    latest.delete(document.id);
    this.#view.ownVerdicts([...latest.values()].reverse());
  }

  // On this page by their texts, before it by what the server found: of one that was judged and not undone.
  #nearest({ document }) {
    const others = this.#given.filter((one) => one.document !== document.id && one.verdict !== "cannot_judge");
    if (!others.length || !document.text) return null;
    const runs = runsOf(document.text);
    const told = this.#alike.get(document.id);
    const shareOf = (one) => (one.runs ? alikeness(runs, one.runs) : one.document === told?.like ? told.share : 0);
    const near = others.map((one) => ({ ...one, share: shareOf(one) }));
    const best = near.reduce((one, other) => (other.share >= one.share ? other : one));
    return best.share >= NEARLY ? best : null;
  }
}

// Servers refuse long addresses: as many ids as fit into one.
function fitting() {
  let left = LONGEST_ADDRESS;
  return (id) => (left -= encodeURIComponent(id).length + "&document=".length) > 0;
}
