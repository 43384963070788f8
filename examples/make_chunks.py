"""Cut the example's pages into chunks of 400 and of 200 characters, and rank these.

`python examples/make_chunks.py FOLDER` writes a map and a run of each; the excerpts, which are the evidence
of `supports.jsonl`; labels of the larger chunks, and those of the pages. Files are the same each time.
"""

import argparse
import json
import re
import shutil
from collections import Counter
from math import log
from pathlib import Path

HERE = Path(__file__).parent
LARGE, SMALL, DEPTH = 400, 200, 20


def records(name: str) -> list[dict]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def cut(size: int):
    """Id, page, start, end and words of each chunk."""
    for page in records("corpus.jsonl"):
        for start in range(0, len(page["text"]), size):
            part = page["text"][start : start + size]
            yield f"{page['_id']}-{size}-{start}", page["_id"], start, start + len(part), words_of(part)


def run_of(chunks: list[tuple]):
    """The chunks that share the rarest words with a query."""
    counts = Counter(word for chunk in chunks for word in chunk[-1])
    for query in records("queries.jsonl"):
        wanted = words_of(query["text"])
        scores = [
            (-sum(log(len(chunks) / counts[word]) for word in one[-1] & wanted), one[0]) for one in chunks
        ]
        for rank, (score, name) in enumerate(sorted(scores)[:DEPTH], 1):
            yield query["_id"], "Q0", name, rank, round(-score, 4), "words"


def labels_of(chunks: list[tuple], excerpts: list[dict]):
    """Of the chunks of labelled pages: relevant is one with half of an excerpt of the query, or more."""
    for query, _, page, _ in (line.split() for line in (HERE / "qrels.txt").read_text().splitlines()):
        spans = [
            (e["start"], e["end"]) for e in excerpts if (e["query_id"], e["document_id"]) == (query, page)
        ]
        for name, _, start, end, _ in (chunk for chunk in chunks if chunk[1] == page):
            halves = (2 * (min(end, last) - max(start, first)) >= last - first for first, last in spans)
            yield query, 0, name, int(any(halves))


def write(file: Path, rows, separator: str = " ") -> None:
    file.write_text("".join(separator.join(map(str, row)) + "\n" for row in rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "qrels.txt", folder)
    names = ("query_id", "document_id", "start", "end")
    evidence = [row for row in records("supports.jsonl") if "span" in row]
    places = sorted({(row["query_id"], row["document_id"], *row["span"]) for row in evidence})
    excerpts = [dict(zip(names, place, strict=True)) for place in places]
    write(folder / "excerpts.jsonl", ([json.dumps(one)] for one in excerpts))
    for size in (LARGE, SMALL):
        chunks = list(cut(size))
        table = [("chunk_id", *names[1:]), *(chunk[:-1] for chunk in chunks)]
        write(folder / f"fixed-{size}.tsv", table, "\t")
        write(folder / f"fixed-{size}.run", run_of(chunks))
        if size == LARGE:
            write(folder / f"fixed-{size}.qrels", labels_of(chunks, excerpts))
