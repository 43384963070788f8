"""The pages of replays: who may see them, what stands on them, what is missing in words, and the files."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.models import Replay
from evaluation.plans.replay_files import result_in_order
from pooling.strategies import STRATEGIES
from tests.evaluation.cast import SPARSE, make_release
from tests.evaluation.plans.test_replays import make_replay
from tests.evaluation.reports.test_report_views import get
from tests.world import World

pytestmark = pytest.mark.anywhere

LIST = "/collections/harbour/replays/"
NEW = f"{LIST}new/"


def test_viewers_reach_the_list_from_the_collection_and_annotators_do_not(
    world: World, client: Client
) -> None:
    for user, offered in ((world.ada, True), (world.vera, True), (world.ben, False)):
        client.force_login(user)
        assert (f'href="{LIST}"' in get(client, "/collections/harbour/queues/")) == offered


def test_what_is_missing_is_said_in_words(world: World, client: Client) -> None:
    client.force_login(world.ada)
    assert "needs runs and labels" in get(client, LIST)
    assert "A replay needs runs" in get(client, NEW)
    world.import_runs()
    assert "A replay needs labels" in get(client, LIST)
    assert "A replay needs labels" in get(client, NEW)
    make_release(world)
    assert "No replays yet" in get(client, LIST)


def test_the_page_shows_figures_and_what_to_beware_of(world: World, client: Client) -> None:
    client.force_login(world.vera)
    replay = make_replay(world, SPARSE, strategies=["rrf", "sampling"], seeds=2)
    page = get(client, replay.get_absolute_url())
    found = replay.result["strategies"]["rrf"]["found"]["0.25"]
    assert f">{found:.3f}<" in page
    for words in ("effort for 80 %", "tau at", "estimated at", "all-knowing", "How to read this"):
        assert words in page
    # q1 to q3 have labels; their pools have nine pairs to depth 3 in each run.
    assert f"{100 * replay.result['pool']['unlabelled_share']:.1f} %" in page
    assert "have no label and are left out" in page
    assert "Only 2 queries count" in page


def test_one_run_only_is_said_to_decide_nothing(world: World, client: Client) -> None:
    client.force_login(world.vera)
    page = get(client, make_replay(world, runs=None, strategies=["rrf"]).get_absolute_url())
    assert "There is only one run" not in page
    page = get(client, make_replay(world, runs=["alpha"]).get_absolute_url())
    assert "There is only one run" in page


def test_the_form_as_it_stands_replays_every_strategy(world: World, client: Client) -> None:
    client.force_login(world.ada)
    world.import_runs()
    make_release(world)
    page = client.get(NEW)
    form = page.context["form"]
    for kind in STRATEGIES.values():
        assert f"{kind.name}: {kind.summary}" in page.content.decode()
    data = {name: value for name in form.fields if (value := form[name].value()) not in (None, "")}
    response = client.post(NEW, data)
    replay = Replay.objects.get()
    assert response["Location"] == replay.get_absolute_url()
    assert set(replay.result["strategies"]) == set(STRATEGIES)


def test_the_form_says_what_is_wrong(world: World, client: Client) -> None:
    client.force_login(world.ada)
    runs = world.import_runs()
    make_release(world)
    data = {"runs": [run.pk for run in runs], "strategies": ["rrf"], "depth": 3, "budgets": "0.1 1"}
    data |= {"seeds": 1, "noise": 0, "batch": 1}
    assert "separated by spaces" in client.post(NEW, {**data, "budgets": "a tenth"}).content.decode()
    assert "K must be between 1 and the depth, 3" in client.post(NEW, {**data, "k": 4}).content.decode()
    for noise in (0.5, -0.1):
        assert "from 0 to below 0.5" in client.post(NEW, {**data, "noise": noise}).content.decode()
    assert not Replay.objects.exists()
    client.post(NEW, {**data, "budgets": "0.1, 0.5; 1"})
    assert Replay.objects.get().options["budgets"] == [0.1, 0.5, 1.0]


@pytest.mark.database
def test_much_work_leads_to_the_job(
    world: World,
    client: Client,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_REPLAY_STEPS = 17
    client.force_login(world.ada)
    runs = world.import_runs()
    make_release(world)
    data = {"runs": [run.pk for run in runs], "strategies": ["rrf"], "depth": 3, "budgets": "0.25"}
    data |= {"seeds": 1, "noise": 0, "batch": 1}
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(NEW, data)
    job = world.collection.jobs.get(kind="replay")
    assert response["Location"] == reverse("job", args=[job.pk])
    assert (job.state, job.progress) == ("done", 1.0)
    assert Replay.objects.get().get_absolute_url() in get(client, response["Location"])


def taken(client: Client, replay: Replay, form: str) -> bytes:
    response = client.get(reverse("replay_download", args=[replay.pk, form]))
    assert response.status_code == 200
    assert "attachment" in response["Content-Disposition"]
    return response.getvalue()


@pytest.mark.database
def test_downloads_hold_the_figures(world: World, client: Client) -> None:
    client.force_login(world.vera)
    replay = make_replay(world)
    result = result_in_order(replay)
    assert json.loads(taken(client, replay, "json")) == result
    rows = list(csv.DictReader(io.StringIO(taken(client, replay, "csv").decode())))
    assert [row["strategy"] for row in rows] == ["rrf", "learned"]
    assert float(rows[0]["found@0.25"]) == result["strategies"]["rrf"]["found"]["0.25"]
    assert float(rows[1]["effort@0.8"]) == result["strategies"]["learned"]["effort"]["0.8"]
    assert rows[0]["estimated_recall_error@0.5"] == ""


def test_pictures_name_each_strategy_in_light_and_dark(world: World, client: Client) -> None:
    from evaluation.charts.drawing import DARK, LIGHT

    client.force_login(world.vera)
    replay = make_replay(world)
    assert taken(client, replay, "svg").startswith(b"<svg")
    for variant, theme in (("light", LIGHT), ("dark-narrow", DARK)):
        response = client.get(reverse("replay_chart", args=[replay.pk, variant]))
        svg = response.content.decode()
        assert all(f">{name}</text>" in svg for name in ("rrf", "learned"))
        assert theme.background in svg


def test_names_are_escaped(world: World, client: Client) -> None:
    client.force_login(world.vera)
    replay = make_replay(world, name="<b>bold</b>")
    assert "<b>bold" not in get(client, replay.get_absolute_url()) + get(client, LIST)


@pytest.mark.parametrize(("name", "part"), [("replay_download", "xlsx"), ("replay_chart", "sepia")])
def test_what_does_not_exist_is_not_found(world: World, client: Client, name: str, part: str) -> None:
    client.force_login(world.vera)
    assert client.get(reverse(name, args=[make_replay(world).pk, part])).status_code == 404
