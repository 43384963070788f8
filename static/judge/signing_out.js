// Asks for confirmation before signing out with unsent verdicts.

import { filled, ngettext, verdicts } from "./words.js";

const PATIENCE_MS = 2_000;

/** `waiting()` counts what is unsent; `send()` tries to send it; `prepare()` runs before the sign-out. */
export function guardSignOut(form, { waiting, send = async () => {}, prepare = async () => {} }) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await waiting()) await within(PATIENCE_MS, send());
    const left = await waiting();
    if (left && !window.confirm(question(left))) return;
    await within(PATIENCE_MS, prepare());
    form.submit();
  });
}

function question(left) {
  const wording = ngettext(
    "{verdicts} is not saved on the server yet. It stays in this browser, which sends it when you next sign in here. Sign out anyway?",
    "{verdicts} are not saved on the server yet. They stay in this browser, which sends them when you next sign in here. Sign out anyway?",
    left,
  );
  return filled(wording, { verdicts: verdicts(left) });
}

function within(milliseconds, work) {
  const patience = new Promise((resolve) => setTimeout(resolve, milliseconds));
  return Promise.race([Promise.resolve(work).catch(() => {}), patience]);
}
