// A stretch of plain text as nodes, with what stands out in it: words, the strongest sentence, evidence.

/** Offsets count Unicode characters, JavaScript's strings count UTF-16 units. */
export function spanOf(text) {
  if (!/[\uD800-\uDFFF]/.test(text)) {
    return { length: text.length, cut: (start, end) => text.slice(start, end) };
  }
  const characters = Array.from(text);
  return { length: characters.length, cut: (start, end) => characters.slice(start, end).join("") };
}

/**
 * The nodes of `span` from `from` to `to`. `words` and `own` are ascending spans that become marks, the latter
 * with the class "own"; `sentence` and `evidence` are single spans, or null, that become classes of their own.
 */
export function painted(span, { words = [], own = [], sentence = null, evidence = null }, from = 0, to = span.length) {
  const layers = [
    ["word", words],
    ["own", own],
    ["judging-sentence", sentence ? [sentence] : []],
    ["judging-evidence", evidence ? [evidence] : []],
  ].map(([name, spans]) => ({ name, spans, place: 0 }));
  const edges = new Set([from, to]);
  for (const { spans } of layers) {
    for (const [start, end] of spans) {
      if (end <= from || start >= to) continue;
      edges.add(Math.max(start, from)).add(Math.min(end, to));
    }
  }
  const places = [...edges].sort((one, other) => one - other);
  return places.slice(0, -1).map((start, index) => {
    const held = layers.filter((layer) => holds(layer, start)).map(({ name }) => name);
    return node(span.cut(start, places[index + 1]), held);
  });
}

/** Where `terms` occur in `text`, whatever their case: ascending spans that do not overlap. */
export function occurrences(terms, text) {
  if (!terms.length) return [];
  const longestFirst = [...terms].sort((one, other) => other.length - one.length);
  const pattern = longestFirst.map((term) => term.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  let [seen, place] = [0, 0];
  return [...text.matchAll(new RegExp(pattern, "giu"))].map((match) => {
    place += count(text.slice(seen, match.index));
    const start = place;
    place += count(match[0]);
    seen = match.index + match[0].length;
    return [start, place];
  });
}

/** Unicode characters of a string. */
export function count(text) {
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters;
}

// Edges only ever move on, and so does the place in each layer.
function holds(layer, start) {
  const { spans } = layer;
  while (layer.place < spans.length && spans[layer.place][1] <= start) layer.place += 1;
  return layer.place < spans.length && spans[layer.place][0] <= start;
}

function node(text, held) {
  const classes = held.filter((name) => name.startsWith("judging-"));
  const isMarked = held.includes("word") || held.includes("own");
  if (!isMarked && !classes.length) return text;
  const inner = isMarked ? element("mark", held.includes("word") ? "" : "own", text) : text;
  return classes.length ? element("span", classes.join(" "), inner) : inner;
}

function element(name, className, content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(content);
  return made;
}
