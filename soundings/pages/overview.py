"""The steps through a collection, for overview and home page, by two queries that count nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.urls import reverse

from evaluation.comparisons.next_step import NextMove, deeper_move
from evaluation.models import Report
from evaluation.scoring.estimate_figures import LABELS
from evaluation.scoring.wording import decimal
from labeling.judging.blind_counts import count_of_answers, queues_with_left
from labeling.models import ImportedLabel, Judgment, QrelsRelease, Quarantine, Queue
from labeling.progress.of_collection import QueueState, queue_states
from pooling.formats.wording import counted
from pooling.models import Collection, Document, Membership, Pool, Query, Role, Run
from pooling.people.access import collections_of
from pooling.pools.uncovered import merged_pools
from pooling.tables.at_work import MAKING, jobs_at_work
from pooling.tidying.kept import ARCHIVED_OR_DELETED, Kept
from soundings.pages.next_step import Next, State, next_of


@dataclass(frozen=True)
class Step:
    name: str
    detail: str
    url: str
    done: bool


@dataclass(frozen=True)
class CollectionRow:
    """A collection on somebody's home page: of how many items how many are closed; to an annotator, who is
    told nothing of the items, `done` is what they answered. best: the newest report's best run at its K.
    only_queue: the one queue an annotator can judge in, None where there are several or none; is_paused: it
    is paused for them; has_left: it has something for them."""

    collection: Collection
    role: str
    items: int | None
    done: int
    next: Next | None
    best: Best | None = None
    only_queue: int | None = None
    is_paused: bool = False
    has_left: bool = False

    @property
    def percent(self) -> int:
        """Judged items in per cent, rounded down, so that 100 means all."""
        return 100 * self.done // self.items if self.items else 0


@dataclass(frozen=True)
class Best:
    """The best run of a report: its recall at K as read first, and whether it is of what was found alone."""

    run: str
    k: int
    recall: str
    of_found: bool


def home_collections(user: User) -> QuerySet[Collection]:
    return collections_of(user).filter(archived_at=None)


def only_annotates(user: User) -> bool:
    """True for somebody who is nothing but an annotator in what the home page lists."""
    mine = home_collections(user)
    if user.is_superuser:
        return not mine.exists()
    others = Membership.objects.filter(user=user, collection__in=mine).exclude(role=Role.ANNOTATOR)
    return not others.exists()


def home_rows(user: User) -> QuerySet[Collection]:
    """Collections as in `home_collections`, with all that their cards say but the queues."""
    own_role = Membership.objects.filter(collection=OuterRef("pk"), user_id=user.pk).values("role")[:1]
    paused = Quarantine.objects.filter(
        queue__collection=OuterRef("pk"),
        queue__state=Queue.State.OPEN,
        queue__kind=Queue.Kind.PAIRS,
        queue__archived_at=None,
        queue__deleted_at=None,
        annotator=user.pk,
        lifted_at=None,
    )
    return with_state(home_collections(user)).annotate(
        is_paused_somewhere=Exists(paused),
        own_role=Subquery(own_role),
        own=Case(
            When(own_role=Role.ANNOTATOR, then=count_of_answers(user, collection=OuterRef("pk"))), default=0
        ),
        query_count=_count(_of(Query)),
        run_count=_count(_of(Run)),
    )


def listed_collections(user: User, some: Iterable[Collection] | None = None) -> list[CollectionRow]:
    """The collections of `user`, or some of `home_rows`, with role, progress, newest answer and next step;
    as many queries however many there are."""
    collections = list(home_rows(user) if some is None else some)
    queues = queue_states(collection.pk for collection in collections)
    rows = [_listed(collection, user, queues.get(collection.pk, [])) for collection in collections]
    if not (only := [row.only_queue for row in rows if row.only_queue]):
        return rows
    left = queues_with_left(Queue.objects.filter(pk__in=only), user)
    return [replace(row, has_left=row.only_queue in left) for row in rows]


def _listed(collection: Any, user: User, queues: Sequence[QueueState]) -> CollectionRow:
    role = Role.ADMIN if user.is_superuser else Role(collection.own_role)
    if role == Role.ANNOTATOR:
        there = [one.pk for one in queues if one.state == Queue.State.OPEN]
        only = there[0] if len(there) == 1 else None
        is_paused = only is not None and collection.is_paused_somewhere
        return CollectionRow(
            collection, role, None, collection.own, None, only_queue=only, is_paused=is_paused
        )
    state = state_of(collection, queues)
    if collection.is_paused_somewhere:
        state = replace(state, paused=frozenset(one.pk for one in queues))
    following = next_of(state) if role == Role.ADMIN else None
    items, done = sum(one.pairs for one in queues), sum(one.settled for one in queues)
    return CollectionRow(collection, role, items, done, following, _best(collection.newest_summary))


def _best(summary: Mapping[str, Any] | None) -> Best | None:
    answer = (summary or {}).get("answer")
    if not answer:
        return None
    number = decimal(answer["recall"])
    if answer["recall"] is None:
        number = f"{decimal(answer['low'])}–{decimal(answer['high'])}"
    return Best(answer["run"], answer["k"], number, answer["basis"] == LABELS)


def with_state(collections: QuerySet[Collection]) -> QuerySet[Collection]:
    """`collections` with what `state_of` reads."""
    has_report = Exists(Report.objects.filter(release=OuterRef("pk")))
    releases = (
        QrelsRelease.objects.listed().filter(collection=OuterRef("pk")).annotate(is_measured=has_report)
    )
    reports = Report.objects.listed().filter(collection=OuterRef("pk"))
    pools = merged_pools(_of(Pool))
    making = {
        f"{made}_job": Subquery(jobs_at_work(made).filter(collection=OuterRef("pk")).values("pk")[:1])
        for made in MAKING
    }
    return collections.annotate(
        has_queries=Exists(_of(Query)),
        has_texts=Exists(_of(Document).filter(text__isnull=False)),
        has_runs=Exists(_of(Run)),
        has_pools=Exists(_of(Pool)),
        has_queues=Exists(_of(Queue)),
        is_judged=Exists(_of(Judgment)),
        released=Subquery(releases.values("name")[:1]),
        released_at=Subquery(releases.values("released_at")[:1]),
        is_measured=Subquery(releases.values("is_measured")[:1]),
        has_imports=Exists(_of(ImportedLabel)),
        # Only what is said before the first release names the number.
        imports_to_release=Case(When(released=None, then=_count(_of(ImportedLabel))), default=0),
        newest_summary=Subquery(reports.values("summary")[:1]),
        newest_cutoffs=Subquery(reports.values("options__k")[:1]),
        newest_pool=Subquery(pools.values("pk")[:1]),
        newest_depth=Subquery(pools.values("depth")[:1]),
        **making,
    )


def with_counts(collections: QuerySet[Collection]) -> QuerySet[Collection]:
    """`collections` with what `state_of` reads and the counts of an overview."""
    documents = Document.everything.filter(collection=OuterRef("pk"))
    left_out = documents.filter(ARCHIVED_OR_DELETED)
    # Each of the four is counted along an index, without a look at the documents.
    counts = {
        "all_documents": documents,
        "all_textless": documents.filter(text__isnull=True),
        "left_out": left_out,
        "textless_left_out": left_out.filter(text__isnull=True),
    }
    return (
        with_state(collections)
        .annotate(**{name: _count(rows) for name, rows in counts.items()})
        .annotate(
            query_count=_count(_of(Query)),
            textless_count=F("all_textless") - F("textless_left_out"),
            text_count=F("all_documents") - F("left_out") - F("textless_count"),
            run_count=_count(_of(Run)),
            pool_count=_count(_of(Pool)),
            queue_count=_count(_of(Queue)),
            imported_count=_count(_of(ImportedLabel)),
            release_count=_count(_of(QrelsRelease)),
            report_count=_count(_of(Report)),
        )
    )


def state_of(collection: Any, queues: Sequence[QueueState]) -> State:
    """State of a collection that `with_state` has looked up, with its queues, newest first."""
    since = collection.released_at
    return State(
        slug=collection.slug,
        queries=collection.has_queries,
        documents=collection.has_texts,
        runs=collection.has_runs,
        pools=collection.has_pools,
        queues=tuple(queues),
        judged=collection.is_judged,
        imported=collection.imports_to_release or int(collection.has_imports),
        released=collection.released or "",
        is_measured=bool(collection.is_measured),
        fresh=frozenset(one.pk for one in queues if since and one.opened_at > since),
        deeper=_deeper(collection),
        under_way={made: job for made in MAKING if (job := getattr(collection, f"{made}_job"))},
    )


def _deeper(collection: Any) -> NextMove | None:
    answer = (collection.newest_summary or {}).get("answer")
    if not answer or collection.newest_pool is None:
        return None
    pool = collection.newest_pool, collection.newest_depth
    return deeper_move(collection.slug, pool, collection.newest_cutoffs, answer["k"])


def _of(model: Any) -> QuerySet[Any]:
    listed = model.objects.listed() if issubclass(model, Kept) else model.objects.all()
    rows: QuerySet[Any] = listed.filter(collection=OuterRef("pk"))
    return rows


def _count(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().values("collection").annotate(count=Count("*")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def steps_of(collection: Any, queues: Sequence[QueueState]) -> list[Step]:
    """The eight steps of the way for a collection that `with_counts` has counted, with its queues."""

    def step(name: str, page: str, detail: str, *, done: int | bool) -> Step:
        return Step(name, detail, reverse(page, args=[collection.slug]), bool(done))

    def counts(name: str, page: str, noun: str, count: int) -> Step:
        return step(name, page, _counted(count, noun), done=count)

    texts = _counted(collection.text_count, "document")
    if collection.textless_count:
        texts += f"; {_counted(collection.textless_count, 'pooled document')} without a text"
    items, closed = sum(one.pairs for one in queues), sum(one.settled for one in queues)
    return [
        counts("Queries", "queries", "query", collection.query_count),
        step("Documents", "documents", texts, done=collection.text_count),
        counts("Runs", "runs", "run", collection.run_count),
        counts("Pool", "pools", "pool", collection.pool_count),
        counts("Queue", "queues", "queue", collection.queue_count),
        step("Judgments", "queues", _judged(collection, items, closed), done=items and closed == items),
        counts("Qrels release", "releases", "release", collection.release_count),
        counts("Report", "reports", "report", collection.report_count),
    ]


def _judged(collection: Any, items: int, closed: int) -> str:
    judged = f"{closed:,} of {_counted(items, 'pair')} closed" if items else "none yet"
    if not items and collection.is_judged:
        judged = "only in queues that are archived or deleted"
    if collection.imported_count:
        judged += f"; {_counted(collection.imported_count, 'label')} imported"
    return judged


def _counted(count: int, noun: str) -> str:
    if count == 0:
        return "none yet"
    return counted(count, noun)
