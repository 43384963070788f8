// The accounts whose unsent verdicts this browser holds, from the records of the store.

import { verdicts } from "./words.js";

/** One entry for each account and queue, with the `count` of its records. */
export function ownersOf(records) {
  const owners = new Map();
  for (const { account, name, queue, queueName, api } of records) {
    const place = `${account}/${queue}`;
    const count = (owners.get(place)?.count ?? 0) + 1;
    owners.set(place, { account, name, queue, queueName, api, count });
  }
  return [...owners.values()];
}

/** Sentence about other people's waiting verdicts, which are only sent under their own names. */
export function othersSentence(owners) {
  const counts = new Map();
  for (const { name, count } of owners) counts.set(name, (counts.get(name) ?? 0) + count);
  const lists = [...counts].map(([name, count]) => `${verdicts(count)} of ${name}`);
  const [[name, count]] = counts;
  const when = counts.size === 1 ? `when ${name} signs in here` : "when they sign in here";
  const are = counts.size === 1 && count === 1 ? "It is" : "They are";
  return `This browser holds ${lists.join(" and ")} not yet saved on the server. ${are} sent ${when}.`;
}
