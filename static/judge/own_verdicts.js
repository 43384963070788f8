// What the annotator said of a query's documents so far: a list next to the document, and the verdict on one that
// is nearly the same. Only one's own; the document on screen is never in it, whatever was said of it before.

import { NEARLY, alikeness, runsOf } from "./alike.js";

export class OwnVerdicts {
  #client;
  #view;
  #query = null;
  #given = []; // {document, title, verdict, runs}: `runs` only of what was judged on this page
  #timer = null;

  constructor({ client, view }) {
    this.#client = client;
    this.#view = view;
  }

  /** A document is on screen. What it takes comes after it is painted. */
  enter(item) {
    clearTimeout(this.#timer);
    this.#view.alike(null);
    if (item.query.id === this.#query) this.#paint(item);
    else this.#fetch(item);
    this.#timer = setTimeout(() => this.#view.alike(this.#nearest(item)), 0);
  }

  judged({ document, query }, verdict) {
    if (query.id !== this.#query) return;
    const { id, title, text } = document;
    this.#given = [...this.#given, { document: id, title, verdict, runs: runsOf(text ?? "") }];
  }

  undone(document) {
    const last = this.#given.findLastIndex((one) => one.document === document);
    if (last >= 0) this.#given.splice(last, 1);
  }

  async #fetch(item) {
    const query = item.query.id;
    this.#query = query;
    this.#given = [];
    this.#paint(item);
    const answer = await this.#client.ownVerdicts(query).catch(() => null);
    if (!answer || this.#query !== query) return; // the list is a help: without it, judging goes on
    const here = new Set(this.#given.map(({ document }) => document));
    this.#given = [...answer.verdicts.filter(({ document }) => !here.has(document)), ...this.#given];
    if (this.#view.shown?.query.id === query) this.#paint(this.#view.shown);
  }

  #paint({ document }) {
    const latest = new Map(this.#given.map((one) => [one.document, one]));
    latest.delete(document.id);
    this.#view.ownVerdicts([...latest.values()].reverse());
  }

  #nearest({ document }) {
    const others = this.#given.filter((one) => one.runs && one.document !== document.id);
    const verdicts = others.filter(({ verdict }) => verdict !== "cannot_judge");
    if (!verdicts.length || !document.text) return null;
    const runs = runsOf(document.text);
    const near = verdicts.map((one) => ({ ...one, share: alikeness(runs, one.runs) }));
    const best = near.reduce((one, other) => (other.share >= one.share ? other : one));
    return best.share >= NEARLY ? best : null;
  }
}
