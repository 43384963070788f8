"""The list of models and prompts with what each is worth."""

from __future__ import annotations

from django.urls import reverse

from labeling.worth.facts import WorthRow
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table


def _page(row: WorthRow) -> str:
    return reverse("prelabeler", args=[row["prelabeler"].pk])


def _verdict(row: WorthRow) -> str:
    return row["verdict"] or row["why"]


PRELABELERS = Table(
    "prelabelers",
    "model",
    columns=(
        Column("model", "Model", "prelabeler.model", natural=True, link=_page, style="id"),
        Column("way", "Prompt", "prelabeler.prompt", natural=True, template="labeling/_prelabelers_way.html"),
        Column("verdict", "Verdict", _verdict, template="labeling/_prelabelers_verdict.html", style="wide"),
        Column("pairs", "Pairs", number=True),
        Column("labels", "Blind labels", number=True),
    ),
    search=("model", "way"),
    search_hint="Model or prompt",
    empty=Empty("No model has been asked yet. Open a queue and choose Pre-labels by a model."),
)
