// Whether the start card comes first: before the first verdict in a queue, and again after the guidelines changed.

const PLACE = "soundings.guidelines.";

/**
 * `page`: the data of the page; `hasGuidelines`: whether it has any to read. Somebody who was faster than the
 * script left the card by its link, which says which version was on it.
 */
export function begins(page, { hasGuidelines }) {
  if (new URLSearchParams(location.search).get("begun") === page.guidelines_version) remember(page);
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
