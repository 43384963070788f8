"""Recall by groups of documents in a report: are old ones, or those of one source, harder to find?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.document_groups.cutting import cut_documents, offered_keys
from evaluation.document_groups.recall import GroupedRecall, GroupRecall, recall_by_documents
from evaluation.models import Report
from evaluation.report_store.files import run_names, scan_relevant
from evaluation.report_store.options import headline_k
from evaluation.significance import Resampling
from pooling.heavy import pl
from pooling.interface.api import answers
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.models import Document

AT_ONCE = 5000
NO_KEYS = (
    "The relevant documents have no metadata to group them by. Import documents with a metadata object, such "
    'as {"indexed_at": "2026-05-01", "source": "wiki"}.'
)


class DocumentGroupsForm(forms.Form):
    """Which key of the documents' metadata makes the groups, and whose recall at which K is looked at."""

    by = forms.ChoiceField(required=False, label="Documents by")
    run = forms.ChoiceField(required=False, label="Run")
    k = forms.TypedChoiceField(required=False, coerce=int, label="K")

    def __init__(self, data: Any, *, report: Report, keys: list[str]) -> None:
        super().__init__(data)
        offered = {"by": keys, "run": run_names(report), "k": report.options["k"]}
        for name, values in offered.items():
            self.fields[name].choices = [(value, value) for value in values]  # type: ignore[attr-defined]
        self._report, self._keys = report, keys

    def chosen(self) -> GroupsAsked:
        """The choice, with what is left out or unknown as usual."""
        values = self.cleaned_data if self.is_valid() else {}
        return GroupsAsked(
            values.get("by") or self._keys[0],
            values.get("run") or run_names(self._report)[0],
            values.get("k") or headline_k(self._report.options),
        )


class GroupsAsked(NamedTuple):
    """A key of the metadata, a run, and K."""

    by: str
    run: str
    k: int


class RelevantDocuments(NamedTuple):
    """The relevant pairs of a report with every run's ranks, and what is known of each document."""

    pairs: pl.DataFrame
    metadata: Mapping[str, Mapping[str, Any]]


def relevant_documents(report: Report) -> RelevantDocuments:
    """Read both; documents that the collection does not know have no metadata."""
    pairs = scan_relevant(report).collect()
    wanted = pairs["document_id"].unique().sort().to_list()
    metadata: dict[str, Mapping[str, Any]] = {one: {} for one in wanted}
    for start in range(0, len(wanted), AT_ONCE):
        known = Document.objects.filter(
            collection_id=report.collection_id, external_id__in=wanted[start : start + AT_ONCE]
        )
        metadata |= {one: facts or {} for one, facts in known.values_list("external_id", "metadata")}
    return RelevantDocuments(pairs, metadata)


def group_keys(report: Report) -> tuple[RelevantDocuments, list[str]]:
    """The relevant documents, and the keys of their metadata that make groups."""
    found = relevant_documents(report)
    return found, offered_keys(found.metadata.values())


def grouped_recall(report: Report, found: RelevantDocuments, asked: GroupsAsked) -> GroupedRecall:
    """Recall of each group in the run's first K, with the report's resampling."""
    rank = found.pairs[f"rank_{run_names(report).index(asked.run)}"]
    options = report.options
    return recall_by_documents(
        (found.pairs["query_id"].rank("dense") - 1).to_numpy().astype("int64"),
        found.pairs["document_id"].to_list(),
        (rank <= asked.k).fill_null(False).to_numpy(),
        cut_documents(asked.by, found.metadata),
        resampling=Resampling(
            options["bootstrap_samples"], options["seed"], options.get("confidence") or 0.95
        ),
    )


def sentence_of(found: GroupedRecall) -> str:
    """The clearest difference in words; "" where nothing was compared."""
    compared = [one for one in found.groups if one.p_holm is not None]
    if not compared:
        return ""
    least = min(compared, key=lambda one: (one.p_holm, one.recall.value))
    if least.p_holm is None or least.p_holm >= 0.05:
        return "No group differs from the rest by more than the choice of queries explains."
    word = "less" if (least.difference.value or 0) < 0 else "more"
    return (
        f"Documents of “{least.name}” are found {word} often than the rest: recall {least.recall.value:.3f}, "
        f"a difference of {least.difference.value:+.3f} (p = {least.p_holm:.3g} after Holm's correction)."
    )


@login_required
@require_safe
def report_documents(request: HttpRequest, report_id: int) -> HttpResponse:
    """Recall by a key of the documents' metadata: `?by=`, `?run=` and `?k=`."""
    report = report_for(request.user, report_id)
    found, keys = group_keys(report)
    context: dict[str, Any] = {
        "report": report,
        "collection": report.collection,
        "section": "reports",
        "keys": keys,
        "runs": run_names(report),
        "cutoffs": report.options["k"],
        "problem": "" if keys else NO_KEYS,
    }
    if keys:
        asked = DocumentGroupsForm(request.GET, report=report, keys=keys).chosen()
        grouped = grouped_recall(report, found, asked)
        context |= {"asked": asked, "grouped": grouped, "sentence": sentence_of(grouped)}
        context["rows"] = [grouped.everything, *grouped.groups]
    return render(request, "evaluation/report_documents.html", context)


class DocumentGroupsSerializer(serializers.Serializer[Any]):
    """Recall by a key of the documents' metadata."""

    by = serializers.CharField()
    run = serializers.CharField()
    k = serializers.IntegerField()
    keys = serializers.ListField(child=serializers.CharField(), help_text="What else makes groups.")
    everything = shape(GroupRecall, "DocumentGroup")()
    groups = shape(GroupRecall)(many=True)


class DocumentGroupsQuerySerializer(serializers.Serializer[Any]):
    """What is asked; the first key, the report's first run and its usual K where it is left out."""

    by = serializers.CharField(required=False)
    run = serializers.CharField(required=False)
    k = serializers.IntegerField(required=False)


class ReportDocuments(APIView):
    """Recall by groups of documents."""

    @answers(DocumentGroupsSerializer, parameters=[DocumentGroupsQuerySerializer])
    def get(self, request: Request, report_id: int) -> object:
        """How many of the relevant documents of each group a run finds, and how groups differ."""
        report = report_for(request.user, report_id)
        found, keys = group_keys(report)
        if not keys:
            raise InputError(NO_KEYS, field="by")
        form = DocumentGroupsForm(request.query_params, report=report, keys=keys)
        if not form.is_valid():
            name, problems = next(iter(form.errors.items()))
            raise InputError(str(problems[0]), field=name)
        asked = form.chosen()
        grouped = grouped_recall(report, found, asked)
        return {**asked._asdict(), "keys": keys, "everything": grouped.everything, "groups": grouped.groups}
