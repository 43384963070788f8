// Sends a form only once: a double click would import or build the same thing twice.

const HOLD_MS = 3000; // longer than a double click; afterwards, a person who stopped the page can try again

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.ariaBusy === "true") {
    event.preventDefault();
    return;
  }
  form.ariaBusy = "true";
  setTimeout(() => { form.ariaBusy = null; }, HOLD_MS);
});

// Going back in the browser re-enables the form.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.ariaBusy = null;
});
