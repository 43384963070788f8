"""Links of new things for the HTTP interface and for finished jobs."""

from __future__ import annotations

from typing import Annotated, TypedDict

from evaluation.models import LatencyReport, Replay, Report


class Link(TypedDict):
    """Something stored, with the address of its page."""

    id: int
    name: str
    url: Annotated[str, "Its page."]


def link_to(stored: Report | Replay | LatencyReport) -> Link:
    """Number, name and address."""
    return {"id": stored.pk, "name": stored.name, "url": stored.get_absolute_url()}
