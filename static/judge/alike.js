// Texts that are nearly the same: by the runs of three words that they share (Broder, 1997).

const RUN = 3;
// Of a longer text its beginning is compared: no key waits for a book.
const COMPARED = 20_000;
/** From this share of shared runs on, two texts are nearly the same. */
export const NEARLY = 0.8;

/** The runs of words of a text. */
export function runsOf(text) {
  const words = text.slice(0, COMPARED).toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  if (words.length < RUN) return new Set(words.length ? [words.join(" ")] : []);
  return new Set(words.slice(RUN - 1).map((_, index) => words.slice(index, index + RUN).join(" ")));
}

/** The share of runs that two sets have in common, from 0 to 1; 0 for texts without words. */
export function alikeness(one, other) {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  if (!small.size || small.size < NEARLY * large.size) return 0;
  let shared = 0;
  for (const run of small) shared += large.has(run);
  return shared / (small.size + large.size - shared);
}
