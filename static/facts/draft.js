// The choices on a page that is not saved yet, kept in this browser under the page's own name.

const PREFIX = "facts:";
const KEPT = /^(verdict|evidence)-\d+$/;
const KEPT_MS = 30 * 24 * 60 * 60 * 1000; // as long as a deleted queue can be restored

export class Draft {
  #name;

  constructor(name) {
    this.#name = PREFIX + name;
    forgetOld();
  }

  /** Put what was chosen before a reload back. */
  fill(form) {
    const kept = read(this.#name);
    if (!kept) return;
    if (kept.versions !== versionsIn(form)) return this.forget();
    for (const [name, value] of Object.entries(kept.values)) {
      if (form.elements[name]) form.elements[name].value = value;
    }
  }

  keep(form) {
    const values = Object.fromEntries([...new FormData(form)].filter(([name]) => KEPT.test(name)));
    try {
      localStorage.setItem(this.#name, JSON.stringify({ versions: versionsIn(form), values, at: Date.now() }));
    } catch {
      // Without storage a reload loses this page's choices, and nothing else.
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.#name);
    } catch {
      // Nothing was kept.
    }
  }
}

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

// Of a page that nobody came back to, such as one of a queue that is gone.
function forgetOld() {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    for (const name of names) if (!(read(name)?.at > Date.now() - KEPT_MS)) localStorage.removeItem(name);
  } catch {
    // Nothing was kept.
  }
}

// Facts that were edited or replaced meanwhile are read again.
function versionsIn(form) {
  return [...form.querySelectorAll("[name^=fact-], [name^=version-]")].map(({ value }) => value).join(" ");
}
