// Turns the server-rendered judging page, a form with one item, into the fast one.

import { Batch } from "./batch.js";
import { Client } from "./client.js";
import { ActiveClock } from "./clock.js";
import { begins, remember } from "./guidelines.js";
import { Keys } from "./keys.js";
import { Message } from "./message.js";
import { Outbox } from "./outbox.js";
import { OwnTerms } from "./own_terms.js";
import { OwnVerdicts } from "./own_verdicts.js";
import { othersSentence, ownersOf } from "./owners.js";
import { Pace } from "./pace.js";
import { Session } from "./session.js";
import { Settings } from "./settings.js";
import { guardSignOut } from "./signing_out.js";
import { IndexedStore, allRecords, openDatabase } from "./store.js";
import { Tabs } from "./tabs.js";
import { View } from "./view.js";
import { gettext } from "./words.js";

const root = document.getElementById("judging");
const page = JSON.parse(document.getElementById("judging-data").textContent);

const { account, queue } = page;
const settings = new Settings(account.id);
const { query_sizes: sizes, highlight } = page;
const view = new View(root, { settings, sizes, terms: new OwnTerms(queue.id), highlight, guidelines: page.guidelines_version });
const formToken = view.form.elements.csrfmiddlewaretoken.value;
const client = new Client(page.api, { account: account.id, formToken });
const tabs = new Tabs({ account: account.id, queue: queue.id });

const database = await openDatabase();
const owner = {
  account: account.id,
  name: account.name,
  queue: queue.id,
  queueName: queue.name,
  api: page.api,
};
const outbox = new Outbox(client, database ? new IndexedStore(database, owner, tabs) : undefined);
const unsent = await outbox.open();

const batch = new Batch(client, outbox, { leaseSeconds: page.lease_seconds });
const clock = new ActiveClock();
const pace = new Pace(page.break_after, () => settings.switches.breaks);
const own = new OwnVerdicts({ client, view });
const { recent, progress } = page;
const session = new Session({ batch, outbox, client, clock, pace, tabs, view, own, recent, progress });

const message = new Message(root, { client, view });

const ACTIONS = {
  relevant: () => session.judge("relevant"),
  not_relevant: () => session.judge("not_relevant"),
  same: () => view.alikeVerdict && session.judge(view.alikeVerdict),
  skip: () => session.skip(),
  undo: () => session.undo(),
  keep: () => session.keep(),
  change: () => session.change(),
  cannot_judge: () => view.toggleReasons(),
  document: () => view.toggleExtent(),
  next_hit: () => view.stepToHit(1),
  previous_hit: () => view.stepToHit(-1),
  highlight: () => view.toggleHighlight(),
  note: () => view.openNote(),
  message: () => message.open(),
  evidence: () => view.toggleEvidence(),
  term: () => view.toggleTerm(),
  guidelines: () => view.toggleGuidelines(),
  more: () => view.toggleQuery(),
  begin: () => begin(),
  search: () => view.openSearch(),
  pause: () => (session.state === "paused" ? session.resume() : session.pause()),
  stop_after: () => session.stopAfterQuery(),
  go_on: () => session.goOn(),
  help: () => view.openSettings(),
  look_again: () => session.lookAgain(),
};
// These change what is on screen or stored, so they wait until the document on screen has been seen.
const GUARDED = new Set(["relevant", "not_relevant", "same", "skip", "undo"]);
// These need the document in sight.
const JUDGING = new Set(["relevant", "not_relevant", "same"]);
// Actions allowed while no document is on screen; "undo" on a break card is for the document behind it.
const POSSIBLE = {
  starting: new Set(["begin", "guidelines", "help"]),
  paused: new Set(["pause", "guidelines", "help"]),
  resting: new Set(["go_on", "pause", "undo", "guidelines", "help"]),
  stopped: new Set(["look_again", "guidelines", "help"]),
};

function act(action, event) {
  if (!(POSSIBLE[session.state]?.has(action) ?? true)) return;
  if (GUARDED.has(action) && session.state === "working" && !view.accepts(event)) return;
  if (JUDGING.has(action) && session.state === "working" && !view.bringsDocument()) return;
  ACTIONS[action]();
}

function choose(number, event) {
  if (number === null) view.toggleReasons(false);
  else if (view.accepts(event) && view.bringsDocument()) session.judge("cannot_judge", view.reason(number));
}

new Keys({ act, choose, choosing: () => view.choosing, settings });

// Every button also works without this script: its form has the same names and values.
let tap = null;
root.addEventListener("click", (event) => {
  tap = event;
  const term = event.target.closest("[data-term]");
  if (term) return view.toggleTerm(term.dataset.term);
  const chip = event.target.closest("[data-reopen]");
  if (chip && session.state === "working") return session.undo(chip.dataset.reopen);
  const button = event.target.closest("[data-action]");
  if (!button) return;
  event.preventDefault();
  act(button.dataset.action, event);
});

view.form.addEventListener("submit", (event) => {
  event.preventDefault();
  event.stopPropagation(); // nothing is sent, so the form is not busy
  const { name, value } = event.submitter ?? {};
  if (name === "verdict" || name === "action") act(value, tap);
  if (name === "message_send") message.send();
  if (name === "reason" && view.accepts(tap) && view.bringsDocument()) session.judge("cannot_judge", value);
});

view.listenToNote();
view.listenToSelection();

function begin() {
  remember(page);
  session.begin();
}

window.addEventListener("beforeunload", (event) => {
  if (outbox.length) event.preventDefault();
});
window.addEventListener("pagehide", () => session.part());
window.addEventListener("pageshow", (event) => {
  if (event.persisted) session.lookAgain();
});

guardSignOut(root.querySelector("[data-part=sign_out]"), {
  waiting: async () => outbox.length,
  send: () => outbox.sendNow(),
  prepare: () => session.pause(),
});

let met = false;
tabs.addEventListener("met", ({ detail }) => {
  if (met || detail.account !== account.id || detail.queue !== queue.id) return;
  met = true;
  view.remark(
    gettext("You are also judging this queue in another tab. Documents you judge there disappear here."),
  );
});
tabs.greet();

if (!outbox.isLasting) {
  view.remark(
    gettext("This browser does not let the page store data: keep the page open until it says “All saved”."),
  );
}
const records = database ? await allRecords(database) : [];
const others = ownersOf(records.filter((record) => record.account !== account.id));
if (others.length) view.remark(othersSentence(others));

const count = () => (root.dataset.held = batch.items.length);
batch.addEventListener("change", count);
batch.addEventListener("empty", count);
root.dataset.waiting = outbox.length;
session.start(page.item, unsent, { starting: begins(page, view) });
