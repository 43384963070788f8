// Whether the start card comes first: before the first verdict in a queue, and again after the guidelines changed.

const PLACE = "soundings.guidelines.";

/** `page`: the data of the page; `hasGuidelines`: whether it has any to read. */
export function begins(page, { hasGuidelines }) {
  return page.begins || (hasGuidelines && !hasRead(page));
}

/** This version of the guidelines was on the card. */
export function remember({ collection, guidelines_version: version }) {
  try {
    localStorage.setItem(PLACE + collection, version);
  } catch {
    // The card comes again, that is all.
  }
}

function hasRead({ collection, guidelines_version: version }) {
  try {
    return (localStorage.getItem(PLACE + collection) ?? "").split(":")[0] === version;
  } catch {
    return true; // without storage, the server alone knows
  }
}
