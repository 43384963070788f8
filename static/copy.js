// Buttons that copy the value of a field; without this module the field can be selected and copied by hand.

for (const button of document.querySelectorAll("[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  const said = button.parentElement.querySelector("[role=status]");
  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = button.dataset.copied;
    } catch {
      // Over plain HTTP browsers give no clipboard.
      field.select();
      said.textContent = button.dataset.byHand;
    }
  });
}
