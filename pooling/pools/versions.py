"""A pool's next version, in the database: the rules stand in `pooling/merging/extension.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.interface.problems import InputError, refuse_all
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.merging.choice import Choice
from pooling.merging.extension import NothingNewError, extended_pool
from pooling.merging.merging import without_reserve
from pooling.merging.summary import diagnose
from pooling.models import Collection, Job, Pool, Run
from pooling.options import OPTION, Option, options_of, same
from pooling.pools.building import (
    PoolBuilt,
    choice_of,
    count_pairs,
    expected_pairs,
    frame_of,
    free_name,
    learns,
    pool_result,
    ranked_texts,
    read_tops,
    store_pool,
    tops_of,
)
from pooling.runs.stored import runs_named
from pooling.storage.frames import PAIR_IDS, rows_frame
from pooling.strategies import STRATEGIES

OF_POOL = options_of(Choice)


@dataclass(frozen=True)
class Extension:
    """Changes in a pool's next version; None stands for what the pool had, as for options not here."""

    depth: int | None = same(None, OF_POOL["depth"], help="At least as deep as now.", initial=None)
    depths: Mapping[str, int] = field(default_factory=dict, metadata={OPTION: OF_POOL["depths"]})
    strategy: str | None = same(
        None, OF_POOL["strategy"], help="The order in which the new pairs are judged."
    )
    budget: int | None = same(
        None,
        OF_POOL["budget"],
        help="New pairs to judge, audit included.",
        empty="every new pair",
        unit="new pairs",
    )
    audit_share: float | None = same(
        None,
        OF_POOL["audit_share"],
        help="Share of that budget. The new pairs get a separate audit; the earlier one does not change.",
        empty="as now",
        initial=None,
    )
    reach: int | None = same(None, OF_POOL["reach"], help="At least as deep as now.", empty="as now")
    seed: int | None = same(None, OF_POOL["seed"], help="Draws the audit of the new pairs.")


