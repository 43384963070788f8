"""`evaluate --spans EXCERPTS --chunk-map CHUNKS`: how much of what answers the first K chunks hold."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from evaluation.measures import key_of, split_name
from evaluation.rendering.formats import mlflow_text, render_tables
from evaluation.rendering.span_tables import span_cells
from evaluation.rendering.without_labels import checked_figures, labels_and_runs, refuse_of_documents
from evaluation.scoring.config import Settings, read_settings
from evaluation.scoring.expectations import Check
from evaluation.scoring.inputs import DEFAULT_CUTOFFS
from evaluation.scoring.spans import SpanEvaluation, evaluate_spans, is_of_spans, span_keys
from pooling.chunks.maps import ChunkMap, read_map
from pooling.formats.cells import table_text
from pooling.inputs.reading import qrels_frame
from pooling.options import add_file
from pooling.ranking.chunks import Chunks

#: What the means rest on.
_EXCERPTS = "by the excerpts at hand"
_NOT_OF_SPANS = {"against": "--against", "weights": "--weights", "collapse_chunks": "--collapse-chunks"}


def add_span_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("excerpts")
    add_file(
        group,
        "--spans",
        "excerpts that answer (query_id, document_id, start, end), measured on runs of chunks; "
        "--chunk-map has start and end of each chunk then, and QRELS may be left out",
    )


class SpanArguments(TypedDict):
    """Arguments of `evaluate` for excerpts."""

    measures: list[str]
    spans: Path
    chunk_map: ChunkMap
    chunks: Chunks | None


class SpanOptions(NamedTuple):
    """What is asked of excerpts: options, without the measures and thresholds over excerpts; measures and
    thresholds are those. is_alone: nothing is measured over documents; unused: labels that were named all the
    same."""

    options: Mapping[str, Any]
    runs: Sequence[Path]
    measures: Sequence[str]
    thresholds: Mapping[str, float]
    is_alone: bool
    unused: Path | None

    def beside(self, measures: Sequence[str]) -> SpanArguments:
        """Arguments of `evaluate` where these are the measures over documents. Runs of chunks become runs of
        documents, unless the labels are of chunks too."""
        chunks = read_map(self.options["chunk_map"])
        labels = qrels_frame(self.options["qrels"])["document_id"].unique()
        mapping = {chunk: place.document_id for chunk, place in chunks.places.items()}
        of_chunks = any(one in mapping for one in labels.to_list())
        return {
            "measures": [*measures, *self.measures],
            "spans": self.options["spans"],
            "chunk_map": chunks,
            "chunks": None if of_chunks else Chunks(mapping=mapping, name=chunks.name),
        }

    @property
    def notes(self) -> list[str]:
        """A sentence on labels that are not used."""
        if self.unused is None:
            return []
        return [f"{self.unused.name}: not used, since no measure over documents was asked for."]

    def checked(self, runs: Mapping[str, Mapping[str, Any]]) -> list[Check]:
        """Every run's mean over excerpts against every threshold."""
        return checked_figures(runs, self.thresholds, _EXCERPTS)


def span_options(options: Mapping[str, Any]) -> SpanOptions | None:
    """What is asked of excerpts; None without --spans, and ValueError for what belongs to it."""
    measures, gates = options["measure"] or (), options["fail_under"] or ()
    named = [name for name in measures if is_of_spans(name)]
    thresholds = {name.strip().lower(): wanted for name, wanted in gates if is_of_spans(name)}
    if options["spans"] is None:
        for name in (*named, *thresholds):
            raise ValueError(f"{name} is measured over excerpts; name them with --spans FILE.")
        return None
    if options["facts"] is not None:
        raise ValueError("--facts and --spans are two evaluations; call evaluate once for each.")
    if options["chunk_map"] is None:
        raise ValueError(
            "--spans needs --chunk-map FILE with the columns chunk_id, document_id, start and end: where "
            "each chunk of the runs is."
        )
    for name, written in _NOT_OF_SPANS.items():
        if options[name]:
            raise ValueError(f"{written} has no meaning for measures over excerpts; leave it out.")
    others = [name for name in measures if not is_of_spans(name)]
    qrels, runs = labels_and_runs(options, options["spans"])
    if others and qrels is None:
        split_name(others[0])  # what is no measure at all is refused as that
        raise ValueError(f"{others[0]} is measured over documents; name their labels before the runs.")
    is_alone = qrels is None or bool(measures and not others)
    if is_alone:
        refuse_of_documents(options)
        if options["pool"]:
            raise ValueError("--pool is about documents; name their labels, and a measure over them.")
    kept = [(name, wanted) for name, wanted in gates if not is_of_spans(name)]
    if is_alone and kept:
        raise ValueError(f"{kept[0][0]} is measured over documents; name their labels, and that measure.")
    left = {**options, "measure": others or None, "fail_under": kept or None}
    cutoffs = [k for group in options["k"] or () for k in group]
    if not cutoffs and options["config"]:
        cutoffs = list(read_settings(options["config"]).k or ())
    cutoffs = cutoffs or list(DEFAULT_CUTOFFS)
    keys = span_keys(named, cutoffs)
    every = [key_of(*key) for key in keys] + list(thresholds)
    return SpanOptions(
        left, runs, list(dict.fromkeys(every)), thresholds, is_alone, qrels if is_alone else None
    )


def evaluated_spans(
    choice: SpanOptions, settings: Settings, *, queries: Collection[str] | None
) -> SpanEvaluation:
    """Read excerpts, map and runs, and measure."""
    arguments = settings.arguments()
    names = ("conventions", "bootstrap_samples", "seed", "confidence")
    return evaluate_spans(
        choice.options["spans"],
        choice.options["chunk_map"],
        list(choice.runs),
        measures=choice.measures,
        queries=queries,
        **{name: arguments[name] for name in names if name in arguments},
    )


def render_spans(evaluation: SpanEvaluation, form: str, *, terminal: bool = False) -> str:
    """The evaluation alone, in one of the formats of `evaluation.rendering.formats`."""
    if form == "json":
        return json.dumps(evaluation.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    if form == "csv":
        columns = ("run", "measure", "k", "mean", "low", "high", "queries", "characters", "line")
        rows = (
            {**row, "line": evaluation.line(row["run"], key_of(row["measure"], row["k"]))}
            for row in evaluation.summary_rows()
        )
        return table_text(columns, ([row[name] for name in columns] for row in rows))
    if form == "mlflow":
        return mlflow_text(evaluation.runs)
    return render_tables([span_cells(evaluation)], form, terminal=terminal)
