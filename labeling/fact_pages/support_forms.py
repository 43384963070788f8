"""The forms of queues of facts: opening one, and a page as the browser sends it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _

from labeling.fact_pages.opening import FactQueueOptions
from labeling.fact_pages.storing import FactPage, FactVerdict
from labeling.items.numbers import LARGEST_NUMBER, item_of
from pooling.interface.option_fields import form_fields
from pooling.interface.problems import InputError
from pooling.models import Collection, Pool


@form_fields(FactQueueOptions)
class FactQueueForm(forms.Form):
    """A queue of facts over a pool."""

    pool = forms.ModelChoiceField(Pool.objects.none(), label="Pool")
    name = forms.CharField(
        max_length=200, required=False, label="Name", help_text="Left empty, it is named after the pool."
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pool"].queryset = collection.pools.listed()  # type: ignore[attr-defined]


def page_from(values: Mapping[str, str]) -> tuple[int, FactPage]:
    """The item and the page that a form brought: for each fact `fact-N` its id, with `version-N`, `verdict-N`
    and perhaps `evidence-N` as "start-end".

    A fact without a verdict is left out, unless `none` says that the document supports none of the rest.
    """
    rest = "no" if "none" in values else ""
    try:
        verdicts = [
            FactVerdict(
                values[f"fact-{number}"],
                int(values[f"version-{number}"]),
                values.get(f"verdict-{number}") or rest,
                _span(values.get(f"evidence-{number}", "")),
            )
            for number in range(1, 100)
            if f"fact-{number}" in values and (values.get(f"verdict-{number}") or rest)
        ]
        page = FactPage(
            UUID(values["key"]),
            int(values["document_version"]),
            verdicts,
            int(values["active_ms"]) if values.get("active_ms") else None,
        )
        number = int(values["item"])
    except (KeyError, ValueError) as error:
        raise InputError(_("The page was incomplete. Look at it again.")) from error
    if not (0 <= number <= LARGEST_NUMBER and 0 < page.document_version < 2**31 and verdicts):
        raise InputError(_("The page was incomplete. Look at it again."))
    return item_of(number), page


def _span(written: str) -> tuple[int, int] | None:
    if not written:
        return None
    start, _dash, end = written.partition("-")
    return int(start), int(end)
