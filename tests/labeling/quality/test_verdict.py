"""What the quality page says first, from figures put down by hand, and who answers too fast."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from labeling.items.reading import is_implausible, least_ms
from labeling.items.reading_speed import too_fast_in
from labeling.models import Queue
from labeling.quality.facts import AgreementFigures
from labeling.quality.figures import queue_quality
from labeling.quality.monitors import leniency, speed
from labeling.quality.verdict import quality_verdict
from labeling.queues.opening import open_queue
from pooling.models import Document
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World, signed_in


def alpha(value: float | None, low: float | None = None, high: float | None = None, **more: Any) -> Any:
    figure = {"name": "krippendorff", "value": value, "low": low, "high": high, "why": more.pop("why", "")}
    known = {"pairs": 212, "verdicts": 424, "prevalence": 0.3, "figures": [figure]}
    return {**known, **more}


def annotator(name: str, own: float, others: float, reach: float, **speeds: Any) -> Any:
    difference = own - others
    lenient = {"pairs": 100, "queries": 20, "own": own, "others": others, "difference": difference}
    lenient |= {"low": difference - reach, "high": difference + reach}
    return {"username": name, "leniency": lenient, "speed": replace(speed((), ()), **speeds)}


def texts(agreement: AgreementFigures, *annotators: Any, waiting: int = 0) -> dict[str, str]:
    return {one["about"]: one["text"] for one in quality_verdict(agreement, annotators, waiting)}


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (alpha(0.9, 0.82, 0.95), "Agreement is very good (α 0.90 [0.82, 0.95], 212 pairs judged twice)."),
        (alpha(0.78, 0.7, 0.85), "Agreement is good (α 0.78 [0.70, 0.85], 212 pairs judged twice)."),
        (alpha(0.78, 0.5, 0.9), "Agreement may be good or poor"),
        (alpha(0.4, 0.3, 0.5), "Agreement is poor"),
        (alpha(0.4, 0.3, 0.5, prevalence=0.04), "Few pairs are relevant, which lowers α"),
        (alpha(None, pairs=0), "no pair was judged by two people"),
        (
            alpha(None, pairs=12),
            "too early to tell how good agreement is: 12 pairs judged twice",
        ),
        (alpha(None, why="undefined because unanimous"), "Everybody says the same"),
    ],
)
def test_agreement_is_graded_by_its_whole_interval(figures: AgreementFigures, words: str) -> None:
    assert words in texts(figures)["agreement"]


def test_one_strict_annotator_is_named_with_the_shares() -> None:
    people = [annotator("eva", 0.12, 0.31, 0.06), annotator("ben", 0.3, 0.27, 0.05)]
    said = texts(alpha(0.8, 0.7, 0.9), *people, annotator("cleo", 0.29, 0.25, 0.05))
    assert said["annotators"] == (
        "One annotator is much stricter than the others: eva finds 12 % relevant, the others 31 %."
    )


def test_what_is_missing_to_compare_people_is_said() -> None:
    people = [annotator("ben", 0.3, 0.3, 0.1), annotator("cleo", 0.3, 0.3, 0.1)]
    for row, pairs, queries in zip(people, (116, 90), (3, 2), strict=True):
        row["leniency"] |= {"pairs": pairs, "queries": queries}
    assert texts(alpha(0.8, 0.7, 0.9), *people)["annotators"].endswith(
        "it takes 20 pairs of 8 queries that somebody shares with others, "
        "and there are at most 116 of 3 queries."
    )


def test_a_difference_is_named_only_if_it_is_significant_for_all_who_are_compared() -> None:
    # z is 2.2: p = .03 alone, .33 of twelve people.
    people = [annotator(f"p{at}", 0.4, 0.3, 1.96 * 0.1 / 2.2) for at in range(12)]
    assert "Nobody is clearly stricter" in texts(alpha(0.8, 0.7, 0.9), *people)["annotators"]
    small = [annotator("ben", 0.34, 0.3, 0.001), annotator("cleo", 0.3, 0.34, 0.001)]
    assert "Nobody is clearly stricter" in texts(alpha(0.8, 0.7, 0.9), *small)["annotators"]


def test_of_two_people_neither_is_called_the_odd_one() -> None:
    people = [annotator("ben", 0.6, 0.2, 0.1), annotator("cleo", 0.2, 0.6, 0.1)]
    said = texts(alpha(0.8, 0.7, 0.9), *people)["annotators"]
    told = "ben finds 60 % relevant and cleo finds 20 % relevant"
    assert said == f"Two annotators judge the same pairs differently: {told}."


def test_who_is_too_fast_is_named_and_nobody_else() -> None:
    fast = annotator("eva", 0.3, 0.3, 0.1, timed=60, all_too_fast=44, recent=20, too_fast=5)
    slow = annotator("ben", 0.3, 0.3, 0.1, timed=60, all_too_fast=20, recent=20, too_fast=13)
    said = texts(alpha(0.8, 0.7, 0.9), fast, slow)
    assert said["speed"] == "eva answered 44 of 60 pairs faster than anybody can read."
    assert "speed" not in texts(alpha(0.8, 0.7, 0.9), slow)


def test_pairs_that_wait_are_counted() -> None:
    said = [texts(alpha(0.8, 0.7, 0.9), waiting=many)["waiting"] for many in (0, 1, 21)]
    assert said == [
        "No pair waits for a decision.",
        "1 pair waits for a decision.",
        "21 pairs wait for a decision.",
    ]


def test_reading_speed_is_absolute_and_asks_nothing_of_short_texts() -> None:
    # Twelve words a second: sixty characters take ten twelfths of a second.
    assert least_ms(60) == pytest.approx(1000 * 10 / 12)
    steady = [700] * 60
    assert speed(steady, [600] * 60).is_implausible
    assert not speed(steady, [12] * 60).is_implausible
    assert not speed([6_000] * 60, [100_000] * 60).is_implausible
    assert speed([*[6_000] * 60, *[700] * 14], [600] * 74).has_collapsed
    assert not is_implausible(19, 19)


def test_pairs_of_one_query_are_one_piece_of_evidence_on_leniency() -> None:
    """Ben is more lenient on every pair of one query of two: over pairs that looks certain."""
    rows = [("q1", f"d{at}", "ben", True) for at in range(20)] + [
        ("q1", f"d{at}", "cleo", False) for at in range(20)
    ]
    rows += [("q2", f"d{at}", name, False) for at in range(20) for name in ("ben", "cleo")]
    frame = pl.DataFrame(rows, schema=["query_id", "document_id", "annotator", "relevant"], orient="row")
    ben = leniency(frame).row(0, named=True)
    # Off the mean by ten in each query: sqrt(2 · (100 + 100)) / 40.
    assert (ben["queries"], ben["difference"]) == (2, 0.5)
    assert ben["low"] == pytest.approx(0.5 - 1.96 * np.sqrt(400) / 40)


def fast_queue(world: World, spent: int) -> Queue:
    """Ben judged 24 pairs of long texts, each in `spent` milliseconds."""
    text = "A bus that runs all night, and where it goes, in more words than anybody reads in a moment. " * 4
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"a{at}", title="", text=text) for at in range(8)
    )
    queue = open_queue(make_pool(world, documents=8), judgments_per_item=1, seed=1, user=world.ada, name="q")
    for at, item in enumerate(queue.items.order_by("pk")):
        judge(queue, world.ben, item.pk, "relevant" if at % 2 else "not_relevant", active_ms=spent)
    return queue


def test_admins_see_who_clicks_through_at_once_and_before_a_release(world: World) -> None:
    queue = fast_queue(world, 900)
    words = "ben answered 24 of 24 pairs faster than anybody can read."
    assert [one.sentence for one in too_fast_in(world.collection)] == [words]
    ada = signed_in(world.ada)
    for address in (f"/queues/{queue.pk}/quality/", "/collections/harbour/qrels/new/"):
        assert words in ada.get(address).content.decode()
    for person in (world.ben, world.vera):
        assert "faster than anybody" not in signed_in(person).get(queue.get_absolute_url()).content.decode()
    assert signed_in(world.ben).get(f"/queues/{queue.pk}/quality/").status_code == 403


def test_people_who_read_are_not_named(world: World) -> None:
    queue = fast_queue(world, 5_000)
    assert too_fast_in(world.collection) == []
    assert [one["about"] for one in queue_quality(queue)["verdict"]] == ["agreement", "annotators", "waiting"]


def test_disagreements_are_listed_for_readers_with_the_way_to_the_reason(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    first, second = queue.items.order_by("pk")
    for item, verdicts in ((first, ("relevant", "not_relevant")), (second, ("relevant", "relevant"))):
        for person, verdict in zip((world.ben, world.cleo), verdicts, strict=True):
            judge(queue, person, item.pk, verdict)
    address = f"/queues/{queue.pk}/disagreements/"
    page = signed_in(world.ada).get(f"{address}?annotator=ben").content.decode()
    assert page.count("ben: relevant") == 1
    assert f"document={first.document.external_id}" in page
    assert "On no pair." in signed_in(world.ada).get(f"{address}?annotator=ada").content.decode()
