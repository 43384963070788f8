"""TREC text, four or six fields without a header; `pooling.formats.trec` and `parts` read it."""

from __future__ import annotations

import re

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.registry import Format, Target
from pooling.formats.writing import delimited, refuse
from pooling.heavy import pl

BLANK = r"[ \t\n\r\x00]|^$"


def run_text(frame: pl.DataFrame, target: Target) -> str:
    refuse_blanks(target, frame)
    if re.search(BLANK, target.tag):
        problem = f"the tag {excerpt(target.tag)} is empty or contains a space"
        raise FormatError(target.path, None, problem, "Give a tag without spaces.")
    q0, tag = pl.lit("Q0"), pl.lit(target.tag).alias("tag")
    return delimited(frame.select("query_id", q0, "document_id", "rank", "score", tag), " ")


def qrels_text(frame: pl.DataFrame, target: Target) -> str:
    refuse_blanks(target, frame)
    return delimited(frame.select("query_id", pl.lit("0"), "document_id", "relevance"), " ")


def refuse_blanks(target: Target, frame: pl.DataFrame) -> None:
    """TREC files cannot hold blanks or line ends in an id, nor a query id that begins like a comment."""
    refuse(target.path, frame, BLANK, "a space, a tab, a line end or a NUL")
    if frame["query_id"].str.contains(r"^(#|\x{FEFF})").any():
        problem = "a query id begins with #, which TREC tools skip"
        raise FormatError(target.path, None, problem, "Write JSON lines.")


FORMATS = (
    Format(
        name="trec",
        title="TREC qrels",
        suffix=".qrels",
        suffixes=(".run", ".txt", ".trec", ".res"),
        writers={"run": run_text, "qrels": qrels_text},
    ),
)
