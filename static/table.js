// Conveniences of tables: choose all rows, choose a range with Shift, and how many are chosen. A table works
// without them. Listens on the document, since htmx replaces tables.

let last = null; // the checkbox that was clicked before

function boxes(table) {
  return [...table.querySelectorAll("tbody .choose-row input")];
}

function count(table) {
  const told = table.querySelector("[data-chosen]");
  if (!told) return;
  told.dataset.chosen ||= told.textContent;
  const all = boxes(table);
  const chosen = all.filter((box) => box.checked).length;
  told.textContent = chosen ? `${chosen} selected:` : told.dataset.chosen;
  const every = table.querySelector("[data-choose-all]");
  every.checked = chosen > 0 && chosen === all.length;
  every.indeterminate = chosen > 0 && chosen < all.length;
}

document.addEventListener("click", (event) => {
  const box = event.target.closest?.(".choose-row input");
  const table = box?.closest("[data-table]");
  if (!table) return;
  if (box.matches("[data-choose-all]")) {
    for (const one of boxes(table)) one.checked = box.checked;
  } else {
    const all = boxes(table);
    if (event.shiftKey && all.includes(last)) {
      const ends = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
      for (const one of all.slice(ends[0], ends[1] + 1)) one.checked = box.checked;
    }
    last = box;
  }
  count(table);
});

// What the browser filled in again when somebody came back.
window.addEventListener("pageshow", () => {
  for (const table of document.querySelectorAll("[data-table]")) count(table);
});

// An answer without the table, such as the page to sign in, is shown as the page it is.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr } = event.detail;
  if (target?.matches?.("[data-table]") && !xhr.responseText.includes(`id="${target.id}"`)) {
    event.preventDefault();
    location.assign(xhr.responseURL);
  }
});
