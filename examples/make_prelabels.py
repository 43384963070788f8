"""Make the example's stored answers of a language model: `prelabels.jsonl`.

No model was asked. A stand-in knows the labels of `qrels.txt`, misses some relevant pages, takes some others
for relevant, and is less sure where it errs. The same labels give the same file.
"""

import argparse
import hashlib
import json
from pathlib import Path

HERE = Path(__file__).parent
MISSED, TAKEN_IN = 0.12, 0.05  # of the relevant pages, and of the others


def share_of(*words: str) -> float:
    """A number from 0 to 1 that looks like chance and is always the same for the same words."""
    return int.from_bytes(hashlib.sha256(" ".join(words).encode()).digest()[:4]) / 2**32


def answer(query: str, document: str, is_relevant: bool) -> dict[str, object]:
    """What the stand-in says of a pair, as a model answers the prompt `binary`."""
    errs = share_of("errs", query, document) < (MISSED if is_relevant else TAKEN_IN)
    relevant = is_relevant != errs
    sure = share_of("sure", query, document)
    confidence = 0.55 + 0.25 * sure if errs else 0.7 + 0.29 * sure
    return {
        "query_id": query,
        "document_id": document,
        "relevant": relevant,
        "confidence": round(confidence, 2),
        "reasoning": "The page helps with it." if relevant else "The page is about something else.",
    }


def main() -> None:
    """Write one answer per labelled pair."""
    parser = argparse.ArgumentParser(description="Make the stored answers of a stand-in for a model.")
    parser.add_argument("--output", type=Path, default=HERE / "prelabels.jsonl", help="the file to write")
    output = parser.parse_args().output
    rows = [line.split(" ") for line in (HERE / "qrels.txt").read_text(encoding="utf-8").splitlines()]
    lines = (json.dumps(answer(query, document, label == "1")) + "\n" for query, _, document, label in rows)
    output.write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
