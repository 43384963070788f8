// Asks for confirmation before signing out with unsent verdicts.

import { verdicts } from "./words.js";

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
  const [are, they, them] = left === 1 ? ["is", "It stays", "it"] : ["are", "They stay", "them"];
  return (
    `${verdicts(left)} ${are} not saved on the server yet. ${they} in this browser, which sends ${them} ` +
    "when you next sign in here. Sign out anyway?"
  );
}

function within(milliseconds, work) {
  const patience = new Promise((resolve) => setTimeout(resolve, milliseconds));
  return Promise.race([Promise.resolve(work).catch(() => {}), patience]);
}
