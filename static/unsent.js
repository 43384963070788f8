// On every page: sends verdicts that a judging page could not send, shows when some wait, and asks before signing out.

import { Client } from "./judge/client.js";
import { Outbox } from "./judge/outbox.js";
import { othersSentence, ownersOf } from "./judge/owners.js";
import { guardSignOut } from "./judge/signing_out.js";
import { IndexedStore, allRecords, openDatabase } from "./judge/store.js";
import { Tabs } from "./judge/tabs.js";
import { filled, gettext, refusedSentence, shutOutSentence, verdicts } from "./judge/words.js";

const { account } = document.body.dataset;
const database = await openDatabase();
const read = async () => (database ? allRecords(database) : []);
const isMine = (record) => String(record.account) === account;

const tabs = new Tabs({ account });
const outboxes = [];
const refusals = [];
const form = document.querySelector("[data-sign-out]");
if (form) {
  guardSignOut(form, {
    waiting: async () => (await read()).filter(isMine).length,
    send: () => Promise.all(outboxes.map((outbox) => outbox.sendNow())),
  });
}

const found = await read();
for (const owner of ownersOf(found.filter(isMine))) {
  const outbox = new Outbox(new Client(owner.api, { account }), new IndexedStore(database, owner, tabs));
  outboxes.push(outbox);
  outbox.addEventListener("change", tell);
  outbox.addEventListener("refused", ({ detail }) => refusals.push(refusedSentence(detail)));
  await outbox.open();
  outbox.sendNow();
}
if (found.length) tell();

async function tell() {
  const records = await read();
  const place = document.querySelector("[data-unsent]");
  const others = ownersOf(records.filter((record) => !isMine(record)));
  const sentences = [
    ...refusals.filter(Boolean),
    ...(outboxes.some((outbox) => outbox.failure) ? ownersOf(records.filter(isMine)).map(ownSentence) : []),
    ...new Set(outboxes.map(({ failure }) => failure?.kind === "shut_out" && shutOutSentence(failure)).filter(Boolean)),
    ...(others.length ? [othersSentence(others)] : []),
  ];
  place.textContent = sentences.join(" ");
  place.hidden = !sentences.length;
}

function ownSentence({ count, queueName }) {
  const wording = gettext("{verdicts} in “{queue}” could not be sent yet; this browser keeps trying.");
  return filled(wording, { verdicts: verdicts(count), queue: queueName });
}
