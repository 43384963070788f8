// Sends a form only once, shows in the pressed button that its work goes on, and goes to what was refused.

const HOLD_MS = 3000; // longer than a double click; afterwards, a person who stopped the page can try again

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (form.method !== "post") return;
  if (form.ariaBusy === "true") {
    event.preventDefault();
    return;
  }
  form.ariaBusy = "true";
  setTimeout(() => { form.ariaBusy = null; }, HOLD_MS);
  // A script that sends the form in the background shows its own progress.
  if (submitter && !event.defaultPrevented) submitter.dataset.working = "";
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") stopShowing(); // the key that stops a page
});

// Going back in the browser re-enables the form.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.ariaBusy = null;
  stopShowing();
});

function stopShowing() {
  for (const button of document.querySelectorAll("[data-working]")) delete button.dataset.working;
}

// What was refused can be far below what fits on the screen. A sentence above a form that begins with the focus
// in a field, such as that of signing in, leaves it there: it is in sight, and the field is what people want.
const refused = document.querySelector(
  document.querySelector("main [autofocus]") ? "main [aria-invalid=true]" : "[data-refused], main [aria-invalid=true]",
);
refused?.focus();
refused?.scrollIntoView({ block: "center" });
