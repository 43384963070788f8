"""The commands `pool` and `simulate` for programs: files, dicts or frames in, values out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluation.plans import simulation
from evaluation.plans.replaying import BUDGETS, read_labelled_pool
from evaluation.plans.simulation import Simulation
from pooling.heavy import pl
from pooling.inputs.asking import retriever_run
from pooling.inputs.given import Keys, Runs, RunSource, Source
from pooling.inputs.reading import named_runs, run_frame
from pooling.interface.terminal import progress_bar, whole_installation
from pooling.merging.choice import Choice
from pooling.merging.merging import build_pool, first_rows
from pooling.merging.summary import notes_on
from pooling.options import options_of
from pooling.ranking.ranking import order_run
from pooling.strategies import STRATEGIES


def pool(
    runs: Runs,
    depth: int,
    *,
    id_key: str | Callable[[Any], Any] | None = None,
    collapse: str | None = None,
    query_ids: Iterable[Any] | None = None,
    document_ids: Sequence[Any] | Mapping[Any, Any] | None = None,
    **options: Any,
) -> pl.DataFrame:
    """Merge the first `depth` documents of every run into the pairs to judge, in the order of judging.

    - `runs`, `id_key`, `collapse`, `query_ids`, `document_ids`: as `evaluate` takes them.
    - `depth`: how many documents of each run.
    - `options`: the others of the command, by name: `strategy`, `budget`, `audit_share`, `reach`, `seed`,
      `ties`, `scores` and `depths` (see `pooling.merging.choice.Choice`).

    A Polars frame, sorted by query and position: query_id, document_id, position, run_count, best_rank, rrf,
    in_audit, inclusion_probability (null where a pair is not to be judged), and runs and ranks, which say
    where each pair was found. What the readers of files notice, a run that has no query in common with the
    others, and a budget of fewer pairs than queries, is given as warnings.
    Raises ValueError (FormatError for files) for input that has no one meaning and for options out of range.

    >>> runs = {"bm25": {"q1": {"a": 2.0, "b": 1.0}}, "dense": {"q1": {"b": 0.9, "c": 0.8}}}
    >>> pool(runs, depth=2)["document_id"].to_list()
    ['b', 'a', 'c']
    """
    others = [name for name in options_of(Choice) if name != "depth"]
    for name in options:
        if name not in others:
            raise ValueError(f"A pool has no option {name}; its options are {', '.join(others)}.")
    choice = Choice(depth, **options)
    sources = named_runs(runs, Keys(id_key, collapse, query_ids, document_ids), use="A pool")
    choice.check(sources)
    notes: list[str] = []
    tops = {}
    for name, source in sources.items():
        frame = run_frame(name, source, notes, with_rank=choice.ties == "rank")
        top = order_run(frame, ties=choice.ties, scores=choice.scores, depth=choice.reach_of(name))
        tops[name] = top.drop("position")
    queries = {name: first_rows(top) for name, top in tops.items()}
    for note in [*notes, *notes_on(queries, choice.budget)]:
        warnings.warn(note, stacklevel=2)
    return build_pool(tops, **asdict(choice))


def run_of(
    retriever: Any,
    queries: Any,
    k: int = 100,
    *,
    id_key: str | Callable[[Any], Any] | None = None,
    collapse: str | None = None,
) -> pl.DataFrame:
    """Ask a retriever every query, and keep what it finds as a run; a bar shows how far it is.

    - `retriever`: of LangChain (`invoke`), LlamaIndex (`retrieve`) or Haystack (`run`), or a function from a
      text to a list of ids, of (id, score), or of documents, the best first.
    - `queries`: `{query: text}`, a file of queries, or a frame with query_id and text.
    - `k`: how many documents of each query are asked for.
    - `id_key`, `collapse`: as `evaluate` takes them.

    A Polars frame with query_id, document_id and score; without scores, the order of the lists counts. What
    is noticed is given as warnings. Raises ValueError for what cannot be asked and for answers without ids.

    >>> run_of(lambda text: text.split(), {"q1": "night bus"}, k=2)["document_id"].to_list()
    ['night', 'bus']
    """
    with progress_bar("Asking") as moved:
        frame, notes = retriever_run(retriever, queries, k, Keys(id_key, collapse), progress=moved)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return frame


def simulate(
    qrels: Source,
    runs: Runs,
    depth: int,
    strategies: Sequence[str] | None = None,
    *,
    budgets: Sequence[float] = BUDGETS,
    seeds: int = 1,
    noise: float = 0.0,
    batch: int = 1,
    k: int | None = None,
    prior: RunSource | None = None,
    min_relevance: int = 1,
    ties: str = "docid",
    scores: str = "float64",
) -> Simulation:
    """Replay strategies on labels you have: how soon each would have found the relevant documents.

    - `qrels`, `runs`: as `evaluate` takes them.
    - `depth`: how many documents of each run are in the pool.
    - `strategies`: all, unless named.
    - `budgets`: shares of each query's pool.
    - `seeds`: repetitions of what depends on chance.
    - `noise`: the share of labels told wrong.
    - `batch`: labels told at a time.
    - `k`: the cutoff of the recalls; the depth, unless given.
    - `prior`: scores of a model, as a run, for strategies that start from them.
    - `min_relevance`, `ties`, `scores`: as in `Conventions`.

    `Simulation.outcomes` has the figures by strategy, `to_dict` all of it as plain values. What the readers
    notice, and ids that do not meet, are given as warnings.
    Raises ValueError for values out of range and where no query has a relevant document in the pool.

    >>> labels = {"q1": {"a": 0, "b": 1, "c": 0}}
    >>> runs = {"bm25": {"q1": {"a": 2.0, "b": 1.0}}, "dense": {"q1": {"b": 0.9, "c": 0.8}}}
    >>> simulate(labels, runs, depth=2, strategies=["depth", "rrf"], budgets=[0.3]).outcomes["rrf"].found
    {0.3: 1.0}
    """
    labelled = read_labelled_pool(
        qrels, runs, depth=depth, min_relevance=min_relevance, ties=ties, scores=scores, prior=prior
    )
    for note in labelled.notes:
        warnings.warn(note, stacklevel=2)
    names = list(strategies or STRATEGIES)
    with whole_installation():
        return simulation.simulate(
            labelled, names, budgets=budgets, seeds=seeds, noise=noise, batch=batch, k=k
        )
