"""Kinds of this stage that can be archived or deleted, and their ties to runs, releases and collections."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.utils import timezone

from evaluation.models import Canary, CanaryDelivery, CanaryNews, LatencyReport, Replay, Report
from labeling.models import QrelsRelease
from pooling.formats.wording import counted
from pooling.models import Collection, Run
from pooling.tidying.erasing import empties_collections
from pooling.tidying.kinds import Dependant, Ground, Kind, dependant, depends_on, register, rests_on, when

GONE_FROM_LISTS = "It is no longer in lists and forms. It keeps its address and its figures."
FIGURES = "It disappears with its figures and files. Runs and labels stay."

register(Kind("report", "reports", Report, archived=GONE_FROM_LISTS, deleted=FIGURES, list_page="reports"))
register(Kind("replay", "replays", Replay, archived=GONE_FROM_LISTS, deleted=FIGURES, list_page="replays"))
register(
    Kind(
        "index",
        "index comparisons",
        LatencyReport,
        archived=GONE_FROM_LISTS,
        deleted=FIGURES,
        list_page="latency_reports",
        words="index comparison",
    )
)
register(
    Kind(
        "canary",
        "canaries",
        Canary,
        archived="It is no longer listed. New runs are still measured, and its messages are still sent.",
        deleted="New runs are no longer measured by it, and it sends no messages. Its values disappear with "
        "it. Runs and labels stay.",
        list_page="canaries",
    )
)


@depends_on(Run)
def _measured_with(run: Run) -> Sequence[Dependant]:
    figures = "keeps its figures/keep their figures"
    compared = LatencyReport.objects.filter(runs=run) | LatencyReport.objects.filter(exact=run)
    return [
        *dependant(list(Report.objects.filter(runs=run).defer("result")), "report", figures),
        *dependant(list(compared.distinct()), "index comparison", figures),
        *dependant(
            list(Canary.objects.filter(values__run=run).distinct()),
            "canary",
            "no longer shows its value/no longer show its value",
        ),
        *dependant(
            list(Canary.objects.filter(pinned=run)), "canary", "compares with it/compare with it", blocks=True
        ),
    ]


@depends_on(QrelsRelease)
def _made_on(release: QrelsRelease) -> Sequence[Dependant]:
    rest = "rests on it/rest on it"
    reports = Report.objects.filter(release=release).defer("result")
    return [
        *dependant(list(reports), "report", rest, blocks=True),
        *dependant(list(Canary.objects.filter(release=release)), "canary", rest, blocks=True),
        *dependant(
            list(Replay.objects.filter(release=release).defer("result")),
            "replay",
            "keeps its figures/keep their figures",
        ),
    ]


@rests_on(Report)
def _release_of_report(report: Report) -> Sequence[Ground]:
    return [Ground(report.release)]


@rests_on(Canary)
def _release_of_canary(canary: Canary) -> Sequence[Ground]:
    return [Ground(canary.release), *([Ground(canary.pinned)] if canary.pinned else [])]


@depends_on(Collection)
def _measured_in(collection: Collection) -> Sequence[Dependant]:
    kinds = []
    for noun, model in (("report", Report), ("canary", Canary)):
        if many := model.objects.filter(collection=collection).count():
            kinds.append(Dependant(counted(many, noun), "goes with it" if many == 1 else "go with it"))
    return kinds


@when("deleted", Canary)
def _tell_nothing_more(canary: Canary, by: User | None) -> None:
    """Messages that tell of no other canary are not sent."""
    waiting = CanaryDelivery.objects.filter(state=CanaryDelivery.State.WAITING, news__canary=canary)
    others = CanaryNews.objects.filter(delivery=OuterRef("pk"))
    CanaryDelivery.objects.filter(pk__in=waiting.exclude(Exists(others)).values("pk")).update(
        state=CanaryDelivery.State.FAILED, detail="The canary was deleted.", ended_at=timezone.now()
    )


@when("erased", Canary)
def _forget_messages(canary: Canary, by: User | None) -> None:
    CanaryDelivery.objects.filter(collection=canary.collection_id, news=None).delete()


@empties_collections
def _erase_reports(collection: Collection) -> None:
    for model in (Report, Replay, LatencyReport, Canary):
        model.everything.filter(collection=collection).delete()
