from __future__ import annotations

from typing import Annotated, TypedDict

from evaluation.models import LatencyReport, Replay, Report


class Link(TypedDict):
    id: int
    name: str
    url: Annotated[str, "Its page."]


def link_to(stored: Report | Replay | LatencyReport) -> Link:
    return {"id": stored.pk, "name": stored.name, "url": stored.get_absolute_url()}
