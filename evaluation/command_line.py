"""What `evaluate QRELS RUN…` understands and does, without Django; heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from evaluation.conventions import Conventions
    from evaluation.results import Evaluation

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
MEASURES = ("recall", "precision", "f1", "success", "judged")
OVER_THE_WHOLE_RUN = ("map", "mrr", "rprecision", "bpref", "infap")


HELP = "Measure runs against qrels: Recall, Precision, F1 and Success at K, with coverage and bounds."


class Writer(Protocol):
    """A stream of text: the standard ones, or Django's around them."""

    def write(self, text: str, /) -> Any: ...

    def isatty(self) -> bool: ...


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", type=Path, help="the labels")
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="one or more runs")
    parser.add_argument("--k", metavar="N", nargs="+", action="extend", type=_cutoffs, help="cutoffs")
    parser.add_argument(
        "--measure", metavar="M", nargs="+", action="extend", help="for instance recall, recall@10 or map"
    )
    _add_conventions(parser)
    parser.add_argument("--queries", metavar="FILE", type=Path, help="queries.jsonl, for --tag")
    parser.add_argument("--tag", metavar="TAG", help="only queries with this tag in metadata.tags")
    parser.add_argument("--per-query", metavar="FILE", type=Path, help="write every query's values")
    parser.add_argument(
        "--fail-under",
        metavar="MEASURE=VALUE",
        action="append",
        default=[],
        type=_threshold,
        help="exit with 1 when the mean of any run is below VALUE; may be repeated",
    )
    parser.add_argument("--format", choices=("table", "json", "csv", "markdown", "latex"), default="table")
    parser.add_argument("--engine", choices=("local",), default="local")


def run(options: Mapping[str, Any], output: Writer, errors: Writer) -> int:
    """Evaluate, write what was asked for, then compare with the thresholds: the exit code."""
    from evaluation.evaluating import evaluate
    from evaluation.rendering import render

    thresholds: list[tuple[str, float]] = options["fail_under"]
    if options["per_query"]:
        from evaluation.per_query import check_path, write_per_query

        check_path(options["per_query"])
    result = evaluate(
        options["qrels"],
        options["runs"],
        k=[k for group in options["k"] or [CUTOFFS] for k in group],
        measures=[*(options["measure"] or MEASURES), *(key for key, _ in thresholds)],
        conventions=_conventions(options),
        queries=_queries_with_tag(options["queries"], options["tag"]),
    )
    if options["per_query"]:
        write_per_query(result, options["per_query"])
    output.write(render(result, options["format"], terminal=output.isatty()))
    failures = _below(result, thresholds)
    for sentence in (*result.notes, *failures):
        errors.write(f"{sentence}\n")
    return 1 if failures else 0


def _add_conventions(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("conventions", "Each one named here wins over the preset.")
    group.add_argument("--preset", choices=("trec_eval", "trec_eval-c", "trec_eval-9"))
    group.add_argument(
        "--zero-relevant", choices=("exclude", "zero"), help="queries without a relevant label (exclude)"
    )
    group.add_argument("--missing", choices=("zero", "skip"), help="queries missing from a run (zero)")
    group.add_argument("--min-relevance", metavar="N", type=int, help="relevant from this label on (1)")
    group.add_argument("--ties", choices=("docid", "docid-asc", "file", "rank"), help="order of ties (docid)")
    group.add_argument("--scores", choices=("float64", "float32"), help="precision of scores (float64)")


def _conventions(options: Mapping[str, Any]) -> Conventions:
    from evaluation.conventions import Conventions

    names = ("zero_relevant", "missing", "min_relevance", "ties", "scores")
    given = {name: options[name] for name in names if options[name] is not None}
    return Conventions.preset(options["preset"], **given) if options["preset"] else Conventions(**given)


def _cutoffs(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise ArgumentTypeError(f"{text!r} is no cutoff; write whole numbers of at least 1.")
    return [int(part) for part in parts]


def _threshold(text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    try:
        wanted = float(value)
    except ValueError:
        wanted = float("nan")
    if ("@" not in key and key not in OVER_THE_WHOLE_RUN) or not 0 <= wanted <= 1:
        raise ArgumentTypeError(f"{text!r} is no threshold; write for instance recall@10=0.4 or map=0.3.")
    return key, wanted


def _queries_with_tag(path: Path | None, tag: str | None) -> set[str] | None:
    if (path is None) != (tag is None):
        raise ValueError("--queries and --tag belong together; name both.")
    if path is None:
        return None
    from pooling.formats import read_queries

    tagged = {query.id for query in read_queries(path) if tag in (query.metadata.get("tags") or ())}
    if not tagged:
        raise ValueError(f"{path.name} has no query with the tag {tag}; tags stand in metadata.tags.")
    return tagged


def _below(result: Evaluation, thresholds: list[tuple[str, float]]) -> list[str]:
    """A sentence for every run whose mean is below a threshold; an undefined mean never meets one."""
    from evaluation.measures import key_of, split_name

    sentences = []
    for key, wanted in thresholds:
        at = key_of(*split_name(key))
        for name, run in result.runs.items():
            mean = run.figures[at]["mean"]
            if mean is None or mean < wanted:
                shown = "undefined" if mean is None else f"{mean:.4f}"
                sentences.append(f"{name}: {at} is {shown}, below {wanted:g}.")
    return sentences