def extend_pool(
    pool: Pool,
    *,
    runs: Sequence[Run] = (),
    name: str | None = None,
    user: User | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> Pool:
    """The next version of a pool: `runs` join its own; see `pooling/merging/extension.py`.

    changes: fields of `Extension`. The depth is at least the pool's. A run with its own depth keeps it,
    unless `depths` has a greater one. budget and audit_share are for the new pairs alone; all other options
    are the pool's unless given. `InputError` where nothing would be new, for a run that the pool has already
    or of another collection, a pool that was extended before, and new pairs that
    would leave a pool with an audit without one.
    """
    progress = progress or (lambda share, detail: None)
    choice = extension_choice(pool, runs, Extension(**changes))
    name = free_name(pool.collection, name or next_name(pool))
    all_runs = [place.run for place in pool.pool_runs.select_related("run")] + list(runs)
    query_keys = dict(pool.collection.queries.listed().values_list("external_id", "pk"))
    frames, left_out = read_tops(all_runs, query_keys, choice, progress)
    progress(0.4, "Merging.")
    made = Pool(
        collection=pool.collection,
        name=name,
        built_by=user,
        extends=pool,
        version=pool.version + 1,
        **asdict(choice),
    )
    try:
        text = ranked_texts(pool.collection, frames, choice, progress)
        pooled = extended_pool(
            frames, _kept(pool), choice, version=made.version, text=text, with_reserve=learns(choice)
        )
    except NothingNewError:
        many = "" if choice.depths else f"{choice.depth:,} "
        raise InputError(
            f"Nothing is new: the top {many}documents of these runs are all in pool “{pool.name}”. Add "
            "a run or choose a greater depth."
        ) from None
    except ValueError as error:
        raise InputError(str(error)) from error
    count_pairs(made, pooled)
    made.frame = frame_of(pooled, text)
    new = without_reserve(pooled).filter(pl.col("version") == made.version)
    made.diagnostics = {
        **diagnose(tops_of(frames, choice), pooled, choice.deepest),
        "left_out_queries": left_out,
        "new": {
            "pairs": new.height,
            "chosen": new.height - new["inclusion_probability"].null_count(),
            "queries": new["query_id"].n_unique(),
            "audit": int(new["in_audit"].sum()),
            "runs": [run.name for run in runs],
        },
    }
    progress(0.5, f"Storing {counted(made.pair_count, 'pair')}, {new.height:,} of them new.")
    return store_pool(made, all_runs, pooled)


def page_options(pool: Pool) -> list[Option]:
    """The options of a pool as its page names them: a budget of a later version is of new pairs."""
    options = {**OF_POOL, **(options_of(Extension) if pool.extends_id else {})}
    return list(options.values())


def pool_named(collection: Collection, name: str) -> Pool:
    """The pool of this name; `InputError` when there is none."""
    pool = collection.pools.filter(name=name).first()
    if pool is None:
        raise InputError(f"There is no pool “{name}” in “{collection.slug}”.", field="pool", missing=True)
    return pool


def other_runs(pool: Pool) -> QuerySet[Run]:
    return pool.collection.runs.listed().exclude(pk__in=pool.runs.values("pk")).defer("preflight")


def next_name(pool: Pool) -> str:
    return f"{pool.versions()[0].name}, version {pool.version + 1}"


def check_extendable(pool: Pool) -> None:
    """`InputError` for a pool that can have no next version, whatever runs and depth it were given."""
    if pool.is_picked:
        raise InputError(
            f"The pairs of pool “{pool.name}” were picked individually; there are no runs to extend it by."
        )
    if later := Pool.objects.filter(extends=pool).first():
        raise InputError(
            f"Pool “{pool.name}” is already extended by “{later.name}”. Extend that one.", conflict=True
        )
    if gone := pool.pool_runs.filter(run__deleted_at__isnull=False).select_related("run").first():
        raise InputError(
            f"Run “{gone.run.name}” of pool “{pool.name}” was deleted. Restore it to extend the pool, or "
            "build another pool.",
            conflict=True,
        )


def extension_choice(pool: Pool, runs: Sequence[Run], extension: Extension) -> Choice:
    """The choice for the next version of a pool; `InputError` for what will not do."""
    check_extendable(pool)
    before = set(pool.pool_runs.values_list("run__name", flat=True))
    given = {name: value for name, value in vars(extension).items() if value is not None}
    # Of a pool without an audit it is nobody's wish: another strategy may bring its own.
    own = {"audit_share": pool.audit_share or None, "budget": extension.budget}
    depths = {**pool.depths, **extension.depths}
    choice = replace(choice_of(pool), **{**own, **given, "depths": depths})
    if pool.reach is not None:
        # One order of the frame serves all versions.
        choice = replace(choice, seed=pool.seed)
    problems = choice.problems({*before, *(run.name for run in runs)})
    strange = next((run.name for run in runs if run.collection_id != pool.collection_id), None)
    repeated_name = next((run.name for run in runs if run.name in before), None)
    if strange is not None:
        problems["runs"] = f"Run “{strange}” belongs to another collection. Import it into this one first."
    elif repeated_name is not None:
        problems["runs"] = (
            f"Run “{repeated_name}” is already in pool “{pool.name}”. Choose runs that are not."
        )
    elif not runs and all(choice.depth_of(run) == pool.depth_of(run) for run in before):
        problems["runs"] = "Nothing would be new. Add a run or choose a greater depth."
    if choice.depth < pool.depth:
        problems["depth"] = f"An extension must be at least as deep as its pool ({pool.depth:,})."
    if extension.reach is not None and (pool.reach is None or extension.reach < pool.reach):
        reach = (
            "has none, and its audit cannot be drawn again" if pool.reach is None else f"is {pool.reach:,}"
        )
        problems["reach"] = f"The reach of pool “{pool.name}” {reach}; an extension can only go deeper."
    less = next((run for run in sorted(before) if choice.depth_of(run) < pool.depth_of(run)), None)
    if less is not None and not {"depth", "depths"} & set(problems):
        problems["depths"] = (
            "An extension must be at least as deep as its pool, which has "
            f"{pool.depth_of(less):,} of “{less}”."
        )
    if choice.strategy in STRATEGIES and STRATEGIES[choice.strategy].samples:
        problems["strategy"] = (
            "An extension samples through its audit. Choose a strategy that does not sample."
        )
    if pool.audit_share and choice.budget is not None and not choice.audit_share:
        problems["audit_share"] = (
            f"Pool “{pool.name}” has an audit. The new pairs need a separate audit for estimates: give "
            "an audit share, or no budget."
        )
    refuse_all(problems)
    return choice.settled()


def _kept(pool: Pool) -> pl.DataFrame:
    """A pool's pairs for its next version, as `pooling.merging.extension` wants them."""
    entries = pool.entries.filter(query__deleted_at=None, document__deleted_at=None)
    return rows_frame(
        entries.order_by(), "position", "in_audit", "inclusion_probability", "version", **PAIR_IDS
    )


@job_kind(
    "extension",
    title="Extending a pool",
    stages=((0.0, "Read the runs"), (0.4, "Merge their lists"), (0.5, "Store the pairs")),
    begins_at="pools",
)
def _extend_in_background(job: Job, progress: Progress) -> PoolBuilt:
    arguments = dict(job.arguments)
    pool = job.collection.pools.get(pk=arguments.pop("pool"))
    runs = runs_named(job.collection, arguments.pop("runs"))
    return pool_result(extend_pool(pool, runs=runs, user=job.created_by, progress=progress, **arguments))


def extend_or_start(
    pool: Pool, extension: Extension, *, runs: Sequence[Run], name: str | None, user: User | None
) -> PoolBuilt | Job:
    """Extend by few pairs at once, by many in the background; what is refused is refused now."""
    choice = extension_choice(pool, runs, extension)
    if expected_pairs([*pool.runs.all(), *runs], choice) <= settings.BACKGROUND_POOL_PAIRS:
        return pool_result(extend_pool(pool, runs=runs, name=name, user=user, **asdict(extension)))
    name = free_name(pool.collection, name or next_name(pool))
    arguments = {"pool": pool.pk, "name": name, "runs": [run.name for run in runs], **asdict(extension)}
    return start_job(pool.collection, "extension", arguments, user)
