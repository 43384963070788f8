// A field that follows another one until somebody writes in it: a short name follows its name.

const shortName = (text) => text.normalize("NFKD").replace(/[^\x00-\x7f]/g, "").toLowerCase()
  .replace(/[^\w\s-]/g, "").replace(/[-\s]+/g, "-").slice(0, 50).replace(/^[-_]+|[-_]+$/g, "");

for (const field of document.querySelectorAll("[data-follows]")) {
  const source = field.form.elements[field.dataset.follows];
  let isOwn = field.value !== "";
  source.addEventListener("input", () => {
    if (!isOwn) field.value = shortName(source.value);
  });
  field.addEventListener("input", () => { isOwn = field.value !== ""; });
}
