// The practice round: the judging page with its keys; after a verdict the pair stays, explained, until "Next".

import { Client } from "./client.js";
import { ActiveClock } from "./clock.js";
import { begins, remember } from "./guidelines.js";
import { Keys } from "./keys.js";
import { newKey } from "./session.js";
import { Settings } from "./settings.js";
import { View } from "./view.js";
import { VERDICTS, filled, gettext } from "./words.js";

const root = document.getElementById("judging");
const page = JSON.parse(document.getElementById("judging-data").textContent);

const settings = new Settings(page.account.id);
const view = new View(root, { settings, sizes: page.query_sizes });
const formToken = view.form.elements.csrfmiddlewaretoken.value;
const client = new Client(page.api, { account: page.account.id, formToken });
const clock = new ActiveClock();
const part = (name) => root.querySelector(`[data-part=${name}]`);

let state = "asking"; // or "starting", "sending", "explained"
let number = page.answered + 1;
let following = null;

async function judge(verdict, reason = "") {
  if (state !== "asking" || !view.bringsDocument()) return;
  const { item, version } = view.shown;
  state = "sending";
  const submission = { item, version, key: newKey(), verdict, reason, note: view.takeNote() };
  try {
    following = await client.practise({ ...submission, active_ms: clock.read(), shown: view.shownExtent });
  } catch (failure) {
    if (failure.kind === "refused" && (await passesOver(item))) return view.trouble(failure.message);
    state = "asking";
    return view.trouble(filled(gettext("Your answer could not be sent: {why}"), { why: failure.message }));
  }
  state = "explained";
  explain(verdict);
}

// A question that was taken out of the round meanwhile can never be answered; go on with the round as it is.
async function passesOver(item) {
  const round = await client.practiceRound().catch(() => null);
  if (!round || round.question?.item === item) return false;
  following = round;
  state = "explained";
  next();
  return true;
}

function explain(verdict) {
  const { right, answer, reason, passage } = following;
  const wording = right ? gettext("Right: {answer}.") : gettext("Not right: you said {given}, the answer is {answer}.");
  const said = filled(wording, { given: VERDICTS[verdict], answer: VERDICTS[answer] });
  part("answer_said").textContent = said;
  part("answer_said").className = right ? "verdict-relevant" : "verdict-not_relevant";
  part("answer_reason").textContent = reason;
  part("answer_passage").hidden = !passage;
  part("answer_passage").textContent = gettext("The passage that decides it is marked.");
  view.explain(passage);
  view.say(`${said} ${reason}`);
}

function next() {
  if (state !== "explained") return;
  if (!following.question) return location.assign(page.summary);
  number = following.answered + 1;
  const counts = { number, total: following.total };
  part("progress").textContent = filled(gettext("Practice {number} of {total} · counts nowhere"), counts);
  state = "asking";
  view.explain(undefined);
  view.show(following.question);
  clock.restart();
}

function begin() {
  remember(page);
  state = "asking";
  clock.restart();
  view.show(page.item);
}

const ACTIONS = {
  relevant: () => (state === "explained" ? next() : judge("relevant")),
  not_relevant: () => (state === "explained" ? next() : judge("not_relevant")),
  next,
  begin,
  cannot_judge: () => state === "asking" && view.toggleReasons(),
  document: () => view.toggleExtent(),
  next_hit: () => view.stepToHit(1),
  previous_hit: () => view.stepToHit(-1),
  highlight: () => view.toggleHighlight(),
  note: () => state === "asking" && view.openNote(),
  guidelines: () => view.toggleGuidelines(),
  more: () => view.toggleQuery(),
  help: () => view.openSettings(),
};
const VERDICT_KEYS = new Set(["relevant", "not_relevant", "next"]);
const WHILE_STARTING = new Set(["begin", "guidelines", "help"]);

function act(action, event) {
  if (state === "starting" && !WHILE_STARTING.has(action)) return;
  if (state === "sending" || (VERDICT_KEYS.has(action) && !view.accepts(event))) return;
  ACTIONS[action]?.();
}

function choose(chosen, event) {
  if (chosen === null) view.toggleReasons(false);
  else if (view.accepts(event)) answerWithReason(view.reason(chosen));
}

function answerWithReason(reason) {
  view.toggleReasons(false);
  judge("cannot_judge", reason);
}

new Keys({ act, choose, choosing: () => view.choosing, settings });

let tap = null;
root.addEventListener("click", (event) => {
  tap = event;
  const button = event.target.closest("[data-action]");
  if (!button) return;
  event.preventDefault();
  act(button.dataset.action, event);
});
view.form.addEventListener("submit", (event) => {
  event.preventDefault();
  event.stopPropagation(); // nothing is sent, so the form is not busy
  const { name, value } = event.submitter ?? {};
  if (name === "verdict") act(value, tap);
  if (name === "reason" && view.accepts(tap)) answerWithReason(value);
});
view.listenToNote();

view.adopt(page.item);
if (begins(page, view)) {
  state = "starting";
  view.start();
}
root.dataset.held = 1;
root.dataset.waiting = 0;
