"""The quality page of a queue: numbers worked by hand, who may see it, few statements for many people."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from labeling.gold.quarantine import impose, lift
from labeling.judging.verdicts import undo
from labeling.models import Queue
from labeling.quality import figures as quality_module
from labeling.quality.figures import queue_quality
from tests.labeling.gold.test_quarantine import answer_gold, gold_queue
from tests.labeling.helpers import judge, make_queue
from tests.world import World, signed_in

NOW = timezone.now()


def judged_queue(world: World) -> Queue:
    """Six pairs, judged by Ben (+ + + - - -) and Cleo (+ - - - - ?), Cleo in half of Ben's time."""
    queue = make_queue(world, needed=2, pairs=6)
    words = {"+": "relevant", "-": "not_relevant", "?": "cannot_judge"}
    for person, signs, milliseconds in ((world.ben, "+++---", 8000), (world.cleo, "+----?", 4000)):
        for item, sign in zip(queue.items.order_by("pk"), signs, strict=True):
            reason = "language" if sign == "?" else ""
            judge(queue, person, item.pk, words[sign], reason=reason, active_ms=milliseconds, now=NOW)
    return queue


def row_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    (row,) = [row for row in found["annotators"] if row["username"] == name]
    return dict(row)


def figures(found: dict[str, Any]) -> dict[str, Any]:
    return {row["name"]: row for row in found["agreement"]["figures"]}


def test_a_queue_without_a_verdict_has_no_figures(world: World) -> None:
    queue = make_queue(world)
    found = queue_quality(queue)
    assert (found["verdicts"], found["annotators"], found["per_day"]) == (0, [], [])
    assert figures(found)["raw"]["why"] == "no pair was judged by two people"
    assert signed_in(world.vera).get(f"/queues/{queue.pk}/quality/").status_code == 200


def test_the_numbers_of_a_small_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = judged_queue(world)
    found = queue_quality(queue)
    assert (found["verdicts"], found["cannot_judge"], found["relevant"]) == (12, 1, 4)
    # Five pairs have two opinions: they agree on three of them, and four of the ten verdicts are relevant.
    assert (found["agreement"]["pairs"], found["agreement"]["verdicts"]) == (5, 10)
    assert found["agreement"]["prevalence"] == pytest.approx(0.4)
    assert figures(found)["raw"]["value"] is None
    assert figures(found)["raw"]["why"] == "hidden below 30 shared pairs"
    ben, cleo = row_of(found, "ben"), row_of(found, "cleo")
    assert (ben["verdicts"], ben["relevant"], ben["not_relevant"], ben["share"]) == (6, 3, 3, 0.5)
    assert (cleo["verdicts"], cleo["cannot_judge"], cleo["share"]) == (6, 1, 0.2)
    # On the five shared pairs Ben says relevant on three of five, Cleo on one.
    assert ben["leniency"]["difference"] == pytest.approx(0.4)
    assert cleo["leniency"]["difference"] == pytest.approx(-0.4)
    assert (ben["leniency"]["pairs"], ben["streak"].length, cleo["streak"].length) == (5, 3, 4)
    assert (ben["speed"].median_ms, cleo["speed"].median_ms) == (8000, 4000)
    assert [(row["cannot_judge"], row["verdicts"]) for row in found["hard_queries"]] == [(1, 4)]
    assert found["per_day"] == [
        {"day": timezone.localtime(NOW).date(), "verdicts": 12, "annotators": 2, "median_seconds": 6.0}
    ]
    assert (found["by_position"][0]["verdicts"], found["by_position"][1]["verdicts"]) == (11, 0)


def test_agreement_is_told_from_thirty_pairs_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    known = quality_module.agreement
    monkeypatch.setattr(quality_module, "agreement", lambda frame: known(frame, least=5))
    raw = figures(queue_quality(judged_queue(world)))
    assert raw["raw"]["value"] == pytest.approx(3 / 5)
    assert raw["positive"]["value"] == pytest.approx(2 / 4)
    assert raw["negative"]["value"] == pytest.approx(4 / 6)
    assert raw["raw"]["low"] <= 3 / 5 <= raw["raw"]["high"]


