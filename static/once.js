// A form is sent once: the second half of a double click would import or build the same again.

const HOLD_MS = 3000; // long enough for a double click; after it, somebody who stopped the page may try again

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

// Whoever comes back by the browser's own way finds the form ready.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.ariaBusy = null;
});
