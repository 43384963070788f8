// What the scripts say, in the language of the page: its catalogue, where it has one, comes before the scripts.
// labeling/judging/sentences.py says the same on the page as the server renders it.

/** A sentence in the language of the page; `{name}` in it is filled in by `filled`. */
export const gettext = globalThis.django?.gettext ?? ((sentence) => sentence);
/** The form of a sentence that goes with a number. */
export const ngettext = globalThis.django?.ngettext ?? ((one, several, count) => (count === 1 ? one : several));

export const VERDICTS = {
  relevant: gettext("relevant"),
  not_relevant: gettext("not relevant"),
  cannot_judge: gettext("can't judge"),
  skip: gettext("skipped"),
};

export const UNTITLED = gettext("Untitled document");

/** The title of a document, or how its text begins where it has none. */
export function titleOf({ title, text }) {
  return title || (text ?? "").slice(0, 400).replace(/<[^>]*>/g, " ").trim().replace(/\s+/g, " ").slice(0, 60);
}

/** The sentence with `values` in the places of their names. */
export function filled(wording, values) {
  return wording.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** "1 verdict", "3 verdicts". */
export function verdicts(count) {
  return filled(ngettext("{count} verdict", "{count} verdicts", count), { count });
}

/** What was judged or undone and will not be stored; "" for a skip, which leaves nothing. */
export function refusedSentence({ operation: { kind, verdict }, reason }) {
  if (kind === "skip") return "";
  const wording =
    kind === "undo"
      ? gettext("An undo could not be saved: {why}")
      : gettext("The verdict “{verdict}” could not be saved: {why}");
  return filled(wording, { verdict: VERDICTS[verdict], why: reason || gettext("the server refused it.") });
}

export function shutOutSentence({ message }) {
  return filled(gettext("You can no longer judge in this queue: {why}"), { why: message });
}

/** 1232 as other pages write it, in English 1,232. */
function grouped(count) {
  return count.toLocaleString(globalThis.document?.documentElement.lang || "en", { useGrouping: "always" });
}

/** What was done and what is left, as [name of the count, its words]; a count that is null is left out. */
export function progressParts(counts) {
  const { done_today: today, done, left_in_query: leftInQuery, left } = counts;
  const wordings = [
    ["done_today", today, ngettext("{count} today", "{count} today", today)],
    ["done", done, ngettext("{count} in total", "{count} in total", done)],
    ["left_in_query", leftInQuery, ngettext("{count} left in this query", "{count} left in this query", leftInQuery ?? 0)],
    ["left", left, ngettext("{count} left for you", "{count} left for you", left ?? 0)],
  ];
  const known = wordings.filter(([, count]) => (count ?? null) !== null);
  return known.map(([name, count, wording]) => [name, filled(wording, { count: grouped(count) })]);
}

/** How small a query is shown, 0 to 3: by its words, or by its letters in scripts without spaces. */
export function querySize(text, sizes) {
  const words = Math.max(text.split(/\s+/).filter(Boolean).length, Math.floor(text.length / 7));
  return sizes.filter((most) => words > most).length;
}

// What a queue that hands nothing out is to somebody: as the server names it, for the catalogue.
gettext("paused");
gettext("closed");
gettext("deleted");
gettext("paused for you until an admin has reviewed your work");
gettext("waiting for you to finish the practice round");

/** That what somebody holds of a queue that is not open can be judged; "" of an open one. */
export function stateSentence(state) {
  if (state === "open") return "";
  return filled(gettext("This queue is {state}; your verdicts are still saved."), { state: gettext(state) });
}

/** Why there is nothing to judge. `serverTime`: the server's clock when it answered, in milliseconds. */
export function emptySentence(empty, serverTime) {
  if (empty && empty.state !== "open") {
    const state = gettext(empty.state);
    return filled(gettext("This queue is {state}; it hands out no documents."), { state });
  }
  if (isFinished(empty)) return gettext("Every document of this queue is judged. Thank you.");
  const { leased, second_opinion: second, conflict } = empty;
  const reasons = [
    [leased, ngettext("{count} is held by another annotator", "{count} are held by others", leased)],
    [second, ngettext("{count} needs a second opinion", "{count} need a second opinion", second)],
    [conflict, ngettext("{count} is in conflict", "{count} are in conflict", conflict)],
  ];
  const known = reasons.filter(([count]) => count).map(([count, wording]) => filled(wording, { count }));
  const listed = known.join(gettext(", "));
  if (!empty.next_free_at) return filled(gettext("Nothing for you right now: {reasons}."), { reasons: listed });
  return filled(gettext("Nothing for you right now: {reasons}; the next becomes free at {time}."), {
    reasons: listed,
    time: localTime(empty.next_free_at, serverTime),
  });
}

/** Whether nothing is left of an open queue that anybody could judge. */
export function isFinished(empty) {
  if (!empty) return true;
  return empty.state === "open" && !(empty.leased || empty.second_opinion || empty.conflict);
}

// A client's clock may be wrong: use the distance from the server's clock.
function localTime(moment, serverTime) {
  const drift = serverTime ? Date.now() - serverTime : 0;
  return new Date(Date.parse(moment) + drift).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}