def test_undone_and_revised_verdicts_count_as_they_stand(world: World) -> None:
    queue = make_queue(world, pairs=6)
    first, second, *_ = queue.items.order_by("pk")
    judge(queue, world.ben, first.pk, "relevant")
    judge(queue, world.ben, first.pk, "not_relevant")
    judge(queue, world.ben, second.pk, "relevant", key="slip")
    undo(queue, world.ben, "slip")
    ben = row_of(queue_quality(queue), "ben")
    assert (ben["verdicts"], ben["relevant"], ben["not_relevant"]) == (1, 0, 1)


def test_quarantine_takes_verdicts_out_of_agreement_but_not_out_of_the_evidence(world: World) -> None:
    queue = judged_queue(world)
    queue_quality(queue)
    impose(queue, world.ben, by=world.ada)
    found = queue_quality(queue)
    assert (found["verdicts"], found["set_aside"], found["agreement"]["pairs"]) == (12, 6, 0)
    ben = row_of(found, "ben")
    assert (ben["is_paused"], ben["verdicts"], ben["set_aside"], ben["leniency"]) == (True, 6, 6, None)
    lift(queue, world.ben, by=world.ada)
    found = queue_quality(queue)
    assert (found["set_aside"], row_of(found, "ben")["is_paused"]) == (0, False)


def test_gold_answers_are_figures_of_their_own(world: World) -> None:
    queue = gold_queue(world, 6, gold_pause="proposed")
    answer_gold(queue, world.ben, 6)
    found = queue_quality(queue)
    gold = row_of(found, "ben")["gold"]
    assert found["verdicts"] == 0
    assert (gold["answers"], gold["sensitivity"], gold["specificity"]) == (6, 0, 1)
    assert gold["balanced_accuracy"] == 0.5
    # Wilson of 0 of 3 is [0, 0.561], of 3 of 3 [0.439, 1]: the mean's bounds are 0.561 / 2 away.
    assert gold["balanced_interval"] == pytest.approx((0.2193, 0.7807), abs=1e-3)


def test_a_large_queue_s_figures_may_be_a_minute_old(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality_module, "LARGE", 1)
    queue = judged_queue(world)
    assert queue_quality(queue, now=NOW)["verdicts"] == 12
    judge(queue, world.ada, queue.items.order_by("pk")[0].pk)
    soon = queue_quality(queue, now=NOW + timedelta(seconds=30))
    assert (soon["verdicts"], soon["computed_at"]) == (12, NOW)
    assert queue_quality(queue, now=NOW + timedelta(seconds=90))["verdicts"] == 13


def test_the_page_names_its_figures(world: World) -> None:
    queue = judged_queue(world)
    page = signed_in(world.vera).get(f"/queues/{queue.pk}/quality/").content.decode()
    for words in (
        "From 12 verdicts",
        "Hidden below 30 shared pairs.",
        "Krippendorff",
        "+0.40",
        "5 shared",
        "8.0 s",
    ):
        assert words in page


@pytest.mark.parametrize("picture", ["position", "pace"])
@pytest.mark.parametrize("variant", ["light", "dark-narrow"])
def test_its_pictures_are_pictures(world: World, picture: str, variant: str) -> None:
    client = signed_in(world.vera)
    for queue in (judged_queue(world), make_queue(world)):
        response = client.get(f"/queues/{queue.pk}/quality/{picture}/{variant}/")
        assert response["Content-Type"] == "image/svg+xml"
        assert response.content.startswith(b"<svg")
    assert client.get(f"/queues/{queue.pk}/quality/{picture}/sepia/").status_code == 404


def test_the_call_says_the_same(world: World) -> None:
    queue = judged_queue(world)
    body = signed_in(world.vera).get(f"/api/queues/{queue.pk}/quality/").json()
    assert (body["verdicts"], body["agreement"]["pairs"], len(body["annotators"])) == (12, 5, 2)
    assert body["annotators"][0]["leniency"]["difference"] == pytest.approx(0.4)


def test_the_command_prints_a_table_or_json(world: World) -> None:
    queue = judged_queue(world)
    out = StringIO()
    call_command("quality", "harbour", queue.name, stdout=out)
    assert "12 verdicts, 0 set aside; 5 pairs" in out.getvalue()
    assert [line.split()[:4] for line in out.getvalue().splitlines() if line.startswith("ben")] == [
        ["ben", "6", "0.50", "+0.40"]
    ]
    out = StringIO()
    call_command("quality", "harbour", queue.name, "--format", "json", stdout=out)
    assert json.loads(out.getvalue())["verdicts"] == 12
    with pytest.raises(CommandError, match="no queue “gone”"):
        call_command("quality", "harbour", "gone")
