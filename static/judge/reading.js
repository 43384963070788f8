// How documents are shown: text size, line width, typeface, contrast. The page has the choices as attributes, the
// account remembers them.

export class Reading {
  #root;
  #token;

  /** `fields`: the element with the selects; `token`: of the page's form. */
  constructor(root, fields, token) {
    this.#root = root;
    this.#token = token;
    for (const field of fields.querySelectorAll("select")) {
      field.value = root.dataset[field.name];
      field.addEventListener("change", () => this.#choose(field));
    }
  }

  // The page follows at once; what the server does not learn holds as long as the page.
  #choose({ name, value }) {
    this.#root.dataset[name] = value;
    fetch(this.#root.dataset.reading, {
      method: "PATCH",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-CSRFToken": this.#token },
      body: JSON.stringify({ [name]: value }),
    }).catch(() => {});
  }
}
