"""Reports on runs of chunks say so, beside the numbers that it changes."""

from __future__ import annotations

from django.test import Client

from evaluation.report_store.settings import conventions_in_words
from pooling.ranking.chunks import Chunks
from pooling.runs.stored import import_run
from tests.evaluation.cast import make_report
from tests.world import World


def test_a_report_says_which_runs_held_chunks(world: World, client: Client) -> None:
    world.import_runs()
    path = world.folder / "chunked.run"
    path.write_text("q1 Q0 d1#1 1 3 t\nq1 Q0 d1#2 2 2 t\nq1 Q0 d4#1 3 1 t\n")
    import_run(world.collection, path, chunks=Chunks("#"))
    report = make_report(world, k=(2,))

    words = "best chunk per document (id before the last “#”)"
    assert conventions_in_words(report).endswith(f" · chunked: {words}")
    lines = {name: figures["recall@2"]["line"] for name, figures in report.result["runs"].items()}
    assert [name for name, line in lines.items() if words in line] == ["chunked"]
    assert report.result["runs"]["chunked"]["recall@2"]["mean"] == 1 / 3  # both of q1, nothing else
    client.force_login(world.vera)
    assert f"chunked: {words}" in client.get(report.get_absolute_url()).content.decode()
