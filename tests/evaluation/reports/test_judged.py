"""Lists shorter than K: what is judged is told of what was retrieved, by pages, commands and calls alike."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from django.core.management import call_command

from evaluation.report_store.shared_links import Sharing, share
from evaluation.reports.export import html_of
from evaluation.scoring.config import Settings
from labeling.progress.judged_share import judged_share
from labeling.queues.opening import open_queue
from tests.evaluation.cast import make_release, make_report
from tests.world import World, signed_in

pytestmark = pytest.mark.anywhere

# Both runs have d4 of q1, the one of nine documents without a label.
LABELS = "q1 0 d1 1\nq1 0 d6 0\nq1 0 d5 0\n" + "".join(
    f"{query} 0 {document} {int((query, document) in {('q2', 'd2'), ('q3', 'd3')})}\n"
    for query in ("q2", "q3")
    for document in ("d1", "d2", "d3", "d4", "d5", "d6")
)
BETA_JUDGED = "88.9 %"


def test_short_lists_lack_no_label_wherever_people_read_judged(world: World) -> None:
    queue = open_queue(world.build_pool(depth=10), seed=1)
    make_release(world, LABELS)
    report = make_report(world, k=(10,), settings=Settings(thresholds={"judged@10": 0.2}))
    figure = report.result["runs"]["beta"]["judged@10"]
    assert (round(figure["mean"], 3), round(figure["mean_of_retrieved"], 3)) == (0.267, 0.889)
    assert report.result["runs"]["beta"]["recall@10"]["line"].endswith(f"judged@10 {BETA_JUDGED}")

    browser = signed_in(world.vera)
    pages = [f"{report.get_absolute_url()}{rest}" for rest in ("", "?measure=judged", "comparisons/")]
    for page in (*pages, f"/shared/{share(report, Sharing(), by=world.ada).token}/"):
        text = browser.get(page, follow=True).content.decode()
        assert re.search(r"88\.9|0\.889", text), page
        assert not re.search(r"26\.7|0\.267", text), page
    for rest in ("charts/distribution/", "where/", "queries/"):
        page = browser.get(f"{report.get_absolute_url()}{rest}?measure=judged&k=10").content.decode()
        assert "By query, judged@10 is the share of all 10 places" in page, rest
    assert BETA_JUDGED in html_of(report).decode()
    answer = browser.get(f"/api/reports/{report.pk}/").json()["answer"]
    assert round(answer["judged"], 3) == round(
        report.result["runs"][answer["run"]]["judged@10"]["mean_of_retrieved"], 3
    )
    now = {row["run"]: row["now"] for row in judged_share(queue) if row["k"] == 10}
    assert round(now["beta"], 3) == 0.889


def test_the_command_says_where_short_lists_are_why_a_threshold_of_judged_is_missed(world: World) -> None:
    world.import_runs()
    (world.folder / "labels.qrels").write_text(LABELS)
    files = [str(world.folder / name) for name in ("labels.qrels", "alpha.run", "beta.run")]
    out = StringIO()
    err = StringIO()
    with pytest.raises(SystemExit):
        call_command(
            "evaluate", *files, "--k", "10", "--fail-under", "judged@10=0.85", stdout=out, stderr=err
        )
    assert out.getvalue().count(BETA_JUDGED) > 1
    assert "beta: judged@10 is 0.2667 (short lists; 0.8889 of what it retrieved) over" in err.getvalue()
    out = StringIO()
    call_command("evaluate", *files, "--k", "10", "--format", "json", stdout=out)
    printed = json.loads(out.getvalue())
    assert round(printed["runs"]["beta"]["judged@10"]["mean"], 3) == 0.267
    assert (
        printed["answer"]["judged"]
        == printed["runs"][printed["answer"]["run"]]["judged@10"]["mean_of_retrieved"]
    )
