"""Whose answers came faster than anybody can read; what that means is in `labeling.items.reading`."""

from __future__ import annotations

from django.db.models import Case, Count, F, FloatField, Q, QuerySet, Value, When
from django.db.models.functions import Cast, Coalesce, Length, Substr

from labeling.items.reading import MOST_CHARACTERS, MS_PER_CHARACTER, FastAnnotator, is_implausible, least_ms
from labeling.models import Judgment
from pooling.models import Collection

# Of a judgment's document, as far as reading speed needs them.
CHARACTERS = Coalesce(Length(Substr("document__title", 1, MOST_CHARACTERS)), 0) + Coalesce(
    Length(Substr("document__text", 1, MOST_CHARACTERS)), 0
)


def too_fast_in(collection: Collection) -> list[FastAnnotator]:
    """Those whose answers in a collection are, of all that labels count; by name."""
    counts = (
        _timed(collection)
        .order_by()
        .values("annotator__username")
        .annotate(timed=Count("pk"), fast=Count("pk", filter=Q(event__active_ms__lt=F("least_ms"))))
    )
    annotators = (FastAnnotator(row["annotator__username"], row["fast"], row["timed"]) for row in counts)
    return sorted(
        [one for one in annotators if is_implausible(one.too_fast, one.timed)], key=lambda one: one.username
    )


def _timed(collection: Collection) -> QuerySet[Judgment]:
    """Counted answers with the `least_ms` of their text; not those unjudged or of adjudicators."""
    counted = Judgment.objects.opinions().filter(collection=collection, event__active_ms__isnull=False)
    characters = Cast(CHARACTERS, FloatField())
    least = Case(
        When(Q(characters__gt=MOST_CHARACTERS), then=Value(least_ms(MOST_CHARACTERS))),
        default=F("characters") * Value(MS_PER_CHARACTER),
        output_field=FloatField(),
    )
    return counted.annotate(characters=characters, least_ms=least)
