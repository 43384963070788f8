"""The chain of the trail: each line has a checksum over what it says and over the line before it.

A line is stored in the transaction of the deed and numbered right after it, in a short transaction that locks
`TrailHead`: two processes cannot give the same number, and no deed waits for another. A line whose process
ended in between is numbered with the next one.

What is covered is what stays: people and collections by number, and instead of the address a checksum of it
with random characters, which are removed together with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC
from hashlib import sha256
from typing import Annotated

from django.db import transaction

from pooling.account_models import TrailHead
from pooling.interface.results import PAGE_ONLY
from pooling.models import AdminAction

BATCH = 500
READ_AT_ONCE = 2000


@dataclass(frozen=True)
class ChainCheck:
    """Result of a check of the chain."""

    number: Annotated[int, "The line up to which it is whole."]
    sha256: Annotated[str, PAGE_ONLY]
    problem: Annotated[str, {"allow_blank": True}, "The first line that is wrong; empty: none."] = ""

    # Kept elsewhere, it shows later whether lines were cut off.
    @property
    def newest(self) -> Annotated[str, "NUMBER:CHECKSUM of that line, to keep elsewhere."]:
        return f"{self.number}:{self.sha256}"

    @property
    def sentence(self) -> str:
        if self.problem:
            whole = f" Lines up to {self.number:,} are whole." if self.number else ""
            return f"{self.problem}{whole}"
        return f"Whole up to line {self.number:,}." if self.number else "There is no line yet."


def checksum_of(row: AdminAction, previous: str) -> str:
    """The checksum of a numbered line that follows the line with the checksum `previous`."""
    content = [
        *(row.number, row.at.astimezone(UTC).isoformat(), row.actor_id, row.about_id, row.action),
        *(row.subject, row.detail, row.collection_id, row.address_sha256, previous),
    ]
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def seal() -> None:
    """Give every stored line that has none its number and its checksum."""
    while AdminAction.objects.filter(number=None).exists():
        _seal_some()


@transaction.atomic
def _seal_some() -> None:
    TrailHead.objects.get_or_create(pk=1)
    head = TrailHead.objects.select_for_update().get(pk=1)
    waiting = list(AdminAction.objects.filter(number=None).order_by("pk")[:BATCH])
    for row in waiting:
        row.number = head.number + 1
        row.sha256 = checksum_of(row, head.sha256)
        head.number, head.sha256 = row.number, row.sha256
    AdminAction.objects.bulk_update(waiting, ["number", "sha256"])
    head.save()


def check_chain(noted: tuple[int, str] | None = None) -> ChainCheck:
    """Read and compare every line; `noted`: a number and checksum kept elsewhere, if `TrailHead` lies."""
    seal()
    head = TrailHead.objects.filter(pk=1).first() or TrailHead()
    whole = ChainCheck(0, "")
    rows = AdminAction.objects.filter(number__lte=head.number).order_by("number")
    for row in rows.iterator(chunk_size=READ_AT_ONCE):
        problem = _problem_of(row, whole, noted)
        if problem:
            return ChainCheck(whole.number, whole.sha256, problem)
        whole = ChainCheck(row.number or 0, row.sha256)
    return ChainCheck(whole.number, whole.sha256, _problem_at_end(whole, head, noted))


def _problem_of(row: AdminAction, before: ChainCheck, noted: tuple[int, str] | None) -> str:
    number = before.number + 1
    if row.number != number:
        return f"Line {number:,} is missing."
    if row.sha256 != checksum_of(row, before.sha256) or not _has_its_address(row):
        return f"Line {number:,} is not as it was written."
    if noted and noted[0] == number and noted[1] != row.sha256:
        return f"Line {number:,} is another one than that of the checksum that you kept."
    return ""


def _has_its_address(row: AdminAction) -> bool:
    """The address is the one that was written, or was removed."""
    if not row.address:
        return True
    return row.address_sha256 == sha256(f"{row.address_salt}{row.address}".encode()).hexdigest()


def _problem_at_end(whole: ChainCheck, head: TrailHead, noted: tuple[int, str] | None) -> str:
    last = max(head.number, noted[0] if noted else 0)
    if last > whole.number + 1:
        return f"Lines {whole.number + 1:,} to {last:,} are missing at the end."
    if last > whole.number:
        return f"Line {last:,} is missing at the end."
    if head.sha256 != whole.sha256:
        return f"Line {whole.number:,} is not the one that was written last."
    return ""
