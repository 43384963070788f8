"""What is said at one K hangs on that K and on how deep was judged, and on no other cutoff asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation import evaluate, leave_one_out, missing_floor
from evaluation.comparisons.deciding_queue import decision
from evaluation.comparisons.stored import compared
from evaluation.estimates.missing import labelled_depth
from evaluation.models import Report
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from tests.evaluation.cast import make_release, make_report
from tests.evaluation.comparisons.test_comparison import ranked
from tests.testdata import DATA, needs_data
from tests.world import World, run_text

# Two lists of ten documents, judged three deep. a is found by both, b to e by one of them within three.
LISTS = {"one": "abcuvwxyzd", "two": "adevuxwzyb"}


def deep_runs(world: World) -> None:
    for name, order in LISTS.items():
        path = world.folder / f"{name}.run"
        path.write_text(run_text({query: list(order) for query in ("q1", "q2")}))
        import_run(world.collection, path, user=world.ada)


def judged_three_deep(world: World) -> None:
    deep_runs(world)
    runs = list(world.collection.runs.all())
    build_pool(world.collection, name="three", runs=runs, depth=3, audit_share=0.4, budget=8, user=world.ada)
    make_release(
        world, "".join(f"{query} 0 {name} {int(name != 'c')}\n" for query in ("q1", "q2") for name in "abcde")
    )


def figures(report: Report, k: int) -> dict[str, Any]:
    """All that a report says at one K."""
    found, estimates = compared(report), report.result["estimates"]
    assert found is not None
    return {
        "measured": {run: held[f"recall@{k}"] for run, held in report.result["runs"].items()},
        "estimated": {run: held[f"recall@{k}"] for run, held in estimates["runs"].items()},
        "left out": estimates["leave_one_out"]["at"][str(k)],
        "families": estimates["leave_one_out"]["families"],
        "floor": estimates["floor"],
        "bounds": [one["bounds"] for one in found.at(k)],
        "decision": decision(report, "one", "two", k).bounds,
    }


@pytest.mark.django_db
@pytest.mark.parametrize("with_pool", [True, False], ids=["a pool", "no pool"])
def test_the_same_is_said_at_one_k_whatever_other_cutoffs_are_asked_for(
    world: World, with_pool: bool
) -> None:
    judged_three_deep(world)
    if not with_pool:
        world.collection.pools.all().delete()
    short, long = (make_report(world, k=k) for k in ((1, 3), (1, 3, 5, 10)))
    for k in (1, 3):
        assert figures(short, k) == figures(long, k)
    left_out = long.result["estimates"]["leave_one_out"]
    assert left_out["depth"] == long.result["estimates"]["floor"]["depth"] == 3
    # b and c against d and e: at ten, b and d are in both lists and nothing would be lost by them.
    assert [row["unique"] for row in left_out["at"]["10"]["runs"]] == [2, 4]
    for at in ("bounds", "decision"):
        assert figures(long, 3)[at] is not None


@pytest.mark.django_db
def test_the_usual_cutoffs_end_at_the_depth_of_the_pool(world: World, client: Client) -> None:
    judged_three_deep(world)
    api = APIClient()
    api.force_authenticate(world.ada)
    address = f"/api/collections/{world.collection.slug}/reports/"

    def asked(**body: Any) -> Sequence[int]:
        made = api.post(address, body, format="json")
        return list(Report.objects.get(pk=made.json()["id"]).options["k"])

    assert asked() == [1, 3]
    client.force_login(world.ada)
    form = client.get(reverse("report_new", args=[world.collection.slug])).context["form"]
    assert form["k"].value() == "1 3"
    build_pool(world.collection, name="six", runs=list(world.collection.runs.all()), depth=6, user=world.ada)
    assert asked() == [1, 3, 5]
    assert asked(pool="three") == [1, 3]
    assert asked(k=[10]) == [10]


@pytest.mark.parametrize(
    ("labels", "depth"),
    [
        ("abcde", 3),  # at 4 neither u nor v has one
        ("abcdeu", 3),  # at 4 one of two
        ("abcdeuv", 5),
        ("b", 0),
        ("abcdeuvwxyz", 10),
    ],
)
def test_how_deep_labels_go_where_no_pool_is_known(labels: str, depth: int) -> None:
    qrels = {"q": dict.fromkeys(labels, 1)}
    runs = {name: {"q": ranked(*order)} for name, order in LISTS.items()}
    for k in (1, 10):
        assert labelled_depth(evaluate(qrels, runs, k)) == depth


def test_where_labels_do_not_tell_their_depth_it_must_be_said() -> None:
    runs = {name: {"q": ranked(*order)} for name, order in LISTS.items()}
    result = evaluate({"q": {"b": 1}}, runs, 3)
    for question in (missing_floor, leave_one_out):
        with pytest.raises(ValueError, match="say the depth"):
            question(result)
    assert missing_floor(result, depth=3).seen == 1


@needs_data
def test_the_figures_of_a_real_collection_at_ten_do_not_hang_on_deeper_cutoffs() -> None:
    folder = DATA / "dl19"
    runs = {path.name: path for path in sorted((folder / "runs").iterdir())[:4]}
    short, long = (evaluate(folder / "qrels.txt", runs, k, ["recall"]) for k in ((1, 5, 10), (1, 5, 10, 100)))
    for run in runs:
        assert short.figure(run, "recall", 10) == long.figure(run, "recall", 10)
    assert missing_floor(short) == missing_floor(long)
    assert leave_one_out(short, 10).equals(leave_one_out(long, 10))
    deepest = missing_floor(long, depth=100)
    assert missing_floor(long).once != deepest.once  # what hung on the cutoffs
