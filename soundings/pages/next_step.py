"""The line *Next* of a collection: one function over what is known of it, for overview and home page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.urls import reverse

from evaluation.comparisons.next_step import NextMove
from labeling.progress.of_collection import QueueState
from pooling.formats.wording import counted, plural
from pooling.tables.at_work import SENTENCES

# From this share of a queue on, labels are enough to release.
ENOUGH = 80


@dataclass(frozen=True)
class UncoveredRun:
    """A run that no pool has, the pool that its pairs can be added to, and how many pairs that are new."""

    run: str
    pool: int
    pairs: int | None


@dataclass(frozen=True)
class UnsettledPair:
    """The newest report's next step: two runs, documents to `judge` or `queries` to have in all, at a K."""

    report: int
    kind: str
    count: int
    first: str
    second: str
    k: int


@dataclass(frozen=True)
class State:
    """State of a collection; what only an overview looks up is None elsewhere.

    queries, documents (with a text), runs, pools: whether there are any. queues: newest first. judged:
    whether any pair was. imported: labels from files; after a release, whether there are any. released: name
    of the newest release, "" without one; is_measured: whether a report is on it; fresh: queues that were
    opened after it. unreleased: judgments and imported labels after it. audit_answered: the audit of the
    newest queue is. unopened: newest pool without a queue. of_found: the newest report,
    where its recall is of what was found and no pool has an audit. deeper: what the newest report would have
    done where its K had to be small because nobody judged deeper. under_way: the first job that makes each of
    queries, documents, runs, pool, queue, release and report. canary: one that checks each new run.
    paused: queues that the person who looks may be paused in.
    """

    slug: str
    queries: bool = False
    documents: bool = False
    runs: bool = False
    pools: bool = False
    queues: tuple[QueueState, ...] = ()
    judged: bool = False
    imported: int = 0
    released: str = ""
    is_measured: bool = False
    fresh: frozenset[int] = frozenset()
    unreleased: int | None = None
    audit_answered: bool = False
    unopened: tuple[int, str] | None = None
    uncovered: UncoveredRun | None = None
    unsettled: UnsettledPair | None = None
    of_found: int | None = None
    deeper: NextMove | None = None
    under_way: Mapping[str, int] = field(default_factory=dict)
    canary: str = ""
    paused: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Next:
    """The next step in words, and its button. releases: the button releases and measures at once. labels:
    where labels that one already has are imported, if that would do as well."""

    sentence: str
    action: str = ""
    url: str = ""
    releases: bool = False
    labels: str = ""


def next_of(state: State) -> Next:
    """The first step that applies."""
    return (
        _to_import(state)
        or _to_queue(state)
        or _to_release(state)
        or _to_measure(state)
        or _to_cover(state)
        or _to_deepen(state)
        or _to_settle(state)
        or _at_the_end(state)
    )


def _waits(state: State, made: str, sentence: str = "") -> Next | None:
    """That a job makes what is next."""
    job = state.under_way.get(made)
    if job is None:
        return None
    return Next(sentence or SENTENCES[made], "See how far it is", reverse("job", args=[job]))


def _to_import(state: State) -> Next | None:
    if not state.queries:
        waits = _waits(state, "queries")
        return waits or Next("There are no queries yet.", "Import queries", _url(state, "queries"))
    if not state.documents:
        waits = _waits(state, "documents")
        return waits or Next("There are no documents yet.", "Import documents", _url(state, "documents"))
    if not state.runs:
        waits = _waits(state, "runs")
        return waits or Next("There are no runs yet.", "Import a run", _url(state, "run_import"))
    return None


def _to_queue(state: State) -> Next | None:
    """Labels from a file need neither pool nor queue, nor do those of queues that were put away."""
    if (state.imported or state.judged) and not state.queues:
        return None
    if not state.pools:
        labels = _url(state, "qrels_import")
        return _waits(state, "pool") or Next(
            "There is no pool yet.", "Build a pool", _url(state, "pool_new"), labels=labels
        )
    if not state.queues:
        waits = _waits(state, "queue")
        return waits or Next("There is no queue yet.", "Open a queue", _url(state, "queue_new"))
    return None


