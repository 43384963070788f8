// On every page but the judging page: `/` or Ctrl-K opens a field that finds any page, query, document, run or pair.

import { filled, gettext, ngettext } from "./judge/words.js";

const WAIT_MS = 120; // after the last key
const SLASH = "palette-slash"; // a key without Ctrl can be switched off, for people whose software types them

const dialog = document.querySelector("#palette");
const form = dialog.querySelector("form");
const field = form.elements.q;
const list = dialog.querySelector("[role=listbox]");
const told = dialog.querySelector("[role=status]");
const slash = dialog.querySelector("[data-slash]");
let options = [];
let chosen = -1;
let asking = new AbortController();
let waiting;

const isWriting = (element) => element.closest("input, textarea, select, [contenteditable]");
const isOpenElsewhere = () => [...document.querySelectorAll("dialog[open]")].some((other) => other !== dialog);

slash.checked = localStorage.getItem(SLASH) !== "off";
slash.addEventListener("change", () => localStorage.setItem(SLASH, slash.checked ? "on" : "off"));

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey || isOpenElsewhere()) return;
  const withControl = event.ctrlKey || event.metaKey;
  const isK = withControl && !event.shiftKey && event.key.toLowerCase() === "k";
  const isSlash = !withControl && event.key === "/" && slash.checked && !dialog.open && !isWriting(event.target);
  if (!isK && !isSlash) return;
  event.preventDefault();
  if (dialog.open) dialog.close();
  else open();
});

document.querySelector("[data-palette]").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab has the page
  event.preventDefault();
  open();
});

dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // not on anything in it
});

field.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(ask, WAIT_MS);
});

field.addEventListener("keydown", (event) => {
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.isComposing || !(event.key in steps) || !options.length) return;
  event.preventDefault();
  choose((chosen + steps[event.key] + options.length) % options.length);
});

// Enter: what is chosen; while an answer is under way, the page with what was typed.
form.addEventListener("submit", (event) => {
  if (!options[chosen] || list.ariaBusy === "true") return;
  event.preventDefault();
  options[chosen].click();
});

function open() {
  dialog.showModal();
  field.select();
  ask();
}

async function ask() {
  asking.abort();
  asking = new AbortController();
  list.ariaBusy = "true";
  try {
    const answer = await fetch(`${form.action}?${new URLSearchParams({ q: field.value })}`, {
      headers: { "HX-Request": "true" },
      signal: asking.signal,
    });
    if (!answer.ok || answer.redirected) throw new Error("no list");
    show(await answer.text());
  } catch (error) {
    if (error.name === "AbortError") return;
    show("");
    tell(gettext("Could not look this up. Load the page again."));
  }
  list.ariaBusy = "false";
}

function show(html) {
  list.innerHTML = html; // a template of the server, which escapes what people wrote
  options = [...list.querySelectorAll("a")];
  for (const item of list.querySelectorAll("ul, li")) item.role = "presentation";
  for (const kind of list.querySelectorAll("section")) {
    kind.role = "group";
    kind.ariaLabel = kind.firstElementChild.textContent;
    kind.firstElementChild.ariaHidden = "true";
  }
  options.forEach((option, place) => {
    option.id = `palette-${place}`;
    option.role = "option";
    option.tabIndex = -1;
  });
  const { length: count } = options;
  const words = count ? filled(ngettext("{count} found", "{count} found", count), { count }) : list.textContent;
  list.hidden = !options.length;
  if (list.hidden) list.replaceChildren();
  choose(options.length ? 0 : -1);
  tell(words);
}

function choose(place) {
  chosen = place;
  options.forEach((option, index) => { option.ariaSelected = String(index === chosen); });
  if (options[chosen]) {
    field.setAttribute("aria-activedescendant", options[chosen].id);
    options[chosen].scrollIntoView({ block: "nearest" });
  } else field.removeAttribute("aria-activedescendant");
}

// Heard by those who cannot see the list; seen where there is none.
function tell(words) {
  told.textContent = words.trim();
  told.className = options.length ? "visually-hidden" : "palette-nothing quiet";
}
