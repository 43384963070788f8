"""Recall by groups of documents in a report: are old ones, or those of one source, harder to find?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.failures.cutting import Cut, cut_documents, offered_keys
from evaluation.measures.intervals import FEWEST_QUERIES, Resampling, mean_intervals
from evaluation.measures.significance import RatioDifferences, adjusted, ratio_differences
from evaluation.models import Report
from evaluation.report_store.files import run_names, scan_relevant
from evaluation.report_store.options import headline_k
from pooling.formats.wording import signed
from pooling.heavy import Floats, Integers, np, npt, pl
from pooling.interface.api import answers
from pooling.interface.forms import AddressForm, say_left_out
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.models import Document

# Recall of groups of documents: how findable old ones, short ones or those of one source are.


#: Of fewer relevant documents, or of fewer queries than `FEWEST_QUERIES`, there are counts and no interval.
FEWEST_RELEVANT = 5


@dataclass(frozen=True)
class Span:
    """A share or a difference with its interval; null where too little is known for one."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def in_words(self) -> list[str]:
        """Of a difference: all three with their sign."""
        return [signed(one) for one in (self.value, self.low, self.high)]


@dataclass(frozen=True)
class GroupRecall:
    """Recall of one group: `found` of its `relevant` pairs of a query and a document."""

    name: str
    documents: int
    queries: int
    relevant: int
    found: int
    recall: Span
    difference: Annotated[Span, "From the documents of all other groups."]
    p: float | None
    p_holm: Annotated[float | None, "Corrected for the groups that are compared."]

    @property
    def is_small(self) -> bool:
        """Too little is known for an interval."""
        return self.recall.low is None


@dataclass(frozen=True)
class GroupedRecall:
    """All relevant documents, then their groups, which partition them."""

    key: str
    in_order: bool
    everything: GroupRecall
    groups: tuple[GroupRecall, ...]


def recall_by_documents(
    query: Integers, document_ids: list[str], hit: npt.NDArray[np.bool_], cut: Cut, *, resampling: Resampling
) -> GroupedRecall:
    """recall_g = Σ_q |R_q ∩ top K ∩ g| / Σ_q |R_q ∩ g|: a document counts as often as it is relevant.

    query, document_ids, hit: (n,) the relevant pairs, whether each is in the first K; queries are numbered
    from 0. The interval of a group is that of a ratio over queries (`mean_intervals` with weights), those of
    differences come from resamples that group and rest share. Holm corrects for the groups that are compared;
    two groups are one comparison.
    """
    group = np.array([cut.place[id] for id in document_ids], dtype=np.int64)
    shape = int(query.max(initial=-1)) + 1, len(cut.names)
    of, hits = (_table(query[rows], group[rows], shape) for rows in (slice(None), hit))
    ids = np.array(document_ids, dtype=object)
    counts = [len(set(ids[group == place].tolist())) for place in range(len(cut.names))]
    low, high = _intervals(hits, of, resampling)
    compared = _comparable(of)
    differences = ratio_differences(hits, of, resampling)
    groups = [
        GroupRecall(
            name,
            counts[g],
            int(np.count_nonzero(of[:, g])),
            int(of[:, g].sum()),
            int(hits[:, g].sum()),
            _span(_share(hits[:, g], of[:, g]), low[g], high[g]),
            *_difference(differences, g, compared),
        )
        for g, name in enumerate(cut.names)
    ]
    all_hits, all_of = hits.sum(axis=1, keepdims=True), of.sum(axis=1, keepdims=True)
    ends = _intervals(all_hits, all_of, resampling)
    everything = GroupRecall(
        "all",
        len(set(document_ids)),
        int(np.count_nonzero(all_of)),
        int(all_of.sum()),
        int(all_hits.sum()),
        _span(_share(all_hits, all_of), ends[0][0], ends[1][0]),
        Span(None),
        None,
        None,
    )
    return GroupedRecall(cut.key, cut.in_order, everything, tuple(one for one in groups if one.relevant))


