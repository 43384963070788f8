"""Make two months of a search log over the example collection, and what answers them.

`python examples/make_months.py FOLDER` writes `october.ndjson` and `november.ndjson`, in the form of User
Behavior Insights, and the corpus. `python examples/make_months.py FOLDER/october.jsonl`, with queries drawn
from a month, writes the systems' runs on them, and labels in place of people who judge. Files are the same
each time.
"""

import argparse
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SEARCHES, PEOPLE, DEPTH = 3_000, 300, 10
PRIVATE = 0.04  # the share of searches that nobody else asks
RUNS = ("runs/bm25", "runs/lsa", "later/lsa-2")
OLD = 20  # queries of October
MONTHS = {"october": (10, OLD, "runs/bm25"), "november": (11, 24, "runs/lsa")}  # queries; what answered them


def search_log(month: int, texts: list[str], lists: dict[str, list[str]]):
    """The searches of a month, text n by 1 / n; those that only November has are a quarter of it."""
    chance = np.random.default_rng(month)
    shares = 1 / np.arange(1, len(texts) + 1)
    shares[OLD:] = shares[:OLD].sum() / 3 / max(len(texts) - OLD, 1)
    first = datetime(2026, month, 1, 6, tzinfo=UTC).timestamp()
    for number, at in enumerate(chance.choice(len(texts), SEARCHES, p=shares / shares.sum()).tolist()):
        text = f"{texts[at]} {number}" if chance.random() < PRIVATE else texts[at]
        yield {
            "query_id": f"s{month}-{number}",
            "client_id": f"c{chance.integers(PEOPLE)}",
            "timestamp": int(1000 * (first + number * 29 * 86_400 / SEARCHES)),
            "user_query": text,
            "query_response_hit_ids": lists[texts[at]],
        }


def write_logs(folder: Path, queries: list[dict]) -> None:
    """Both months, and the corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "corpus.jsonl", folder)
    for name, (month, many, run) in MONTHS.items():
        lists: dict[str, list[str]] = {query["text"]: [] for query in queries}
        text_of = {query["_id"]: query["text"] for query in queries}
        for query, _, document, rank, *_ in rows_of(f"{run}.run"):
            lists[text_of[query]] += [document] if int(rank) <= DEPTH else []
        log = search_log(month, [query["text"] for query in queries[:many]], lists)
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in log))


def write_answers(drawn: Path, queries: list[dict]) -> None:
    """What each system finds for drawn queries and what people would say of it, by the ids of the draw."""
    ids = {query["text"]: query["_id"] for query in map(json.loads, drawn.read_text().splitlines())}
    known = {query["_id"]: ids[query["text"]] for query in queries if query["text"] in ids}
    for name in ("qrels.txt", *(f"{run}.run" for run in RUNS)):
        rows = [[known[row[0]], *row[1:]] for row in rows_of(name) if row[0] in known]
        written = name.rpartition("/")[2].replace("qrels", "labels").replace(".", f"-{drawn.stem}.")
        (drawn.parent / written).write_text("".join(" ".join(row) + "\n" for row in rows))


def rows_of(name: str) -> list[list[str]]:
    """The fields of a run or of labels."""
    return [line.split() for line in (HERE / name).read_text().splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of the logs, or a file of drawn queries")
    path = parser.parse_args().folder
    examples = [json.loads(line) for line in (HERE / "queries.jsonl").read_text().splitlines()]
    (write_answers if path.suffix == ".jsonl" else write_logs)(path, examples)
