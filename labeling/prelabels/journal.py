"""The journal of a pass: each answer is in it before anything else happens, so that no kill loses one.

Answers reach the database in batches, a second after they came at the latest. The journal, a file that is
only appended to, has them at once: what was written to it outlives the process, if not a power failure. It
also says what was sent and not answered, so that a resumed pass knows the most that this may have cost.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from labeling.models import PrelabelJob
from labeling.prelabels.model_answers import Reading
from labeling.prelabels.work import QuestionOutcome, VersionedPair

#: Amounts of a `QuestionOutcome`, which a line has as texts.
EXACT = ("cost", "uncertain")


class Recovered(NamedTuple):
    """Contents of a journal that the database does not have."""

    outcomes: list[QuestionOutcome]
    uncertain: Decimal
    offset: int


class Journal:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.offset = os.fstat(self._file).st_size
        if self.offset:
            self._write(b"\n")  # a last line may have been cut off

    def sent(self, key: str, at_most: Decimal) -> None:
        """A request is about to be sent."""
        self._append({"sent": key, "at_most": str(at_most)})

    def came_back(self, key: str) -> None:
        """A request ended without an answer, and was not paid."""
        self._append({"back": key})

    def outcome(self, outcome: QuestionOutcome) -> None:
        """A question has its outcome; nothing sent for it is open any more."""
        reading = vars(outcome.reading) if outcome.reading else None
        exact = {name: str(getattr(outcome, name)) for name in EXACT}
        # Not `asdict`, which copies everything deeply and takes ten times as long.
        self._append({"outcome": {**vars(outcome), "reading": reading, **exact}})

    def recovered(self) -> None:
        self._append({"recovered": True})

    def close(self, *, remove: bool) -> None:
        """Close the file, and remove it where everything in it is in the database."""
        os.close(self._file)
        if remove:
            self._path.unlink(missing_ok=True)

    def _append(self, line: Mapping[str, object]) -> None:
        self._write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        while data:
            written = os.write(self._file, data)
            self.offset += written
            data = data[written:]


def journal_path(folder: Path, job: PrelabelJob) -> Path:
    return folder / f"{job.pk}.jsonl"


def read_journal(path: Path, stored: int) -> Recovered:
    """Outcomes behind the first `stored` bytes, and requests without an answer; a cut last line is none."""
    outcomes: list[QuestionOutcome] = []
    open_requests: dict[str, list[Decimal]] = defaultdict(list)
    offset = 0
    with path.open("rb") as file:
        for line in file:
            # By its beginning: the line break of the last one may have come after it was stored.
            is_new = offset >= stored
            offset += len(line)
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if "sent" in entry:
                open_requests[entry["sent"]].append(Decimal(entry["at_most"]))
            elif "back" in entry:
                open_requests[entry["back"]].pop()
            elif "outcome" in entry:
                outcome = _read(entry["outcome"])
                open_requests.pop(outcome.key, None)
                if is_new:
                    outcomes.append(outcome)
            elif "recovered" in entry:
                open_requests.clear()
    uncertain = sum((amount for amounts in open_requests.values() for amount in amounts), Decimal(0))
    return Recovered(outcomes, uncertain, offset)


def _read(stored: Mapping[str, Any]) -> QuestionOutcome:
    reading = stored["reading"]
    exact = {name: Decimal(stored[name]) for name in EXACT}
    plain = {
        "pairs": [VersionedPair(*pair) for pair in stored["pairs"]],
        "reading": Reading(**reading) if reading else None,
    }
    return QuestionOutcome(**{**stored, **exact, **plain})
