"""What the queries of a collection say of the log that they were drawn from, in words."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db.models import Count

from pooling.formats.wording import counted, plural
from pooling.logs.population import LOG_SHARE
from pooling.models import Collection, Query

_KEYS = ("window", "draw", LOG_SHARE, "stratum", "N_h")


def draws_in_words(collection: Collection) -> list[str]:
    """A sentence or two for each draw, and one for the queries that were not drawn; none where no query was.
    One database query, two where one was."""
    queries = Query.objects.listed().filter(collection=collection)
    names = [f"metadata__sampling__{key}" for key in _KEYS]
    rows = queries.filter(metadata__has_key="sampling").order_by().values_list(*names)
    draws: dict[tuple[Any, ...], list[tuple[Any, Any, int]]] = defaultdict(list)
    for window, draw, share, stratum, size, count in rows.annotate(queries=Count("pk")):
        draws[window, draw, share].append((stratum, size, count))
    if not draws:
        return []
    words = [_in_words(window, share, strata) for (window, _, share), strata in draws.items()]
    left = queries.exclude(metadata__has_key="sampling").count()
    if left:
        words.append(f"{counted(left, 'query')} {plural(left, 'was', 'were')} not drawn.")
    return sorted(words[: len(draws)]) + words[len(draws) :]


def _in_words(window: object, share: object, strata: list[tuple[Any, Any, int]]) -> str:
    number = sum(count for *_, count in strata)
    parts = sorted(
        f"{stratum} {count:,}" + (f" of {size:,}" if isinstance(size, int) else "")
        for stratum, size, count in strata
    )
    log = f"the log of {window}" if window else "a log whose days nobody named"
    begin = f"{counted(number, 'query')} drawn from {log}: {', '.join(parts)}."
    if not isinstance(share, int | float) or not 0 < share < 1:
        return begin
    return f"{begin} {1 - share:.0%} of its traffic could not be drawn: too few people asked it."
