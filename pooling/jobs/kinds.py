"""The kinds of long work: what does it, how it is called on pages, and through which stages it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pooling.interface.registering import NamedRegistry
from pooling.interface.results import Progress
from pooling.models import Job

Work = Callable[[Job, Progress], Mapping[str, object]]
# From which share of the work on, and what is done there.
Stages = Sequence[tuple[float, str]]


@dataclass(frozen=True)
class JobKind:
    """begins_at: the collection's page where such work is started; line: the queue of tasks it waits in."""

    title: str
    stages: Stages = ()
    begins_at: str = ""
    can_be_cancelled: bool = True
    line: str = "default"


@dataclass(frozen=True)
class StageLine:
    """A stage of a job as its page lists it: `done`, `now` or `next`."""

    name: str
    state: str


WORK: NamedRegistry[Work] = NamedRegistry()
KINDS: NamedRegistry[JobKind] = NamedRegistry()


def job_kind(
    name: str,
    *,
    title: str,
    stages: Stages = (),
    begins_at: str = "",
    can_be_cancelled: bool = True,
    line: str = "default",
) -> Callable[[Work], Work]:
    """Register a function as the work of jobs of kind `name`."""

    def register(work: Work) -> Work:
        WORK[name] = work
        KINDS[name] = JobKind(title, stages, begins_at, can_be_cancelled, line)
        return work

    return register


def kind_of(job: Job) -> JobKind:
    """The job's kind; for one that a former version had, its name alone."""
    return KINDS.get(job.kind) or JobKind(job.kind.capitalize())


def stages_of(job: Job) -> list[StageLine]:
    """Stages with what is done, what runs, and what is next; empty for work of one stage."""
    stages = kind_of(job).stages
    if job.state == Job.State.DONE:
        return [StageLine(name, "done") for _, name in stages]
    begun = [place for place, (share, _) in enumerate(stages) if share <= job.progress]
    now = begun[-1] if begun and job.state != Job.State.QUEUED else -1
    return [
        StageLine(name, "now" if place == now else "done" if place < now else "next")
        for place, (_, name) in enumerate(stages)
    ]
