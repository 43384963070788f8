"""The pages, the HTTP interface and the command of canaries: who may see what, and what stands there."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from evaluation.canaries import deliveries
from evaluation.canaries.watching import Alerts
from evaluation.canaries.webhooks import DeliveryOutcome
from evaluation.models import Canary
from tests.evaluation.canary_cast import SECRET, import_with_recall, make_canary, make_queries
from tests.world import World

LIST = "/collections/harbour/canaries/"
API = "/api/collections/harbour/canaries/"
HOOK = "https://hooks.example.org/canary"


@pytest.fixture(autouse=True)
def _no_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is told is away; no test looks for a host of the world."""
    monkeypatch.setattr(
        deliveries, "post_signed", lambda *told, **options: DeliveryOutcome(False, "HTTP 500")
    )


@pytest.fixture
def canary(world: World, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Canary:
    """A canary with two runs of one family: the second fell below the threshold, beyond noise."""
    with django_capture_on_commit_callbacks(execute=True):
        make_queries(world)
        import_with_recall(world, "dense-v1", 18)
        import_with_recall(world, "dense-v2", 8)
        return make_canary(world, Alerts(0.7, webhook_url=HOOK, secret=SECRET, mail_to=["ops@example.org"]))


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_members_see_the_values_and_admins_alone_who_hears_of_them(
    world: World, client: Client, canary: Canary
) -> None:
    pages = [LIST, canary.get_absolute_url(), reverse("canary_chart", args=[canary.pk, "light"])]
    pages += [reverse("canary_download", args=[canary.pk, form]) for form in ("csv", "json", "png")]
    for page in (*pages, API, f"/api/canaries/{canary.pk}/"):
        for user in (world.dan, world.ben, world.vera, world.ada):
            client.force_login(user)
            response = client.get(page)
            told = response.content.decode(errors="replace")
            assert SECRET not in told
            assert user == world.ada or ("example.org" not in told), page
    client.force_login(world.ada)
    shown = text_of(client, canary.get_absolute_url())
    assert HOOK in shown
    assert "hooks.example.org" in shown
    assert SECRET not in text_of(client, reverse("canary_edit", args=[canary.pk]))


def test_the_page_marks_what_fell_and_says_what_chance_would_mark(
    world: World, client: Client, canary: Canary
) -> None:
    client.force_login(world.vera)
    shown = text_of(client, canary.get_absolute_url())

    assert "The newest run, dense-v2, has recall@2 0.400" in shown
    assert "below, clearly" in shown
    assert "fell beyond noise" in shown
    assert "−0.500" in shown
    assert "first of dense" in shown
    assert "chance would mark at most about 0.0 of 1 run" in shown
    assert "below, clearly" in text_of(client, LIST)


def test_a_run_that_nobody_judged_is_marked_as_that_on_page_list_and_command(
    world: World,
    client: Client,
    canary: Canary,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        import_with_recall(world, "dense-v3", 0, others=("x-1", "x-2"))
    client.force_login(world.vera)
    shown, listed = text_of(client, canary.get_absolute_url()), text_of(client, LIST)
    assert "judged@2 0.0 %: below" in shown
    assert "and fell by these labels, which may only be its unjudged documents." in shown
    assert "Judge them, or check the ids of the run. No document of its first 2 is judged" in shown
    assert "fell, perhaps unjudged" in shown
    assert "below, perhaps unjudged" in listed
    assert "judged@2 0.0 %" in listed
    csv = text_of(client, reverse("canary_download", args=[canary.pk, "csv"])).splitlines()
    assert ",below drop,No document of its first 2 is judged" in csv[-1].replace('"', "")
    code, said = checked("check")
    assert code == 1
    assert "judged@2 0.0 %, below 0.7, perhaps only as documents are unjudged." in said
    assert "It fell by these labels since dense-v2 (−0.400). Judge them, or check the ids" in said
    assert "“x-1”, “x-2”; none of 2 documents looked up is in the collection." in said


def test_a_canary_of_a_command_learns_its_address_where_receivers_are_set(
    world: World, client: Client, canary: Canary
) -> None:
    assert canary.site == ""
    client.force_login(world.ada)
    client.post(reverse("canary_edit", args=[canary.pk]), {"threshold": "0.5", "webhook_url": HOOK})
    canary.refresh_from_db()
    assert canary.site == "http://testserver/"


def test_a_canary_is_made_changed_and_removed_by_forms(world: World, client: Client) -> None:
    make_queries(world)
    client.force_login(world.ada)
    release = world.collection.releases.get()
    form = {
        "name": "nightly",
        "release": release.pk,
        "tag": "canary",
        "measure": "recall@2",
        "threshold": "0.7",
        "confidence": "0.95",
        "webhook_url": HOOK,
        "secret": "",
        "mail_to": "ops@example.org, me@example.org",
    }
    refused = client.post(f"{LIST}new/", form).content.decode()
    assert "A webhook needs a secret" in refused
    made = client.post(f"{LIST}new/", {**form, "secret": SECRET}, follow=True).content.decode()
    assert "Existing runs are being measured" in made
    canary = Canary.objects.get()
    assert canary.mail_to == ["ops@example.org", "me@example.org"]
    assert canary.site == "http://testserver/"
    changed = client.post(
        reverse("canary_edit", args=[canary.pk]), {"threshold": "0.5", "webhook_url": HOOK}, follow=True
    )
    assert "threshold 0.5" in changed.content.decode()
    client.post(reverse("tidy", args=["harbour", "canary", canary.pk]), {"action": "delete"})
    assert not Canary.objects.exists()


def test_canaries_over_http(world: World, client: Client, canary: Canary) -> None:
    client.force_login(world.ada)
    body = {"name": "all", "measure": "recall@1", "threshold": 0.3, "webhook_url": HOOK, "secret": SECRET}
    made = client.post(API, body, content_type="application/json")
    assert made.status_code == 201
    assert made.json()["webhook_url"] == HOOK
    assert "secret" not in made.json()
    refused = client.post(API, {**body, "name": "x", "measure": "recall"}, content_type="application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["measure"])
    assert client.post(API, body, content_type="application/json").status_code == 409
    client.force_login(world.vera)
    read: dict[str, Any] = client.get(f"/api/canaries/{canary.pk}/").json()
    assert [value["run"] for value in read["values"]] == ["dense-v1", "dense-v2"]
    assert (read["values"][1]["below"], read["values"][1]["drop"]) == (True, True)
    assert "webhook_url" not in read


def checked(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("canary", "harbour", *arguments, stdout=out)
    except SystemExit as stop:
        return int(str(stop.code)), out.getvalue()
    return 0, out.getvalue()


def test_the_command_ends_with_1_when_a_run_is_below(world: World, canary: Canary) -> None:
    code, said = checked("check")
    assert code == 1
    assert said.startswith("nightly: dense-v2 has recall@2 0.400 [")
    basis = "by the labels of release canaries, not estimated, judged@2 100.0 %"
    assert f"over 20 queries {basis}, below 0.7." in said
    assert "It fell beyond noise since dense-v1 (−0.500)." in said
    code, said = checked("check", "nightly", "--run", "dense-v1", "--format", "json")
    assert (code, json.loads(said)[0]["mean"]) == (0, 0.9)
    assert checked("list")[1] == "nightly: recall@2 ≥ 0.7 on canaries, queries canary\n"
    for wrong, sentence in (
        (["check", "daily"], "There is no canary “daily”"),
        (["check", "--run", "sparse"], "There is no run “sparse”"),
        (["list", "--run", "dense-v1"], "--run belongs to check"),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("canary", "harbour", *wrong)
