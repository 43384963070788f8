"""The list of replays."""

from __future__ import annotations

from evaluation.models import Replay
from pooling.tables.columns import Column
from pooling.tables.table import Table


def _page(replay: Replay) -> str:
    return replay.get_absolute_url()


def _labels(replay: Replay) -> str:
    return replay.options.get("labels", {}).get("release") or "current labels"


def _runs(replay: Replay) -> int:
    return len(replay.options.get("runs", ()))


def _strategies(replay: Replay) -> int:
    return len(replay.options.get("strategies", ()))


REPLAYS = Table(
    "replays",
    "replay",
    columns=(
        Column("name", "Replay", natural=True, link=_page, style="id"),
        Column("labels", "Labels", _labels),
        Column("runs", "Runs", _runs, number=True),
        Column("depth", "Depth", "options.depth", number=True),
        Column("strategies", "Strategies", _strategies, number=True),
        Column("created", "Created", "created_at", to_the_minute=True, style="quiet"),
        Column("by", "Created by", "created_by.username", style="quiet"),
    ),
    sort="-created",
    search=("name", "labels", "by"),
    search_hint="Name, labels or person",
    choose="replays",
    caption="Each replay judges labelled pairs again with several strategies. Replays never change.",
)
