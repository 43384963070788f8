"""The ir_metadata of runs in the provenance of a report."""

from __future__ import annotations

from evaluation.measures.intervals import interval_settings
from evaluation.report_store.provenance import LONGEST_METADATA, Provenance


def test_metadata_of_runs_are_in_the_provenance_whole_and_in_short() -> None:
    values = {"actor": {"team": "t" * LONGEST_METADATA}}
    provenance = Provenance(
        labels=("v1", "a"),
        runs=[("bm25", "b"), ("dense", "c")],
        software={"soundings": "0.1"},
        interval=interval_settings(20, 10, 1),
        pool="p",
        command="soundings evaluate",
        metadata={"bm25": values},
    )
    bm25, dense = provenance.to_dict()["runs"]
    assert bm25 == {"name": "bm25", "sha256": "b", "ir_metadata": values}
    assert dense == {"name": "dense", "sha256": "c"}
    (short,) = [words for name, words in provenance.facts() if name == "Run bm25, ir_metadata"]
    assert short.startswith('{"actor": {"team": "ttt')
    assert len(short) == LONGEST_METADATA
