from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import F, FloatField, Q
from django.db.models.functions import Cast, NullIf
from django.utils.translation import gettext, gettext_noop, ngettext

from labeling.gold.scores import AnnotatorGold
from labeling.judging.progress_figures import AnnotatorProgress
from labeling.models import JudgmentEvent, Queue, Verdict
from pooling.tables.columns import Choice, Column, Empty, Filter, own_page
from pooling.tables.table import Table

STATES = Filter(
    "state",
    "State",
    (Choice("all", "All"), *(Choice(state, state.label, Q(state=state)) for state in Queue.State)),
    default="all",
)


def _judgments(queue: Queue) -> str:
    most = queue.most_judgments_per_item
    return f"{queue.judgments_per_item} to {most}" if most else f"{queue.judgments_per_item}"


def _state(queue: Queue) -> str:
    return gettext(queue.state)


NAME = Column("name", gettext_noop("Queue"), natural=True, link=own_page, style="id")
OWN_NAME = replace(NAME, value="public_title", sort="public_name")
STATE = Column("state", gettext_noop("State"), _state, sort="state", template="labeling/_queue_state.html")
OWN = Column("own", gettext_noop("By you"), number=True)
JUDGE = Column(
    "judge", gettext_noop("Judge"), "pk", sort=False, fixed=True, template="labeling/_queue_action.html"
)

QUEUES = Table(
    "queues",
    "queue",
    columns=(
        NAME,
        Column(
            "judged",
            "Judged",
            "settled",
            sort=Cast(F("settled"), FloatField()) / NullIf(F("total"), 0),
            template="labeling/_queue_progress.html",
        ),
        STATE,
        Column("pool", "Pool", "pool.name", natural=True),
        Column("judgments", "Judgments per pair", _judgments, sort="judgments_per_item", number=True),
        OWN,
        Column("opened", "Opened", "opened_at", style="quiet", hidden=True),
        Column("pairs", "Pairs", "total", number=True, hidden=True),
        JUDGE,
    ),
    search=("name__icontains", "pool__name__icontains"),
    search_hint="Queue or pool",
    filters=(STATES,),
    choose="queues",
    empty=Empty(
        "No queues yet. A queue is a pool that people judge, pair by pair.",
        "Open a queue",
        "queue_new",
        made="queue",
    ),
)
#: What annotators see: nothing of the pool, nor of others.
OWN_QUEUES = Table(
    "own-queues",
    gettext_noop("queue"),
    counts=lambda count: ngettext("{count} queue", "{count} queues", count).format(count=count),
    columns=(OWN_NAME, OWN, STATE, JUDGE),
    search=("public_name__icontains",),
    search_hint=gettext_noop("Queue"),
    empty=Empty(gettext_noop("Nothing to judge yet. A queue appears here once an admin opens it.")),
)


def _verdict(event: JudgmentEvent) -> str:
    return Verdict(event.verdict).in_words


OWN_VERDICTS = Table(
    "own-verdicts",
    gettext_noop("verdict"),
    counts=lambda count: ngettext("{count} verdict", "{count} verdicts", count).format(count=f"{count:,}"),
    columns=(
        # On a phone, a card has the first three.
        Column(
            "document", gettext_noop("Document"), sort="document__title", template="labeling/_short_text.html"
        ),
        Column(
            "verdict",
            gettext_noop("Your verdict"),
            _verdict,
            sort="verdict",
            template="labeling/_own_verdict.html",
        ),
        Column("note", gettext_noop("Note"), template="labeling/_short_text.html"),
        Column("query", gettext_noop("Query"), "query.text", template="labeling/_short_text.html"),
        Column("when", gettext_noop("When"), "created_at", sort="pk", to_the_minute=True, style="quiet"),
    ),
    search=("query__text__icontains", "document__title__icontains", "note__icontains"),
    search_hint=gettext_noop("Words of query, title or note"),
    filters=(
        Filter(
            "verdict",
            gettext_noop("Verdict"),
            (
                Choice("all", gettext_noop("All")),
                *(Choice(one, one.label[0].upper() + one.label[1:], Q(verdict=one)) for one in Verdict),
            ),
            default="all",
        ),
    ),
    sort="-when",
    caption=gettext_noop("Newest first. A pair appears twice if you changed your verdict."),
    empty=Empty(gettext_noop("You have not judged anything here yet.")),
)


@dataclass(frozen=True)
class AnnotatorRow:
    progress: AnnotatorProgress
    gold: AnnotatorGold | None
    is_paused: bool

    @property
    def minutes(self) -> float:
        return self.progress["active_seconds"] / 60


def _balanced(row: AnnotatorRow) -> float | None:
    return row.gold.score.balanced_accuracy if row.gold else None


def _advice(row: AnnotatorRow) -> str | None:
    return None if row.gold is None else ADVICE.get(row.gold.advice, "go on")


ADVICE = {"pause": "pause", "warn": "watch"}
ANNOTATORS = Table(
    "annotators",
    "annotator",
    columns=(
        Column("name", "Annotator", "progress.username", natural=True, template="labeling/_annotator.html"),
        Column("judged", "Judged", "progress.judged", number=True),
        Column("relevant", "Relevant", "progress.relevant", number=True),
        Column("cannot_judge", "Can't judge", "progress.cannot_judge", number=True),
        Column("skipped", "Skipped", "progress.skipped", number=True),
        Column("settled", "Settled", "progress.adjudicated", number=True, hidden=True),
        Column("minutes", "Active min", number=True, decimals=0),
        Column("gold", "Gold, balanced", _balanced, number=True, template="labeling/_annotator_gold.html"),
        Column("advice", "Advice of the rule", _advice, template="labeling/_annotator_advice.html"),
        Column("last", "Last verdict", "progress.last_at", to_the_minute=True, style="quiet"),
    ),
    search=("name",),
    search_hint="Name",
    prefix="people-",
    anchor="people",
    key=lambda row: row.progress["username"],
    empty=Empty("No one has judged here yet."),
)
