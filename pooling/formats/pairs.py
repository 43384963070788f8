"""Rules for pairs in any format: no pair twice, and ids that people can tell apart."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from pooling.heavy import np, pl

PAIR = ["query_id", "document_id"]


def hashes() -> tuple[pl.Expr, pl.Expr]:
    """64-bit hashes: equal pairs have equal hashes, so only equal hashes need a closer look."""
    query = pl.col("query_id").hash(1)
    return query.alias("query_hash"), (pl.col("document_id").hash(0) ^ query).alias("pair_hash")


def repeated_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows whose pair occurs more than once, with their row number `row`; empty for nearly every file."""
    if frame["pair_hash"].n_unique() == frame.height:
        return frame.clear().with_row_index("row")
    hashes = np.sort(frame["pair_hash"].to_numpy())
    twice = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    suspects = frame.with_row_index("row").filter(pl.col("pair_hash").is_in(twice.tolist()))
    return suspects.filter(pl.struct(PAIR).is_duplicated())


def first_repeated(repeated: pl.DataFrame) -> tuple[int, int]:
    """Row numbers of the first pair that comes again: (first time, second time)."""
    second = int(repeated.filter(~pl.struct(PAIR).is_first_distinct())["row"][0])
    chosen = repeated.row(by_predicate=pl.col("row") == second, named=True)
    same = (pl.col("query_id") == chosen["query_id"]) & (pl.col("document_id") == chosen["document_id"])
    return int(repeated.filter(same)["row"][0]), second


def alike_notes(frame: pl.DataFrame) -> tuple[str, ...]:
    """Notes on ids that differ only in Unicode form or in blanks around them: they stay different."""
    notes = []
    for column, kind in (("query_id", "query"), ("document_id", "document")):
        ids = frame[column].unique()
        unusual = ids.filter(ids.str.contains(r"[^\x21-\x7e]"))
        if len(unusual):
            notes += [alike_note(kind, *pair) for pair in first_alike(ids, unusual)]
    return tuple(notes)


def first_alike(ids: pl.Series, unusual: pl.Series) -> list[tuple[str, str]]:
    wanted = {plain_form(text): text for text in unusual}
    plain = pl.Series(sorted(wanted.keys()), dtype=pl.String)
    matches = ids.filter(ids.is_in(plain.implode())).to_list()
    return clash(wanted, matches) or clash_among(unusual)


def clash(wanted: dict[str, str], ids: Iterable[str]) -> list[tuple[str, str]]:
    return [(wanted[text], text) for text in sorted(ids) if wanted[text] != text][:1]


def clash_among(unusual: Iterable[str]) -> list[tuple[str, str]]:
    seen: dict[str, str] = {}
    for text in sorted(unusual):
        earlier = seen.setdefault(plain_form(text), text)
        if earlier != text:
            return [(earlier, text)]
    return []


def plain_form(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def alike_note(kind: str, left: str, right: str) -> str:
    return (
        f"The {kind} ids {left!a} and {right!a} look alike and are kept apart: "
        "they differ only in Unicode form or in surrounding spaces."
    )
