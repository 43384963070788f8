"""Arguments and output of `evaluate QRELS RUN…`, without Django; heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.comparisons.answering import AnswerRequest, answered, usual_test
from evaluation.comparisons.audited import audited_differences
from evaluation.comparisons.comparing import Method, compare_at
from evaluation.comparisons.tables import answer_part, comparison_part
from evaluation.comparisons.verdict import Comparison
from evaluation.estimates.of_pool import Basis, estimates_of, recall_cutoffs, too_large
from evaluation.estimates.pool_file import depth_of_file, design_of_files
from evaluation.facts.command import (
    FactOptions,
    add_fact_arguments,
    checked_facts,
    evaluated_facts,
    fact_options,
    is_of_facts,
)
from evaluation.facts.tables import fact_parts, render_facts
from evaluation.failures.command import (
    add_breakdown_arguments,
    add_stage_arguments,
    breakdown_parts,
    stage_parts,
)
from evaluation.indexes.command import add_against_arguments, refuse_without_exact_run, run_against
from evaluation.logs.applying import refuse_with_weights, weighted_result
from evaluation.rendering.cells import Part
from evaluation.rendering.duplicate_options import add_duplicate_arguments, duplicate_options
from evaluation.rendering.formats import FLAT_FORMATS, render
from evaluation.rendering.gates import check_gates
from evaluation.rendering.per_query import check_per_query_path, write_values
from evaluation.rendering.span_options import (
    SpanOptions,
    add_span_arguments,
    evaluated_spans,
    render_spans,
    span_options,
)
from evaluation.rendering.without_labels import finished
from evaluation.scoring.config import MARGIN, SETTINGS, Settings, read_settings, settings_from
from evaluation.scoring.conventions import CHOICES, CONVENTIONS, PRESET
from evaluation.scoring.estimate_figures import Estimates
from evaluation.scoring.evaluating import DEFAULT_MEASURES, evaluate
from evaluation.scoring.expectations import checked
from evaluation.scoring.inputs import DEFAULT_CUTOFFS, only_queries
from evaluation.scoring.results import Evaluation
from evaluation.scoring.spans import is_of_spans
from evaluation.scoring.strata import chosen_strata, queries_by_tag
from evaluation.scoring.wording import cutoffs_down_to
from pooling.formats import read_queries
from pooling.formats.pools import read_pool
from pooling.heavy import pl
from pooling.interface.terminal import Writer
from pooling.options import add_file, add_option_arguments
from pooling.ranking.chunk_options import add_chunk_arguments, chunks_of

HELP = "Measure runs against qrels: Recall, Precision, F1 and Success at K, with coverage and bounds."


def add_arguments(parser: ArgumentParser) -> None:
    add_file(parser, "qrels", "the labels; with --against the first run stands here", metavar="QRELS")
    add_file(parser, "runs", "runs; NAME=FILE names one", metavar="RUN", nargs="*")
    parser.add_argument("--k", metavar="N", nargs="+", action="extend", type=_cutoffs, help="cutoffs")
    parser.add_argument(
        "--measure", metavar="M", nargs="+", action="extend", help="for instance recall, recall@10 or map"
    )
    add_file(parser, "--config", "settings in TOML; an option named here wins over it")
    add_file(
        parser,
        "--pool",
        "the pool behind the labels, as `pool` writes it: estimates from its audit, and what is "
        "missing; may be repeated",
        action="append",
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="QRELS names all that is relevant to its queries: unlisted documents are not relevant",
    )
    _add_conventions(parser)
    _add_queries(parser)
    group = parser.add_argument_group("intervals")
    options = [SETTINGS[name] for name in ("confidence", "samples", "seed")]
    add_option_arguments(group, options, bounded=False)
    add_chunk_arguments(parser.add_argument)
    add_duplicate_arguments(parser)
    parser.add_argument(
        "--engine", choices=("local", "spark"), default="local", help="engine that does the work"
    )
    _add_output(parser)
    _add_gates(parser)
    add_against_arguments(parser)
    add_stage_arguments(parser)
    add_fact_arguments(parser)
    add_span_arguments(parser)
    _add_comparisons(parser)
    add_breakdown_arguments(parser)


def run(options: Mapping[str, Any], output: Writer, errors: Writer) -> int:
    """Evaluate, write what was asked for, then compare with the thresholds: the exit code."""
    span_choice = span_options(options)
    options = span_choice.options if span_choice else options
    fact_choice = fact_options(options)
    options = fact_choice.options if fact_choice else options
    settings = _settings(options)
    thresholds = dict(settings.thresholds or {})
    for choice in (fact_choice, span_choice):
        thresholds |= choice.thresholds if choice else {}
    check_gates(options, thresholds)
    if span_choice and span_choice.is_alone:
        return _spans_alone(span_choice, settings, output, errors)
    chunks = None if span_choice else chunks_of(options["collapse_chunks"], options["chunk_map"])
    if options["against"]:
        chosen, _ = _tagged(options["queries"], options["tag"], None)
        return run_against(options, settings, chosen, chunks, output=output, errors=errors)
    refuse_without_exact_run(options)
    if fact_choice is not None and fact_choice.qrels is None:
        return _facts_alone(fact_choice, settings, output, errors)
    refuse_with_weights(options)
    if not options["runs"]:
        raise ValueError("The following arguments are required: RUN. Name one run or more after the labels.")
    check_per_query_path(options["per_query"], len(options["runs"]))
    write_html = _html_writer(options["html"])
    other = options["by"] or options["weights"]
    queries, strata = _tagged(options["queries"], options["tag"], settings.tags, other)
    pools = _pools(options["pool"], queries)
    pool = _pool(pools)
    named, settings = settings, _down_to_pools(settings, pools)
    arguments = {"chunks": chunks, **settings.arguments()}
    if span_choice:
        arguments = {**arguments, **span_choice.beside(settings.measures or DEFAULT_MEASURES)}
    result = evaluate(
        options["qrels"],
        options["runs"],
        pool=pool,
        queries=queries,
        strata=strata,
        complete=options["complete"],
        engine=options["engine"],
        **duplicate_options(options),
        **arguments,
    )
    result = weighted_result(result, options, queries)
    basis = None if pool is None else _basis(result, pools, options)
    estimates = None if pool is None else estimates_of(basis, complete=options["complete"])
    facts = None
    if fact_choice is not None:
        facts = evaluated_facts(fact_choice, settings, queries=queries, chunks=chunks, pool=pool)
    write_values(options["per_query"], result, facts)
    made = _comparisons(result, options, basis)
    parts = [*_answer(result, options, named, basis, made=made, estimates=estimates)]
    if write_html is not None:
        write_html(
            result,
            settings,
            options,
            estimates,
            sentences=[line for part in parts for line in part.sentences],
        )
    if made:
        parts.append(comparison_part(made, _margin(settings)))
    if facts is not None:
        parts += fact_parts(facts)
    output.write(
        render(
            result,
            options["format"],
            terminal=output.isatty(),
            with_trade_offs=options["trade_offs"],
            parts=[*parts, *breakdown_parts(result, options), *stage_parts(result, options)],
            estimates=estimates,
        )
    )
    checks = checked(result.runs, result.thresholds, result.rests_on)
    checks += checked_facts(facts, fact_choice.thresholds) if fact_choice and facts else []
    checks += span_choice.checked(result.spans.runs) if span_choice and result.spans else []
    left_out = result.left_out() if options["format"] in FLAT_FORMATS else ()  # others have a place for it
    sentences = [*result.notes, *left_out, *(facts.notes if facts else ()), *result.warnings()]
    tables = partial(render, result, "markdown", parts=parts, estimates=estimates)
    return finished(options, checks, tables, sentences=sentences, errors=errors)


def _facts_alone(choice: FactOptions, settings: Settings, output: Writer, errors: Writer) -> int:
    """Nothing is measured over documents; the exit code as above."""
    options = choice.options
    queries, _ = _tagged(options["queries"], options["tag"], None)
    chunks = chunks_of(options["collapse_chunks"], options["chunk_map"])
    check_per_query_path(options["per_query"], len(choice.runs))
    pool = _pool(_pools(options["pool"], queries))
    evaluation = evaluated_facts(choice, settings, queries=queries, chunks=chunks, pool=pool)
    write_values(options["per_query"], evaluation)
    output.write(render_facts(evaluation, options["format"], terminal=output.isatty()))
    checks = checked_facts(evaluation, choice.thresholds)
    tables = partial(render_facts, evaluation, "markdown")
    return finished(options, checks, tables, sentences=evaluation.notes, errors=errors)


def _spans_alone(choice: SpanOptions, settings: Settings, output: Writer, errors: Writer) -> int:
    """As `_facts_alone`, over excerpts."""
    options = choice.options
    queries, _ = _tagged(options["queries"], options["tag"], None)
    check_per_query_path(options["per_query"], len(choice.runs))
    evaluation = evaluated_spans(choice, settings, queries=queries)
    write_values(options["per_query"], evaluation)
    output.write(render_spans(evaluation, options["format"], terminal=output.isatty()))
    tables = partial(render_spans, evaluation, "markdown")
    checks = choice.checked(evaluation.runs)
    return finished(options, checks, tables, sentences=[*evaluation.notes, *choice.notes], errors=errors)


def _html_writer(path: Path | None) -> Callable[..., None] | None:
    """What writes the HTML file, once it is clear that it can be written; None without a path."""
    if path is None:
        return None
    # Cut: pictures and provenance take an eighth of the start
    from evaluation.charts.html_file import check_html_path, write_html

    check_html_path(path)
    return write_html


def _add_output(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=("table", "json", "csv", "markdown", "latex", "mlflow"), default="table"
    )
    add_file(group, "--per-query", "write every query's values")
    add_file(group, "--html", "write a report with pictures and tables as one HTML file")
    group.add_argument(
        "--trade-offs",
        action="store_true",
        help="Recall, Precision and F1 by K, what each place adds, and the K that reaches a recall",
    )


def _add_gates(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("continuous integration")
    group.add_argument(
        "--fail-under",
        metavar="MEASURE=VALUE",
        action="append",
        type=_threshold,
        help="exit with 1 when the mean of any run is below VALUE; may be repeated",
    )
    add_file(group, "--junit", "write the thresholds as JUnit XML, a test for each")
    add_file(
        group,
        "--job-summary",
        "append thresholds and tables to FILE as Markdown (default: that of GITHUB_STEP_SUMMARY)",
        nargs="?",
        const=Path(),
    )


def _add_comparisons(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("comparisons")
    group.add_argument(
        "--compare", action="store_true", help="whether one run beats another, and what would decide it"
    )
    group.add_argument("--test", choices=("randomisation", "t"), help="paired test (randomisation)")
    group.add_argument(
        "--correction",
        choices=("holm", "benjamini-hochberg", "none"),
        default="holm",
        help="of p-values for the number of pairs (holm)",
    )
    add_option_arguments(group, [SETTINGS["margin"]], bounded=False)


def _pools(paths: Sequence[Path] | None, queries: Collection[str] | None) -> dict[str, pl.DataFrame]:
    names = Counter(path.name for path in paths or ())
    return {
        path.name if names[path.name] == 1 else str(path): only_queries(read_pool(path), queries)
        for path in paths or ()
    }


def _pool(pools: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
    """All pairs of some pools, which bounds enclose; None without a pool."""
    pair = ["query_id", "document_id"]
    rows = pl.concat(one.select(*pair, "frame_size") for one in pools.values()) if pools else None
    return None if rows is None else rows.unique(pair)


def _down_to_pools(settings: Settings, pools: Mapping[str, pl.DataFrame]) -> Settings:
    """Without a K that somebody named, none below the depth of all pools, where nobody judged."""
    if settings.k is not None:
        return settings

    depths = [depth for depth in map(depth_of_file, pools.values()) if depth is not None]
    return replace(settings, k=cutoffs_down_to(DEFAULT_CUTOFFS, max(depths))) if depths else settings


def _basis(result: Evaluation, pools: Mapping[str, pl.DataFrame], options: Mapping[str, Any]) -> Basis | None:
    """None where there is too much to read again."""
    if flat := FLAT_FORMATS.get(options["format"]):
        raise ValueError(f"{flat} does not support estimates; choose table, json, markdown or latex.")
    if not recall_cutoffs(result):
        raise ValueError("--pool estimates recall; name recall among the measures.")
    if too_large(result):
        return None
    return Basis.of(result, design_of_files(pools, result))


def _answer(
    result: Evaluation,
    options: Mapping[str, Any],
    settings: Settings,
    basis: Basis | None,
    *,
    made: Sequence[Comparison],
    estimates: Estimates | None,
) -> list[Part]:
    """The parts that the output begins with; none where its format has no place for them."""
    if options["format"] in ("csv", "latex") and not options["html"]:
        return []

    test = options["test"] or ("randomisation" if options["compare"] else usual_test(result))
    method = Method(test, options["correction"])
    request = AnswerRequest(_margin(settings), method, names_k=settings.k is not None)
    answer = answered(result, request, basis=basis, made=made, estimates=estimates)
    return [answer_part(answer)]


def _margin(settings: Settings) -> float:
    return MARGIN if settings.margin is None else settings.margin


def _comparisons(
    result: Evaluation, options: Mapping[str, Any], basis: Basis | None = None
) -> list[Comparison]:
    """Every pair of runs at each K of recall; nothing unless asked for."""
    if not options["compare"]:
        return []
    if len(result.runs) < 2:
        raise ValueError("--compare needs two runs or more; name them after the labels.")

    cutoffs = recall_cutoffs(result)
    if not cutoffs:
        raise ValueError("--compare compares recall; name recall among the measures.")
    method = Method(options["test"] or "randomisation", options["correction"])
    if basis is None:
        return compare_at(result, cutoffs, method=method)
    audited = audited_differences(basis, list(result.runs), cutoffs)
    return compare_at(result, cutoffs, audited=audited, opened=basis.opened, method=method)


def _settings(options: Mapping[str, Any]) -> Settings:
    """The evaluation file counts where an option is left out."""
    named = {
        "k": [k for group in options["k"] or [] for k in group] or None,
        "measures": options["measure"],
        "conventions": {
            name: options[name] for name in ("preset", *CONVENTIONS) if options[name] is not None
        },
        "thresholds": dict(options["fail_under"] or []) or None,
        "tags": options["by_tag"],
    }
    names = ("confidence", "minimum_queries", "samples", "seed", "margin")
    named |= {name: options[name] for name in names}
    settings = read_settings(options["config"]) if options["config"] else Settings()
    return settings_from(named).over(settings)


def _add_queries(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("queries")
    add_file(group, "--queries", "queries.jsonl, for their tags")
    group.add_argument(
        "--weights",
        choices=("traffic", "queries"),
        help="take means back to the log that --queries was drawn from: to its traffic, or to its queries",
    )
    group.add_argument("--tag", metavar="TAG", help="only queries with this tag in metadata.tags")
    group.add_argument(
        "--by-tag",
        metavar="TAG",
        nargs="+",
        action="extend",
        help="report the queries with each tag separately",
    )
    add_option_arguments(group, [SETTINGS["minimum_queries"]], bounded=False)


def _add_conventions(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("conventions", "Each one named here wins over the preset.")
    named = [CONVENTIONS[name] for name in (*CHOICES, "drop_query_document")]
    add_option_arguments(group, [PRESET, *named], filled=False)
    add_option_arguments(group, [CONVENTIONS["min_relevance"]], filled=False, bounded=False)


def _cutoffs(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise ArgumentTypeError(f"{text!r} is no cutoff; write whole numbers of at least 1.")
    return [int(part) for part in parts]


def _threshold(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        if is_of_facts(name) or is_of_spans(name):
            return name, float(value)
        ((key, wanted),) = (settings_from({"thresholds": {name: float(value)}}).thresholds or {}).items()
    except ValueError:
        raise ArgumentTypeError(
            f"{text!r} is no threshold; write for instance recall@10=0.4 or map=0.3."
        ) from None
    return key, wanted


def _tagged(
    path: Path | None, tag: str | None, tags: Sequence[str] | None, other: str | None = None
) -> tuple[set[str] | None, dict[str, list[str]] | None]:
    """The queries with `tag`, None for all; and those of each of `tags`."""
    if path is None and not tag and tags:
        raise ValueError("Tags come from a queries file; name it with --queries FILE.")
    if (path is None and tag) or (path is not None and not (tag or tags or other)):
        raise ValueError("--queries and --tag belong together, or --queries and --by-tag; name both.")
    if path is None or not (tag or tags):
        return None, None

    by_tag = queries_by_tag((query.id, query.metadata) for query in read_queries(path))
    chosen = set(chosen_strata(by_tag, [tag])[tag]) if tag else None
    return chosen, chosen_strata(by_tag, tags or ())
