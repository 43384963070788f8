// The accounts whose unsent verdicts this browser holds, from the records of the store.

import { filled, gettext, ngettext, verdicts } from "./words.js";

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
  const total = [...counts.values()].reduce((sum, count) => sum + count);
  const wording = gettext("{verdicts} of {name}");
  const lists = [...counts].map(([name, count]) => filled(wording, { verdicts: verdicts(count), name }));
  const values = { list: lists.join(gettext(" and ")), name: counts.keys().next().value };
  if (counts.size > 1) {
    return filled(
      gettext("This browser holds {list} not yet saved on the server. They are sent when their owners sign in here; those of a deleted account can no longer be sent."),
      values,
    );
  }
  return filled(
    ngettext(
      "This browser holds {list} not yet saved on the server. It is sent when {name} signs in here; if that account is deleted, it cannot be sent any more.",
      "This browser holds {list} not yet saved on the server. They are sent when {name} signs in here; if that account is deleted, they cannot be sent any more.",
      total,
    ),
    values,
  );
}
