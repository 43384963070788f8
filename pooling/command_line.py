"""Arguments and output of `pool RUN…`, without Django; heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pooling.formats import iterate_documents, read_queries
from pooling.formats.wording import plural
from pooling.formats.writing import note_on_tabs, write_pieces, write_text
from pooling.heavy import pl
from pooling.interface.terminal import Writer, progress_bar, tracked
from pooling.merging.choice import Choice
from pooling.merging.merging import build_pool, first_rows
from pooling.merging.streaming import MOST_ROWS, named_paths, pool_as_tsv, pool_in_parts, read_top
from pooling.merging.summary import notes_on
from pooling.options import add_file, add_option_arguments, options_of
from pooling.ranking.chunk_options import add_chunk_arguments, chunks_of
from pooling.ranking.chunks import Chunks
from pooling.ranking.shared_ids import COLLAPSE, Side, sentence_on, shared_fraction
from pooling.texts.text_ranking import text_ranking

HELP = "Merge the tops of runs into one list of pairs to judge."

OPTIONS = options_of(Choice)
PROGRESS = {"SplitRun": "Reading runs", "CountPart": "Counting", "PoolPart": "Pooling"}


def add_arguments(parser: ArgumentParser) -> None:
    add_file(parser, "runs", "run files; NAME=FILE names one", metavar="RUN", nargs="+")
    add_option_arguments(parser, OPTIONS.values())
    add_chunk_arguments(parser.add_argument)
    add_file(
        parser,
        "--corpus",
        "the documents: with --reach and --queries, the audit draws from a text ranking too",
    )
    add_file(parser, "--queries", "the texts of the queries, for --corpus")
    parser.add_argument(
        "--engine", choices=("local", "spark"), default="local", help="engine that does the work"
    )
    add_file(parser, "--output", "default: standard output")


def run(options: Mapping[str, Any], output: Writer, errors: Writer) -> int:
    """Pool the runs and write the table: the exit code. ValueError and OSError for what cannot be done."""
    choice = Choice(**{name: options[name] for name in OPTIONS})
    choice.check()
    named = named_paths(options["runs"])
    choice.check(named)
    refuse_texts_alone(choice, options)
    if note := note_on_tabs(options["output"]):
        errors.write(note)
    chunks = chunks_of(options["collapse_chunks"], options["chunk_map"])
    tops = _tops(named, choice, chunks, errors) if options["engine"] == "local" else None
    if tops is None:
        _refuse_parts_in_frame(choice, options["engine"])
        _pool_in_parts(named, choice, chunks, options=options, output=output, errors=errors)
        _say_how_deep(choice, errors)
        return 0
    ranking = None if options["corpus"] is None else _text_ranking(choice, tops, options, errors)
    text = pool_as_tsv(build_pool(tops, finders=False, text=ranking, **asdict(choice)))
    _say_how_deep(choice, errors)
    if options["output"]:
        write_text(options["output"], text)
    else:
        output.write(text)
    return 0


def _say_how_deep(choice: Choice, errors: Writer) -> None:
    if choice.reach is None and choice.share:
        errors.write(
            f"The audit draws from the first {choice.deepest:,} places and says nothing of what lies deeper; "
            "--reach draws from further down.\n"
        )


def _tops(
    paths: Mapping[str, Path], choice: Choice, chunks: Chunks | None, errors: Writer
) -> dict[str, pl.DataFrame] | None:
    """The first documents of each run; None when they are too many for memory."""
    tops: dict[str, pl.DataFrame] = {}
    notes: list[str] = []
    for name, path in tracked("Reading runs", list(paths.items()), errors):
        top, run_notes = read_top(name, path, choice, chunks)
        tops[name] = top.drop("position")
        notes += [f"{path.name}: {note}" for note in run_notes]
        if sum(frame.height for frame in tops.values()) > MOST_ROWS:
            return None
    queries = {name: first_rows(top) for name, top in tops.items()}
    _warn([*notes, *notes_on(queries, choice.budget)], errors)
    return tops


def refuse_texts_alone(choice: Choice, options: Mapping[str, Any]) -> None:
    """ValueError where texts are given without what they are for."""
    if options["corpus"] is None and options["queries"] is None:
        return
    if choice.reach is None:
        raise ValueError("--corpus and --queries are for the frame of the audit: give --reach as well.")
    absent = next((name for name in ("corpus", "queries") if options[name] is None), None)
    if absent:
        raise ValueError(f"A text ranking needs documents and queries: give --{absent} as well.")


def _refuse_parts_in_frame(choice: Choice, engine: str) -> None:
    if choice.reach is not None:
        why = "--engine spark does not draw" if engine == "spark" else "These runs are too large to draw"
        raise ValueError(f"{why} from a reach deeper than the depth. Leave --reach out, or pool fewer runs.")


def _text_ranking(
    choice: Choice, tops: Mapping[str, pl.DataFrame], options: Mapping[str, Any], errors: Writer
) -> pl.DataFrame:
    pooled = {query for top in tops.values() for query in top["query_id"].unique()}
    queries = {one.id: one.text for one in read_queries(options["queries"])}
    without = sorted(pooled - set(queries))
    if len(without) == len(pooled):
        raise ValueError(
            f"{options['queries']} lacks the queries of the runs, such as “{without[0]}”. Use one set of ids."
        )
    if without:
        errors.write(
            f"{len(without):,} of {len(pooled):,} queries {plural(len(without), 'has', 'have')} no "
            f"text, for instance “{without[0]}”: their "
            "audit draws from the runs alone.\n"
        )
    ids: list[str] = []

    def documents() -> Iterator[tuple[str, str]]:
        for one in iterate_documents(options["corpus"]):
            ids.append(one.id)
            yield one.id, f"{one.title} {one.text}"

    with progress_bar("Ranking texts") as progress:
        wanted = {query: text for query, text in queries.items() if query in pooled}
        ranking = text_ranking(wanted, documents(), choice.reach or choice.depth, progress=progress)
    of_runs = Side("documents of the runs", pl.concat([top["document_id"] for top in tops.values()]))
    of_corpus = Side(f"documents of {options['corpus'].name}", pl.Series(ids))
    if shared_fraction(of_runs, of_corpus) < 1:
        errors.write(f"{sentence_on(of_runs, of_corpus, chunks=COLLAPSE)}\n")
    return ranking


def _pool_in_parts(
    paths: Mapping[str, Path],
    choice: Choice,
    chunks: Chunks | None,
    *,
    options: Mapping[str, Any],
    output: Writer,
    errors: Writer,
) -> None:
    from tempfile import TemporaryDirectory

    def in_turn(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        """The engine of one machine: each task is spread over its cores."""
        return map(function, tracked(PROGRESS.get(type(function).__name__, "Working"), tasks, errors))

    engine: Any = in_turn
    if options["engine"] == "spark":
        from pooling.merging.spark import spark_map as engine  # Cut: for those who ask for Spark alone
    with TemporaryDirectory(prefix="soundings-pool-") as folder:
        pieces, notes = pool_in_parts(paths, choice, folder=Path(folder), engine=engine, chunks=chunks)
        _warn(notes, errors)
        if options["output"]:
            write_pieces(options["output"], pieces)
        else:
            for piece in pieces:
                output.write(piece.decode())


def _warn(notes: Iterable[str], errors: Writer) -> None:
    for note in notes:
        errors.write(f"{note}\n")