def _to_release(state: State) -> Next | None:
    """Of the newest queue that is judged: after a release, only of one that was opened since."""
    queue = next((one for one in state.queues if one.is_open or one.settled), None)
    if state.released and (queue is None or queue.pk not in state.fresh):
        return None
    if waits := _waits(state, "release"):
        return waits
    if not state.queues and state.judged:
        return _released("The judgments of queues that were put away are labels: enough to release.")
    if queue is None or not (state.judged or queue.settled):
        if state.imported and not state.released:
            labels = counted(state.imported, "label")
            return _released(f"{labels} {plural(state.imported, 'was', 'were')} imported: enough to release.")
        newest = queue or state.queues[0]
        return _judge(state, newest, f"Nothing of “{newest.name}” is judged yet.")
    if queue.undecided and (queue.is_finished or queue.percent >= ENOUGH):
        share = "" if queue.is_finished else f"{queue.percent} % of "
        wait = f"{counted(queue.undecided, 'pair')} {plural(queue.undecided, 'waits', 'wait')}"
        sentence = f"{share}“{queue.name}” is judged, and {wait} for a decision."
        return Next(sentence, "Decide", reverse("adjudication", args=[queue.pk]))
    if queue.is_finished:
        nothing_new = bool(state.released) and state.unreleased == 0
        return None if nothing_new else _released(f"“{queue.name}” is judged: enough to release.")
    if queue.percent >= ENOUGH:
        return _released(f"{queue.percent} % of “{queue.name}” is judged: enough to release.")
    if state.audit_answered:
        return _released(f"The audit of “{queue.name}” is answered: enough to release.")
    left = f"Left to judge: {queue.left:,} of {counted(queue.pairs, 'pair')} of “{queue.name}”."
    return _judge(state, queue, left)


def _to_measure(state: State) -> Next | None:
    if state.is_measured:
        return None
    return _waits(state, "report", f"“{state.released}” is being measured.") or Next(
        f"“{state.released}” is not measured yet.", "Make a report", _url(state, "report_new")
    )


def _to_cover(state: State) -> Next | None:
    if state.unopened:
        pool, name = state.unopened
        url = f"{_url(state, 'queue_new')}?pool={pool}"
        waits = _waits(state, "queue")
        return waits or Next(f"The pairs of “{name}” are in no queue yet.", "Open a queue", url)
    uncovered = state.uncovered
    if uncovered is None or uncovered.pairs == 0:
        return None
    if waits := _waits(state, "pool"):
        return waits
    url = reverse("pool_extend", args=[state.slug, uncovered.pool])
    if uncovered.pairs is None:
        return Next(f"{uncovered.run} is in no pool yet.", "Pool its pairs", url)
    return Next(f"{counted(uncovered.pairs, 'new pair')} from {uncovered.run}.", "Pool them", url)


def _to_deepen(state: State) -> Next | None:
    move = state.deeper
    if move is None or state.unreleased:
        return None
    return Next(move.sentence, move.button, move.address)


def _to_settle(state: State) -> Next | None:
    pair = state.unsettled
    if pair and pair.kind == "judge":
        settles = f"settle {pair.first} against {pair.second}"
        url = reverse("report_comparisons", args=[pair.report])
        names = urlencode({"a": pair.first, "b": pair.second, "k": pair.k})
        return Next(
            f"Judge {counted(pair.count, 'pair')} to {settles}.", "Choose them", f"{url}?{names}#labels"
        )
    if state.unreleased:
        labels = counted(state.unreleased, "new label")
        return _waits(state, "release") or _released(f"{labels} since “{state.released}”: release again.")
    if pair:
        takes = f"{pair.first} against {pair.second} takes about {pair.count:,} in all"
        return Next(f"Add queries: {takes}.", "Import queries", _url(state, "queries"))
    return None


def _at_the_end(state: State) -> Next:
    queue = next((one for one in state.queues if one.is_open), None)
    if queue:
        left = counted(queue.left, "pair")
        return _judge(state, queue, f"All labels are measured; {left} of “{queue.name}” left.")
    if state.of_found is not None:
        sentence = "Recall is known of what was found so far alone."
        return Next(sentence, "Estimate the rest", reverse("report", args=[state.of_found]))
    watched = f" The canary “{state.canary}” checks the next run." if state.canary else ""
    return Next(f"Everything is measured.{watched}", "Import a run", _url(state, "run_import"))


def _released(sentence: str) -> Next:
    return Next(sentence, "Release and measure", releases=True)


def _judge(state: State, queue: QueueState, sentence: str) -> Next:
    if queue.pk in state.paused:
        return Next(sentence, "Open the queue", reverse("queue", args=[queue.pk]))
    return Next(sentence, "Judge", reverse("judge", args=[queue.pk]))


def _url(state: State, name: str) -> str:
    return reverse(name, args=[state.slug])
