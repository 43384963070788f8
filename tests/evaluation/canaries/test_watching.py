"""What watches must not fall silent: a fall in small steps, moved tags, births below, and equal systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.canaries.watching import Alerts, change_alerts, resume_watching
from evaluation.models import Canary, CanaryValue
from pooling.models import Job, Query
from tests.evaluation.canary_cast import (
    LOOPBACK,
    SECRET,
    Receiver,
    import_with_recall,
    make_canary,
    make_queries,
    receiving,
)
from tests.world import World

Capture = DjangoCaptureOnCommitCallbacks


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_NETWORKS = LOOPBACK
    with receiving() as received:
        yield received


@pytest.fixture
def capture(django_capture_on_commit_callbacks: Capture) -> Capture:
    return django_capture_on_commit_callbacks


def watched(world: World, capture: Capture, receiver: Receiver, **options: Any) -> Canary:
    threshold = options.pop("threshold", 0.0)
    with capture(execute=True):
        return make_canary(world, Alerts(threshold, webhook_url=receiver.url, secret=SECRET), **options)


def new_run(world: World, capture: Capture, name: str, whole: int, half: int = 0) -> CanaryValue:
    with capture(execute=True):
        run = import_with_recall(world, name, whole, half)
    return CanaryValue.objects.get(run=run)


def tag(*tagged: str, among: str = "c") -> None:
    """Give the tag `canary` to these queries alone."""
    for query in Query.objects.filter(external_id__startswith=among):
        query.metadata = {"tags": ["canary"]} if query.external_id in tagged else {}
        query.save()


def test_four_queries_that_fall_may_be_chance_and_are_not_told(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    # Four signs of one kind come up once in sixteen: more than the 2.5 % that are promised.
    watched(world, capture, receiver)
    new_run(world, capture, "dense-v1", 20)
    value = new_run(world, capture, "dense-v2", 16)

    assert (value.reasons, receiver.bodies) == ([], [])


def test_a_canary_born_below_its_threshold_tells_it_at_once(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    make_queries(world)
    for name, whole in (("dense-v1", 18), ("dense-v2", 8), ("sparse", 20)):
        with capture(execute=True):
            import_with_recall(world, name, whole)
    watched(world, capture, receiver, threshold=0.7)

    (told,) = receiver.bodies
    assert (told["run"]["name"], told["reasons"]) == ("dense-v2", ["below"])
    # It stays below, which is known.
    new_run(world, capture, "dense-v3", 8)
    assert len(receiver.bodies) == 1


def test_several_canaries_of_one_run_are_one_message(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    watched(world, capture, receiver, threshold=0.7)
    watched(world, capture, receiver, threshold=0.7, name="first place", measure="recall@1")
    with capture(execute=True):
        import_with_recall(world, "dense", 2)

    (told,) = receiver.bodies
    assert [one["canary"]["name"] for one in told["alerts"]] == ["nightly", "first place"]
    assert "recall@2 is 0.100" in told["text"]
    assert "recall@1 is 0.050" in told["text"]


def test_a_moved_tag_changes_no_measurement_and_is_named(
    world: World, capture: Capture, receiver: Receiver, client: Client
) -> None:
    canary = watched(world, capture, receiver)
    tag("c0", "c1", "c2")
    value = new_run(world, capture, "dense", 10)

    assert (value.queries, value.mean) == (20, 0.5)
    client.force_login(world.vera)
    shown = client.get(canary.get_absolute_url()).content.decode()
    assert "The tag canary has moved: 17 of the queries that are measured no longer have it." in shown
    read = client.get(f"/api/canaries/{canary.pk}/").json()
    assert read["tag_change"] == {"tagged": 3, "added": 0, "removed": 17}


def test_a_tag_that_lost_its_queries_is_told_and_shown_everywhere(
    world: World, capture: Capture, receiver: Receiver, client: Client
) -> None:
    canary = watched(world, capture, receiver)
    tag()
    for version in (1, 2):
        new_run(world, capture, f"dense-v{version}", 10)

    (told,) = receiver.bodies
    said = "No query has the tag canary any more"
    assert (told["event"], said in told["text"]) == ("trouble", True)
    client.force_login(world.vera)
    for page in (canary.get_absolute_url(), "/collections/harbour/canaries/"):
        assert said in client.get(page).content.decode()
    for address in ("/api/collections/harbour/canaries/", f"/api/canaries/{canary.pk}/"):
        assert said in client.get(address).content.decode()


def test_a_fall_in_small_steps_is_told_against_the_best_run_before_it_is_large(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    watched(world, capture, receiver)
    for version in range(12):  # each step takes half of one query
        new_run(world, capture, f"dense-v{version:02}", 20 - version, version)

    assert [told["reasons"] for told in receiver.bodies] == [["drop_since_reference"]]


def test_each_release_of_a_long_slide_is_compared_with_the_best_since_the_last_fall_told(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    watched(world, capture, receiver)
    new_run(world, capture, "dense-v0", 19, 1)
    new_run(world, capture, "dense-v1", 20)
    new_run(world, capture, "dense-v2", 19, 1)
    value = new_run(world, capture, "dense-v3", 18, 2)
    assert (value.previous.name, value.reference.name) == ("dense-v2", "dense-v1")  # type: ignore[union-attr]
    assert value.reference_difference == pytest.approx(-0.05)
    new_run(world, capture, "dense-v4", 2)  # told, and from there on another level
    value = new_run(world, capture, "dense-v5", 3)
    assert (value.previous.name, value.reference) == ("dense-v4", None)  # type: ignore[union-attr]


def test_a_pinned_run_is_what_all_later_ones_of_its_family_are_compared_with(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    make_queries(world)
    for name in ("dense-v1", "dense-v2"):
        with capture(execute=True):
            import_with_recall(world, name, 20)
    alerts = Alerts(0.0, webhook_url=receiver.url, secret=SECRET, reference="pinned", pinned="dense-v1")
    make_canary(world, alerts)
    with capture(execute=True):
        import_with_recall(world, "sparse-v1", 3)
    for version, halves in ((3, 5), (4, 9), (5, 10), (6, 12)):
        value = new_run(world, capture, f"dense-v{version}", 20 - halves, halves)
        assert value.reference.name == "dense-v1"  # type: ignore[union-attr]
    # Told once, for it stays below.
    assert [(one["run"]["name"], one["reasons"]) for one in receiver.bodies] == [
        ("dense-v4", ["drop_since_reference"])
    ]
    assert receiver.bodies[0]["since_reference"]["run"] == "dense-v1"


def test_alone_with_the_run_before_nothing_is_shared_out(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    # Six equal signs: once in 64, which is below 2.5 % and above half of it.
    with capture(execute=True):
        make_canary(world, Alerts(0.0, reference="previous"), name="alone")
        make_canary(world, Alerts(0.0), name="best")
    for name in ("dense-v1", "dense-v2"):
        with capture(execute=True):
            import_with_recall(world, name, 20)
    with capture(execute=True):
        run = import_with_recall(world, "dense-v3", 14)
    reasons = dict(CanaryValue.objects.filter(run=run).values_list("canary__name", "reasons"))
    assert reasons == {"alone": ["drop"], "best": []}


def test_the_tag_is_taken_over_by_a_step_that_begins_another_stretch(
    world: World, capture: Capture, receiver: Receiver, client: Client
) -> None:
    canary = watched(world, capture, receiver)
    new_run(world, capture, "dense-v1", 10)
    client.force_login(world.ada)
    page, step = canary.get_absolute_url(), f"/canaries/{canary.pk}/queries/"
    assert "nothing has changed" in client.post(step, follow=True).content.decode()
    tag("c0", "c1", "c2", "c3")
    assert "Measure the 4 that have it now" in client.get(page).content.decode()
    with capture(execute=True):
        assert "are measured" in client.post(step, follow=True).content.decode()

    new_run(world, capture, "dense-v2", 2)
    values = CanaryValue.objects.values_list("run__name", "queries", "mean")
    assert list(values) == [("dense-v1", 20, 0.5), ("dense-v1", 4, 1.0), ("dense-v2", 4, 0.5)]
    read = client.get(f"/api/canaries/{canary.pk}/").json()
    assert [value["stretch"] for value in read["values"]] == [1, 2, 2]
    assert read["tag_change"] is None
    shown = client.get(page).content.decode()
    assert "Below: measured on the earlier set of queries." in shown
    assert "Dotted: from here on other queries are measured." in shown
    assert client.get(f"/canaries/{canary.pk}/light.svg").status_code == 200
    # Over HTTP it is the same step.
    tag("c5", "c6")
    assert client.post(f"/api/canaries/{canary.pk}/queries/").json()["tag_change"] is None
    assert client.post(f"/api/canaries/{canary.pk}/queries/").status_code == 409


def test_a_canary_that_cannot_measure_says_so_and_the_others_go_on(
    world: World, capture: Capture, receiver: Receiver, client: Client
) -> None:
    old = watched(world, capture, receiver, name="old")
    watched(world, capture, receiver, name="whole")
    old.stretches.update(queries=[])  # as where the tag was lost before queries were frozen
    with capture(execute=True):
        import_with_recall(world, "dense-v1", 10)
    with capture(execute=True):
        import_with_recall(world, "dense-v2", 10)

    assert CanaryValue.objects.filter(canary__name="whole").count() == 2
    (told,) = receiver.bodies
    assert (told["event"], told["canary"]["name"]) == ("trouble", "old")
    client.force_login(world.vera)
    assert "cannot be measured" in client.get(old.get_absolute_url()).content.decode()
    tag()
    assert "Nothing can be measured" in client.get(old.get_absolute_url()).content.decode()


def test_a_threshold_that_is_raised_above_a_value_tells_it(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    canary = watched(world, capture, receiver, threshold=0.3)
    new_run(world, capture, "dense-v1", 10)
    for threshold in (0.4, 0.6, 0.7):  # told as it passes the value, which is 0.5
        with capture(execute=True):
            change_alerts(canary, Alerts(threshold, webhook_url=receiver.url), world.ada)
    assert [told["canary"]["threshold"] for told in receiver.bodies] == [0.6]
    assert receiver.bodies[0]["reasons"] == ["below"]


def test_a_new_receiver_hears_that_a_value_is_below(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    with capture(execute=True):
        canary = make_canary(world, Alerts(0.7))
    new_run(world, capture, "dense-v1", 10)
    with capture(execute=True):
        change_alerts(canary, Alerts(0.7, webhook_url=receiver.url, secret=SECRET), world.ada)
    assert [told["run"]["name"] for told in receiver.bodies] == ["dense-v1"]


def test_the_least_fall_that_shows_is_told_when_a_canary_is_made(
    world: World, capture: Capture, client: Client
) -> None:
    make_queries(world)
    with capture(execute=True):
        import_with_recall(world, "dense-v1", 18)
    client.force_login(world.ada)
    body = {"name": "first", "measure": "recall@2", "threshold": 0.3, "tag": "canary"}
    address = "/api/collections/harbour/canaries/"
    assumed = client.post(address, body, content_type="application/json").json()["least_fall"]
    assert (assumed["queries"], assumed["deviation"], assumed["pairs"], assumed["fewest"]) == (20, 0.2, 0, 7)
    assert assumed["difference"] == pytest.approx((2.2414 + 0.8416) * 0.2 / 20**0.5, abs=1e-4)

    with capture(execute=True):
        import_with_recall(world, "dense-v2", 14)
    # Four of twenty queries lost everything: a deviation of sqrt(20 · .2 · .8 / 19).
    known = client.post(address, {**body, "name": "second"}, content_type="application/json").json()
    assert known["least_fall"]["deviation"] == pytest.approx((3.2 / 19) ** 0.5)
    assert known["least_fall"]["pairs"] == 1
    form = {**body, "name": "third", "release": world.collection.releases.get().pk, "confidence": "0.95"}
    made = client.post("/collections/harbour/canaries/new/", form, follow=True).content.decode()
    assert made.count("The least fall that these 20 queries show four times in five is about 0.283") == 2


def test_a_few_queries_can_show_no_fall_and_that_is_said(world: World, client: Client) -> None:
    make_queries(world)
    tag("c0", "c1", "c2", "c3", "c4")
    canary = make_canary(world)
    client.force_login(world.vera)
    shown = client.get(canary.get_absolute_url()).content.decode()
    assert "These 5 queries can show no fall beyond noise: that takes at least 7 that got worse." in shown


def test_what_a_killed_worker_left_unmeasured_is_measured_when_the_site_starts(
    world: World, capture: Capture, receiver: Receiver
) -> None:
    make_queries(world)
    import_with_recall(world, "dense-v1", 10)
    with capture():  # nothing of it is carried out
        make_canary(world, Alerts(0.7, webhook_url=receiver.url, secret=SECRET))
        import_with_recall(world, "dense-v2", 5)
    assert resume_watching() == 0  # both are still queued
    Job.objects.update(state="failed")
    with capture(execute=True):
        assert resume_watching() == 2
    assert CanaryValue.objects.count() == 2
    assert len(receiver.bodies) == 1
    assert resume_watching() == 0
