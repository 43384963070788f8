from __future__ import annotations

from labeling.models import QrelsRelease
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table


def _page(release: QrelsRelease) -> str:
    return release.get_absolute_url()


RELEASES = Table(
    "releases",
    "release",
    columns=(
        Column("name", "Release", natural=True, link=_page, style="id"),
        Column("labels", "Labels", "pair_count", number=True),
        Column("relevant", "Relevant", "relevant_count", number=True),
        Column("queries", "Queries", "query_count", number=True),
        Column("rule", "Rule"),
        Column("created", "Created", "released_at", to_the_minute=True, style="quiet"),
        Column("by", "Created by", "released_by.username", hidden=True),
        Column("sha256", "SHA-256", sort=False, hidden=True, style="mono id"),
    ),
    sort="-created",
    search=("name__icontains", "rule__icontains"),
    search_hint="Name or rule",
    choose="releases",
    empty=Empty(
        "No releases yet. A release freezes the labels under a name, so that results can be reproduced.",
        "Make a release",
        "release_new",
    ),
)