def _table(query: Integers, group: Integers, shape: tuple[int, int]) -> Floats:
    counts = np.bincount(query * shape[1] + group, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def _share(hits: Floats, of: Floats) -> float:
    total = float(of.sum())
    return float(hits.sum()) / total if total else float("nan")


def _intervals(hits: Floats, of: Floats, resampling: Resampling) -> tuple[Floats, Floats]:
    """(G,) limits, NaN where there are too few documents; a query weighs its relevant documents."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(of > 0, hits / of, np.nan)
    low, high = mean_intervals(values, **resampling._asdict(), weights=np.maximum(of, 1.0))
    few = of.sum(axis=0) < FEWEST_RELEVANT
    return np.where(few, np.nan, low), np.where(few, np.nan, high)


def _comparable(of: Floats) -> npt.NDArray[np.bool_]:
    """(G,) whether a group and the rest both have enough documents and queries for an interval."""
    rest = of.sum(axis=1, keepdims=True) - of
    enough = [
        (one.sum(axis=0) >= FEWEST_RELEVANT) & (np.count_nonzero(one, axis=0) >= FEWEST_QUERIES)
        for one in (of, rest)
    ]
    both: npt.NDArray[np.bool_] = enough[0] & enough[1]
    return both


def _difference(
    made: RatioDifferences, g: int, compared: npt.NDArray[np.bool_]
) -> tuple[Span, float | None, float | None]:
    """The difference of one group from the rest; p-values only where both are large enough."""
    value = float(made.difference[g])
    if not compared[g]:
        return Span(None if np.isnan(value) else value), None, None
    p = np.where(compared, made.p, np.nan)
    # Of two groups each is the other's rest.
    holm = p if len(p) == 2 else adjusted(p)
    return _span(value, made.low[g], made.high[g]), float(p[g]), float(holm[g])


def _span(value: float, low: float, high: float) -> Span:
    ends = (None, None) if np.isnan(low) else (float(low), float(high))
    return Span(None if np.isnan(value) else value, *ends)


AT_ONCE = 5000
NO_KEYS = (
    "The relevant documents have no metadata to group them by. Import documents with a metadata object, such "
    'as {"indexed_at": "2026-05-01", "source": "wiki"}.'
)


class DocumentGroupsForm(AddressForm):
    by = forms.ChoiceField(required=False, label="Documents by")
    run = forms.ChoiceField(required=False, label="Run")
    k = forms.TypedChoiceField(required=False, coerce=int, label="K")

    def __init__(self, data: Any, *, report: Report, keys: list[str]) -> None:
        super().__init__(data)
        self.offer(by=keys, run=run_names(report), k=report.options["k"])
        self._report, self._keys = report, keys

    def chosen(self) -> GroupChoice:
        """The choice, with what is left out or unknown as usual."""
        self.is_valid()
        values = self.cleaned_data
        return GroupChoice(
            values.get("by") or self._keys[0],
            values.get("run") or run_names(self._report)[0],
            values.get("k") or headline_k(self._report.options),
        )


class GroupChoice(NamedTuple):
    by: str
    run: str
    k: int


class RelevantDocuments(NamedTuple):
    """The relevant pairs of a report with every run's ranks, and what is known of each document."""

    pairs: pl.DataFrame
    metadata: Mapping[str, Mapping[str, Any]]


def group_keys(report: Report) -> tuple[RelevantDocuments, list[str]]:
    pairs = scan_relevant(report).collect()
    wanted = pairs["document_id"].unique().sort().to_list()
    metadata: dict[str, Mapping[str, Any]] = {one: {} for one in wanted}
    for start in range(0, len(wanted), AT_ONCE):
        rows = Document.objects.filter(
            collection_id=report.collection_id, external_id__in=wanted[start : start + AT_ONCE]
        )
        metadata |= {one: facts or {} for one, facts in rows.values_list("external_id", "metadata")}
    documents = RelevantDocuments(pairs, metadata)
    return documents, offered_keys(documents.metadata.values())


def grouped_recall(report: Report, documents: RelevantDocuments, choice: GroupChoice) -> GroupedRecall:
    rank = documents.pairs[f"rank_{run_names(report).index(choice.run)}"]
    options = report.options
    return recall_by_documents(
        (documents.pairs["query_id"].rank("dense") - 1).to_numpy().astype("int64"),
        documents.pairs["document_id"].to_list(),
        (rank <= choice.k).fill_null(False).to_numpy(),
        cut_documents(choice.by, documents.metadata),
        resampling=Resampling(
            options["bootstrap_samples"], options["seed"], options.get("confidence") or 0.95
        ),
    )


def sentence_of(grouped: GroupedRecall) -> str:
    """The clearest difference in words; "" where nothing was compared."""
    compared = [one for one in grouped.groups if one.p_holm is not None]
    if not compared:
        return ""
    least = min(compared, key=lambda one: (one.p_holm, one.recall.value))
    if least.p_holm is None or least.p_holm >= 0.05:
        return "No group differs from the rest by more than the choice of queries explains."
    word = "less" if (least.difference.value or 0) < 0 else "more"
    return (
        f"Documents of “{least.name}” are found {word} often than the rest: recall {least.recall.value:.3f}, "
        f"a difference of {signed(least.difference.value)} (p = {least.p_holm:.3g} after Holm's correction)."
    )


@login_required
@require_safe
def report_documents(request: HttpRequest, report_id: int) -> HttpResponse:
    """Recall by a key of the documents' metadata: `?by=`, `?run=` and `?k=`."""
    report = report_for(request.user, report_id)
    documents, keys = group_keys(report)
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
        form = DocumentGroupsForm(request.GET, report=report, keys=keys)
        choice = form.chosen()
        say_left_out(request, form, choice._asdict())
        grouped = grouped_recall(report, documents, choice)
        context |= {"choice": choice, "grouped": grouped, "sentence": sentence_of(grouped)}
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
    @answers(DocumentGroupsSerializer, parameters=[DocumentGroupsQuerySerializer])
    def get(self, request: Request, report_id: int) -> object:
        """How many of the relevant documents of each group a run finds, and how groups differ."""
        report = report_for(request.user, report_id)
        documents, keys = group_keys(report)
        if not keys:
            raise InputError(NO_KEYS, field="by")
        form = DocumentGroupsForm(request.query_params, report=report, keys=keys)
        if not form.is_valid():
            name, problems = next(iter(form.errors.items()))
            raise InputError(str(problems[0]), field=name)
        choice = form.chosen()
        grouped = grouped_recall(report, documents, choice)
        return {**choice._asdict(), "keys": keys, "everything": grouped.everything, "groups": grouped.groups}
