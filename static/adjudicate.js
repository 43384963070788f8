// Adjudication from the keyboard: shows the next pair at once, and saves the verdict in the background.

import { Keys, paintCaps } from "./judge/keys.js";
import { Settings } from "./judge/settings.js";
import { SettingsDialog } from "./judge/settings_dialog.js";

const PREFETCH_AT = 2;
const SETTLE_MS = 150; // a key pressed so soon after a pair appeared was meant for the one before

const root = document.getElementById("adjudication");
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const pairs = [...root.querySelectorAll("article")];
// What this page has settled and can undo: { pair, key, saved }, the newest last.
const settled = [];
let waiting = Number(root.dataset.waiting);
let current = pairs.shift() ?? null;
let fetching = null;
let settling = null;
let lastSeen = (pairs.at(-1) ?? current)?.dataset.item;
let hasMore = Boolean(current);

root.addEventListener("submit", (event) => {
  const pair = event.target.closest("article");
  if (!pair || !event.submitter || !event.target.matches(".adjudication-form")) return;
  event.preventDefault();
  settle(pair, event.submitter);
});
root.addEventListener("click", (event) => {
  if (!event.target.closest("[data-action=later]")) return;
  event.preventDefault();
  later();
});
part("undo").addEventListener("click", () => undo());
for (const field of document.querySelectorAll(".adjudication-shown :is(select, input)")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}
root.addEventListener("keydown", ({ key, target }) => {
  if (key === "Escape" && target.matches("textarea")) target.blur();
});
const settings = new Settings(document.body.dataset.account, "adjudication");
const dialog = new SettingsDialog(document.getElementById("keys"), settings);
const ACTIONS = {
  relevant: () => decide("relevant"),
  not_relevant: () => decide("not_relevant"),
  cannot_judge: () => current && (reasons().open = true),
  later: () => later(),
  undo: () => undo(),
  note: () => current?.querySelector("textarea").focus(),
  help: () => dialog.open(),
};
new Keys({ act: (name) => ACTIONS[name](), choose, choosing: () => reasons()?.open, settings });
settings.addEventListener("change", () => paintCaps(root, settings));
part("keys").addEventListener("click", () => dialog.open());
paintCaps(root, settings);
root.dataset.accepts = "true";
prefetch();

function form() {
  return current?.querySelector(".adjudication-form");
}

function reasons() {
  return current?.querySelector(".adjudication-reasons");
}

function decide(verdict) {
  if (current && root.dataset.accepts === "true") form().requestSubmit(form().querySelector(`[value="${verdict}"]`));
}

// While the reasons are open; null closes them.
function choose(number) {
  const reason = reasons().querySelectorAll("button")[number - 1];
  if (reason) form().requestSubmit(reason);
  else reasons().open = false;
}

function settle(pair, button) {
  const fields = Object.fromEntries(new FormData(pair.querySelector(".adjudication-form"), button));
  const body = {
    item: Number(fields.item),
    key: fields.key,
    verdict: fields.verdict ?? "cannot_judge",
    reason: fields.reason,
    note: fields.note ?? "",
  };
  const done = { pair, key: fields.key, word: button.textContent.replace(button.querySelector("kbd")?.textContent ?? "", "").trim() };
  done.saved = call("POST", "", body).catch((error) => {
    settled.splice(settled.indexOf(done), 1);
    trouble(error.message);
    // What somebody else settled does not wait any more.
    if (error.status !== 409) bringBack(pair);
    tellLast();
    throw error;
  });
  done.saved.catch(() => {});
  settled.push(done);
  waiting -= 1;
  part("problem").hidden = true;
  tellLast();
  next();
}

async function undo() {
  const done = settled.pop();
  if (!done) return;
  tellLast();
  try {
    await done.saved;
    await call("DELETE", `?key=${encodeURIComponent(done.key)}`);
  } catch (error) {
    return trouble(error.message);
  }
  bringBack(done.pair);
}

// A pair comes back before the one on screen; under a new key, since the old one was used.
function bringBack(pair) {
  pair.querySelector(".adjudication-form [name=key]").value = crypto.randomUUID();
  waiting += 1;
  if (current) pairs.unshift(current);
  show(pair);
}

function later() {
  if (current) next();
}

async function next() {
  if (!pairs.length && fetching) {
    show(null);
    await fetching;
    if (current) return;
  }
  show(pairs.shift() ?? null);
  prefetch();
}

function show(pair) {
  // What the server said of the act before is not of this one.
  for (const notice of document.querySelectorAll("#content > .notice.success")) notice.remove();
  if (current) {
    current.hidden = true;
    current.querySelector(".adjudication-reasons").open = false;
  }
  current = pair;
  part("waiting").textContent = waiting ? `${waiting.toLocaleString("en")} ${waiting === 1 ? "pair waits" : "pairs wait"} for a decision.` : "";
  part("none").hidden = Boolean(pair) || Boolean(fetching);
  const again = part("again");
  if (again) again.hidden = !waiting;
  if (!pair) {
    if (!fetching) part("none").querySelector("p").textContent = waiting ? "That was the last one." : "No pairs need adjudication.";
    return;
  }
  pair.hidden = false;
  root.dataset.accepts = "false";
  clearTimeout(settling);
  settling = setTimeout(() => { root.dataset.accepts = "true"; }, SETTLE_MS);
  if (pair.getBoundingClientRect().top < 0) pair.scrollIntoView({ behavior: "instant" });
  pair.querySelector("h2").focus({ preventScroll: true });
}

function prefetch() {
  if (fetching || !hasMore || pairs.length > PREFETCH_AT) return;
  const address = root.dataset.address;
  fetching = fetch(`${address}${address.includes("?") ? "&" : "?"}after=${lastSeen}`)
    .then((answer) => (answer.ok ? answer.text() : ""))
    .then((page) => {
      const found = [...new DOMParser().parseFromString(page, "text/html").querySelectorAll("#adjudication article")];
      hasMore = found.length > 0;
      for (const pair of found) {
        pair.hidden = true;
        part("none").before(pair);
        pairs.push(pair);
        lastSeen = pair.dataset.item;
      }
      paintCaps(root, settings);
    })
    .catch(() => {}) // asked again with the next pair
    .finally(() => { fetching = null; });
}

function tellLast() {
  const last = settled.at(-1);
  part("last").hidden = !last;
  if (last) part("last_text").textContent = `Settled: ${last.word} · ${last.pair.dataset.title}`;
}

function trouble(sentence) {
  part("problem").textContent = sentence;
  part("problem").hidden = false;
}

async function call(method, query, body) {
  const token = document.cookie.split("; ").find((pair) => pair.startsWith("csrftoken="))?.slice("csrftoken=".length)
    ?? root.querySelector("[name=csrfmiddlewaretoken]")?.value;
  let answer;
  try {
    answer = await fetch(root.dataset.api + query, {
      method,
      headers: { "Content-Type": "application/json", "X-CSRFToken": token ?? "", "X-Account": document.body.dataset.account },
      body: body && JSON.stringify(body),
      keepalive: true,
    });
  } catch {
    throw new Error("Not saved: the server could not be reached. Decide this pair again.");
  }
  if (answer.ok) return;
  const told = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(told.detail ?? "Not saved. Decide this pair again."), { status: answer.status });
}
