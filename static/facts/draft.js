// The choices on a page that is not saved yet, kept in this browser under the page's own name.

const PREFIX = "facts:";
const KEPT = /^(verdict|evidence)-\d+$/;

export class Draft {
  #name;

  constructor(name) {
    this.#name = PREFIX + name;
  }

  /** Put what was chosen before a reload back. */
  fill(form) {
    const kept = this.#read();
    if (!kept) return;
    if (kept.versions !== versionsIn(form)) return this.forget();
    for (const [name, value] of Object.entries(kept.values)) {
      if (form.elements[name]) form.elements[name].value = value;
    }
  }

  keep(form) {
    const values = Object.fromEntries([...new FormData(form)].filter(([name]) => KEPT.test(name)));
    try {
      localStorage.setItem(this.#name, JSON.stringify({ versions: versionsIn(form), values }));
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

  #read() {
    try {
      return JSON.parse(localStorage.getItem(this.#name) ?? "null");
    } catch {
      return null;
    }
  }
}

// Facts that were edited or replaced meanwhile are read again.
function versionsIn(form) {
  return [...form.querySelectorAll("[name^=fact-], [name^=version-]")].map(({ value }) => value).join(" ");
}
