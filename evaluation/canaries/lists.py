"""The list of canaries with the newest run of each."""

from __future__ import annotations

from evaluation.canaries.page import CanaryRow
from pooling.tables.columns import Choice, Column, Filter
from pooling.tables.table import Table


def _queries(row: CanaryRow) -> str:
    return f"{row['canary'].tag or 'all'} of {row['canary'].release.name}"


def _run(row: CanaryRow) -> str:
    return row["newest"]["run"].name if row["newest"] else "no run measured yet"


def _value(row: CanaryRow) -> str | None:
    return row["newest"]["value"] if row["newest"] else None


def _state(row: CanaryRow) -> str:
    if row["newest"] is None:
        return "not measured"
    return "below" if row["newest"]["is_below"] else "met"


def _key(row: CanaryRow) -> int:
    return row["canary"].pk


CANARIES = Table(
    "canaries",
    "canary",
    nouns="canaries",
    columns=(
        Column("name", "Canary", "canary.name", natural=True, template="evaluation/_canary_name.html"),
        Column("run", "Newest run", _run, natural=True),
        Column("value", "Value", _value, number=True, template="evaluation/_canary_value.html"),
        Column("state", "Threshold met", _state, template="evaluation/_canary_state.html"),
        Column("threshold", "Threshold", "canary.threshold", number=True),
        Column("measure", "Measure", "canary.measure"),
        Column("queries", "Queries", _queries),
        Column("release", "Release", "canary.release.name", natural=True, hidden=True),
    ),
    sort="name",
    search=("name", "run", "queries", "measure"),
    search_hint="Name, run, tag or measure",
    filters=(
        Filter(
            "state",
            "State",
            (
                Choice("all", "All"),
                Choice("below", "Below", lambda row: _state(row) == "below"),
                Choice("met", "Met", lambda row: _state(row) == "met"),
            ),
            default="all",
        ),
    ),
    choose="canaries",
    key=_key,
    caption="Each canary and its newest run.",
)
