"""`evaluate --facts FILE`: which facts the first K hold. Heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from evaluation.facts.evaluating import evaluate_facts
from evaluation.facts.results import FACT_PRESETS, LEAST_JUDGED, FactConventions, FactEvaluation
from evaluation.rendering.without_labels import checked_figures, labels_and_runs, refuse_of_documents
from evaluation.scoring.config import Settings
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.expectations import Check
from evaluation.scoring.inputs import DEFAULT_CUTOFFS, collapsed_sources
from evaluation.scoring.wording import rests_on
from pooling.formats.facts.reading import read_facts, read_supports_of
from pooling.heavy import pl
from pooling.inputs.reading import named_runs, qrels_frame
from pooling.options import add_file
from pooling.ranking.chunks import Chunks

Key: TypeAlias = tuple[str, int | None]

DEFAULT_MEASURES = ("fact_recall",)
#: Names of `evaluation.facts.measures`, here so that the command starts without them.
NAMES = ("fact_recall", "alpha_ndcg", "err_ia", "p_ia", "map_ia", "redundancy")
WHOLE = ("map_ia",)


def add_fact_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("facts")
    add_file(
        group,
        "--facts",
        "facts of each query: TREC diversity qrels, JSON lines or nuggets; QRELS may be left out then",
    )
    add_file(group, "--supports", "which documents support the facts, where --facts does not say")
    group.add_argument("--partial", action="store_true", help="a part of a fact counts half in fact recall")
    group.add_argument("--importance", choices=("all", "vital"), help="which facts count (all)")
    group.add_argument(
        "--denominator",
        choices=("all", "findable"),
        help="out of which facts: all, or those that a judged document supports (all)",
    )


class FactOptions(NamedTuple):
    """What is asked of facts: options, without the measures and thresholds over facts; keys and thresholds
    are those. qrels: None where nothing is measured over documents; labels: the same, or read all the same,
    since a document that is not relevant supports nothing."""

    options: Mapping[str, Any]
    qrels: Path | None
    labels: Path | None
    runs: Sequence[Path]
    keys: Sequence[Key]
    thresholds: Mapping[str, float]


def is_of_facts(measure: str) -> bool:
    """Whether a measure, with or without its K, is over facts."""
    return measure.strip().lower().partition("@")[0] in NAMES


def fact_options(options: Mapping[str, Any]) -> FactOptions | None:
    """What is asked of facts; None without --facts, and ValueError for what belongs to it."""
    measures, gates = options["measure"] or (), options["fail_under"] or ()
    fact_measures = [name for name in measures if is_of_facts(name)]
    thresholds = {name: wanted for name, wanted in gates if is_of_facts(name)}
    if options["facts"] is None:
        for name in ("supports", "partial", "importance", "denominator"):
            if options[name]:
                raise ValueError(f"--{name} belongs to --facts FILE; name the facts, or leave it out.")
        for name in (*fact_measures, *thresholds):
            raise ValueError(f"{name} is measured over facts; name them with --facts FILE.")
        return None
    others = [name for name in measures if not is_of_facts(name)]
    qrels, runs = labels_and_runs(options, options["facts"])
    if others and qrels is None:
        raise ValueError(f"{others[0]} is measured over documents; name their labels before the runs.")
    labels = qrels
    if measures and not others:
        qrels = None
    if qrels is None:
        refuse_of_documents(options)
    kept = [(name, wanted) for name, wanted in gates if not is_of_facts(name)]
    left = {**options, "measure": others or None, "fail_under": kept or None}
    keys = _keys(options, [*(fact_measures or DEFAULT_MEASURES), *thresholds])
    return FactOptions(left, qrels, labels, runs, keys, thresholds)


def _keys(options: Mapping[str, Any], measures: Sequence[str]) -> list[Key]:
    cutoffs = [k for group in options["k"] or () for k in group] or DEFAULT_CUTOFFS
    keys: list[Key] = []
    for one in measures:
        name, at, k = one.strip().lower().partition("@")
        if at and (name in WHOLE or not (k.isascii() and k.isdecimal() and int(k))):
            raise ValueError(f"{one!r} is not a measure; write for instance fact_recall@10, or map_ia.")
        if name in WHOLE:
            keys.append((name, None))
        else:
            keys += [(name, int(each)) for each in ([k] if at else cutoffs)]
    return sorted(dict.fromkeys(keys), key=lambda key: (NAMES.index(key[0]), key[1] or 0))


def evaluated_facts(
    choice: FactOptions,
    settings: Settings,
    *,
    queries: Collection[str] | None,
    chunks: Chunks | None,
    pool: pl.DataFrame | None,
) -> FactEvaluation:
    options, arguments = choice.options, settings.arguments()
    file = read_facts(options["facts"])
    supports, notes = file.supports, [*file.notes]
    if options["supports"] is not None:
        more, more_notes = read_supports_of(file.facts, options["supports"])
        supports, notes = pl.concat([supports, more]), [*notes, *more_notes]
    if supports.is_empty():
        raise ValueError("The facts have no supports; name a file of them with --supports FILE.")
    order = arguments.get("conventions", Conventions())
    runs = named_runs(list(choice.runs))
    if chunks is not None:
        cutoffs = [k for _, k in choice.keys if k is not None] or [1]
        runs = collapsed_sources(runs, chunks, order, notes=notes, cutoffs=cutoffs)
    preset = (settings.conventions or {}).get("preset", "")
    return evaluate_facts(
        file.facts,
        supports,
        runs,
        choice.keys,
        conventions=FactConventions(
            options["importance"] or "all",
            options["denominator"] or FACT_PRESETS.get(preset, "all"),
            options["partial"],
            0.0 if preset else LEAST_JUDGED,
        ),
        order=order,
        queries=queries,
        pool=pool,
        labels=None if choice.labels is None or preset else qrels_frame(choice.labels, notes),
        notes=notes,
        **{
            name: arguments[name] for name in ("bootstrap_samples", "seed", "confidence") if name in arguments
        },
    )


def checked_facts(evaluation: FactEvaluation, thresholds: Mapping[str, float]) -> list[Check]:
    return checked_figures(evaluation.runs, thresholds, rests_on(complete=False))
