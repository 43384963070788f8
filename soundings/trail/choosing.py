"""Choice of lines of the trail: by whom or about whom, in which collection, and from day to day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.utils import timezone

from pooling.interface.problems import InputError
from pooling.models import AdminAction
from pooling.tables.columns import Choice, Filter

#: What happened, in a few kinds.
WHAT = Filter(
    "what",
    "What happened",
    (
        Choice("", "All"),
        Choice("sign-ins", "Sign-ins", Q(action__in=["signed in", "sign-in failed"])),
        Choice(
            "files",
            "Files",
            Q(action__in=["file downloaded", "file exported", "backup taken", "report shared"]),
        ),
        Choice(
            "rights",
            "Rights",
            Q(action__regex="^(member|role|invitation|token|account|password|shared link|site admin)")
            | Q(action__regex="^(second factor|recovery code)")
            | Q(action__endswith="under /admin/"),
        ),
        Choice(
            "deletions",
            "Deletions",
            Q(action__regex="(deleted|erased|restored|archived|renamed|removed|taken back)$"),
        ),
    ),
)

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(9000, 1, 1)


class TrailForm(forms.Form):
    who = forms.CharField(required=False, max_length=150, label="Who", help_text="A user name.")
    collection = forms.SlugField(required=False, max_length=60, help_text="Its short name.")
    since = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}), label="From")
    until = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}), label="To")
    what = forms.ChoiceField(
        required=False, choices=[(one.key, one.title) for one in WHAT.choices], widget=forms.HiddenInput
    )

    def clean(self) -> None:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and until < since:
            self.add_error("until", "This is before the first day.")


class CollectionTrailForm(TrailForm):
    """Of one collection, which is no choice."""

    collection = None  # type: ignore[assignment]  # how Django removes a field


def chosen_lines(rows: QuerySet[AdminAction], form: TrailForm) -> QuerySet[AdminAction]:
    """The lines that a form asks for, by the fields that are filled; `InputError` names those at fault."""
    if not form.is_valid():
        problems = {name: " ".join(map(str, errors)) for name, errors in form.errors.items()}
        raise InputError(" ".join(f"{name}: {text}" for name, text in problems.items()), fields=problems)
    return lines_of(rows, form.cleaned_data)


def lines_of(rows: QuerySet[AdminAction], chosen: Mapping[str, Any]) -> QuerySet[AdminAction]:
    """The lines that the valid fields of a form ask for."""
    if who := chosen.get("who"):
        rows = rows.filter(Q(actor__username=who) | Q(about__username=who))
    if slug := chosen.get("collection"):
        rows = rows.filter(collection__slug=slug)
    if since := chosen.get("since"):
        rows = rows.filter(at__gte=_morning(since))
    if until := chosen.get("until"):
        rows = rows.filter(at__lt=_morning(min(until, LAST_DAY) + timedelta(days=1)))
    condition = next((one.condition for one in WHAT.choices if one.key == chosen.get("what")), None)
    return rows.filter(condition) if isinstance(condition, Q) else rows


def _morning(day: date) -> datetime:
    """Its first moment; of days before and after all lines, one that every clock and time zone knows."""
    nearest = min(max(day, FIRST_DAY), LAST_DAY)
    return timezone.make_aware(datetime.combine(nearest, time.min))
