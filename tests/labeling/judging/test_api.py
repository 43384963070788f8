"""The HTTP interface of judging and of labels, as scripts use it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from labeling.gold.quarantine import impose
from labeling.items.numbers import number_of
from labeling.judging.leases import claim
from labeling.models import ImportedLabel, Item, Judgment, Lease, Queue
from pooling.people.membership import change_collection
from soundings.accounts.tokens import make_token
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World, qrels_text


class Api:
    """A client with somebody's token."""

    def __init__(self, user: User) -> None:
        self.client = Client(headers={"Authorization": f"Token {make_token(user).token}"})

    def post(self, path: str, body: Any = None) -> Any:
        return self.client.post(
            f"/api/{path}", json.dumps({} if body is None else body), content_type="application/json"
        )

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/{path}")


def first_item(api: Api, queue: Queue) -> dict[str, Any]:
    item: dict[str, Any] = api.post(f"queues/{queue.pk}/claim/", {"count": 1}).json()["items"][0]
    return item


def test_a_claim_tells_what_to_judge_and_nothing_of_ranks(world: World) -> None:
    queue = make_queue(world, pairs=2)
    body = Api(world.ben).post(f"queues/{queue.pk}/claim/").json()
    assert body["empty"] is None
    assert len(body["items"]) == 2
    item = body["items"][0]
    assert set(item) >= {"item", "version", "lease", "expires_at", "query", "document"}
    assert item["query"]["id"] == "q1"
    assert item["query"]["text"] == "night bus"
    assert set(item["document"]) >= {"id", "title", "text"}
    assert "rank" not in json.dumps(body)


def test_an_empty_claim_explains_itself(world: World) -> None:
    queue = make_queue(world, pairs=2)
    Api(world.cleo).post(f"queues/{queue.pk}/claim/")
    body = Api(world.ben).post(f"queues/{queue.pk}/claim/").json()
    assert body["items"] == []
    next_free_at = body["empty"].pop("next_free_at")
    assert next_free_at > "2026"
    assert body["empty"] == {"leased": 2, "second_opinion": 0, "conflict": 0, "state": "open"}


def test_verdicts_are_stored_each_by_itself(world: World) -> None:
    queue = make_queue(world, pairs=6)
    api = Api(world.ben)
    items = api.post(f"queues/{queue.pk}/claim/").json()["items"]
    good = {
        "item": items[0]["item"],
        "version": items[0]["version"],
        "lease": items[0]["lease"],
        "key": "k1",
        "verdict": "relevant",
        "active_ms": 900,
        "shown": "passage",
        "note": "",
        "reason": None,
    }
    verdicts = [
        good,
        good,
        {"item": items[1]["item"], "key": "k2", "verdict": "maybe"},
        {"item": items[1]["item"], "key": "k3", "verdict": "cannot_judge"},
        {"item": 10**12, "key": "k4", "verdict": "relevant"},
        {"key": "k5", "verdict": "relevant"},
        "nonsense",
        {"item": items[2]["item"], "key": "k6", "verdict": "not_relevant"},
    ]
    response = api.post(f"queues/{queue.pk}/judgments/", verdicts)
    assert response.status_code == 200
    results = response.json()["results"]
    assert [(result["key"], result["status"]) for result in results] == [
        ("k1", "stored"),
        ("k1", "duplicate"),
        ("k2", "rejected"),
        ("k3", "rejected"),
        ("k4", "rejected"),
        ("k5", "rejected"),
        (None, "rejected"),
        ("k6", "stored"),
    ]
    assert all(result["detail"] for result in results)
    assert Judgment.objects.count() == 2


@pytest.mark.parametrize("element", ["nonsense", 7, None, True, [], [{"key": "k"}]])
def test_an_element_that_is_no_object_is_one_sentence_and_spoils_no_other(world: World, element: Any) -> None:
    queue = make_queue(world, pairs=2)
    api = Api(world.ben)
    item = first_item(api, queue)["item"]
    verdicts = [element, {"item": item, "key": "k", "verdict": "relevant"}]
    results = api.post(f"queues/{queue.pk}/judgments/", verdicts).json()["results"]
    assert results[0] == {
        "key": None,
        "status": "rejected",
        "detail": "Not a verdict: send an object with “item”, “key” and “verdict”.",
    }
    assert results[1]["status"] == "stored"


@pytest.mark.parametrize("name", ["key", "verdict", "reason", "shown", "lease", "note"])
@pytest.mark.parametrize("value", ["\ud800", "\0", ["x"], {"x": 1}, "x" * 10_000])
def test_no_value_of_an_element_spoils_another(world: World, name: str, value: Any) -> None:
    queue = make_queue(world, pairs=2)
    api = Api(world.ben)
    item = first_item(api, queue)["item"]
    good = {"item": item, "key": "k", "verdict": "relevant"}
    response = api.post(f"queues/{queue.pk}/judgments/", [{**good, "key": "bad", name: value}, good])
    assert response.status_code == 200
    first, second = response.json()["results"]
    assert first["status"] in ("rejected", "stored")
    assert first["detail"]
    assert second["status"] == "stored"


def test_active_time_is_at_most_a_day(world: World) -> None:
    queue = make_queue(world, pairs=2)
    api = Api(world.ben)
    item = first_item(api, queue)["item"]
    verdicts = [
        {"item": item, "key": str(active_ms), "verdict": "relevant", "active_ms": active_ms}
        for active_ms in (86_400_001, 2**40, -1, 86_400_000)
    ]
    results = api.post(f"queues/{queue.pk}/judgments/", verdicts).json()["results"]
    assert [result["status"] for result in results] == ["rejected"] * 3 + ["stored"]
    assert results[0]["detail"] == "active_ms: Active time is at most a day: 86400000 milliseconds."


def test_one_call_sends_verdicts_and_claims(world: World) -> None:
    queue = make_queue(world, pairs=6)
    api = Api(world.ben)
    claimed = api.post(f"queues/{queue.pk}/claim/", {"count": 3}).json()["items"]
    verdict = {"item": claimed[0]["item"], "key": "k", "verdict": "relevant"}
    body = api.post(f"queues/{queue.pk}/judgments/?claim=4", [verdict]).json()
    assert [result["status"] for result in body["results"]] == ["stored"]
    assert [item["lease"] for item in body["items"][:2]] == [item["lease"] for item in claimed[1:]]
    assert len({item["item"] for item in body["items"]} - {verdict["item"]}) == 4
    assert body["empty"] is None
    assert body["items"] == api.post(f"queues/{queue.pk}/claim/", {"count": 4}).json()["items"]


def test_without_the_parameter_a_call_with_verdicts_claims_nothing(world: World) -> None:
    queue = make_queue(world)
    body = Api(world.ben).post(f"queues/{queue.pk}/judgments/", []).json()
    version = body.pop("guidelines")
    assert body == {"results": [], "state": "open"}
    change_collection(world.collection, guidelines="Relevant is what *helps at once*.")
    assert Api(world.ben).post(f"queues/{queue.pk}/judgments/", []).json()["guidelines"] != version
    assert not Lease.objects.exists()


def test_the_next_answer_says_that_somebody_was_paused(world: World) -> None:
    queue = make_queue(world)
    api = Api(world.ben)
    items = api.post(f"queues/{queue.pk}/claim/", {"count": 2}).json()["items"]
    impose(queue, world.ben, by=world.ada)
    verdict = {"item": items[0]["item"], "key": "k", "verdict": "relevant"}
    body = api.post(f"queues/{queue.pk}/judgments/", [verdict]).json()
    assert body["results"][0]["status"] == "stored"
    assert body["state"] == "paused for you until an admin has reviewed your work"


def test_the_call_with_the_last_verdict_says_that_the_queue_is_empty(world: World) -> None:
    queue = make_queue(world, pairs=2)
    api = Api(world.ben)
    items = api.post(f"queues/{queue.pk}/claim/").json()["items"]
    verdicts = [{"item": item["item"], "key": str(item["item"]), "verdict": "relevant"} for item in items]
    body = api.post(f"queues/{queue.pk}/judgments/?claim=10", verdicts).json()
    assert body["items"] == []
    assert body["empty"] == {
        "leased": 0, "second_opinion": 0, "conflict": 0, "next_free_at": None, "state": "open",
    }  # fmt: skip


@pytest.mark.parametrize("count", ["0", "51", "-1", "ten"])
def test_a_claim_that_makes_no_sense_stores_nothing(world: World, count: str) -> None:
    queue = make_queue(world)
    api = Api(world.ben)
    verdict = {"item": first_item(api, queue)["item"], "key": "k", "verdict": "relevant"}
    response = api.post(f"queues/{queue.pk}/judgments/?claim={count}", [verdict])
    assert response.status_code == 400
    assert set(response.json()["fields"]) == {"claim"}
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("error", [OperationalError("gone"), RuntimeError("a bug")])
def test_a_claim_that_fails_loses_no_outcome(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise error

    queue = make_queue(world)
    api = Api(world.ben)
    verdict = {"item": first_item(api, queue)["item"], "key": "k", "verdict": "relevant"}
    monkeypatch.setattr("labeling.judging.api.claim", fail)
    response = api.post(f"queues/{queue.pk}/judgments/?claim=10", [verdict])
    assert response.status_code == 200
    body = response.json()
    assert [result["status"] for result in body["results"]] == ["stored"]
    assert (body["items"], body["empty"]) == (None, None)


@pytest.mark.parametrize("body", [{"item": 1}, "text", [{}] * 501])
def test_what_is_no_list_of_verdicts_is_one_clear_error(world: World, body: Any) -> None:
    queue = make_queue(world)
    response = Api(world.ben).post(f"queues/{queue.pk}/judgments/", body)
    assert response.status_code == 400
    assert response.json()["detail"].startswith("Send ")


def test_undo_gives_the_item_again(world: World) -> None:
    queue = make_queue(world)
    api = Api(world.ben)
    item = first_item(api, queue)
    verdict = {"item": item["item"], "key": "k", "verdict": "relevant"}
    api.post(f"queues/{queue.pk}/judgments/", [verdict])
    body = api.post(f"queues/{queue.pk}/undo/", {"key": "k"}).json()
    assert body["item"]["item"] == item["item"]
    assert body["item"]["lease"] != item["lease"]
    assert not Judgment.objects.exists()
    assert api.post(f"queues/{queue.pk}/undo/", {"key": "other"}).status_code == 400


def test_skip_renew_and_release_do_what_the_words_say(world: World) -> None:
    queue = make_queue(world, pairs=2)
    api = Api(world.ben)
    first, second = api.post(f"queues/{queue.pk}/claim/").json()["items"]
    skipped = api.post(f"queues/{queue.pk}/skip/", {"item": first["item"], "lease": first["lease"]})
    assert skipped.status_code == 200
    leases = {"leases": [first["lease"], second["lease"]]}
    renewed = api.post(f"queues/{queue.pk}/renew/", leases).json()["leases"]
    assert [lease["lease"] for lease in renewed] == [second["lease"]]
    assert api.post(f"queues/{queue.pk}/release/", leases).json() == {"released": 1}
    assert set(Item.objects.values_list("leased", flat=True)) == {0}


def test_an_annotator_who_was_removed_is_told_and_nothing_is_stored(world: World) -> None:
    queue = make_queue(world)
    api = Api(world.ben)
    item = first_item(api, queue)
    world.collection.memberships.filter(user=world.ben).delete()
    response = api.post(f"queues/{queue.pk}/judgments/", [{**item, "key": "k", "verdict": "relevant"}])
    assert response.status_code == 404
    assert "not a member" in response.json()["detail"]


def test_progress_is_the_whole_object_for_readers_and_one_s_own_for_annotators(world: World) -> None:
    queue = make_queue(world, pairs=6)
    for lease in claim(queue, world.cleo, 2).leases:
        judge(queue, world.cleo, lease.item_id)
    seen = {
        name: Api(getattr(world, name)).get(f"queues/{queue.pk}/progress/").json() for name in ("vera", "ben")
    }
    assert seen["vera"]["items"] == {"total": 6, "open": 4, "done": 2, "adjudication": 0}
    assert [row["username"] for row in seen["vera"]["annotators"]] == ["cleo"]
    assert seen["ben"]["annotators"] == []
    assert seen["ben"]["own"]["done"] == 0
    # What cleo has done is nothing of ben's; four pairs are left for him.
    assert seen["ben"]["judgments"] == {"needed": 4, "done": 0, "left": 4, "expected_for_ties": None}
    assert seen["ben"].keys() == seen["vera"].keys()


def test_the_way_from_a_pool_to_downloaded_labels(world: World) -> None:
    api = Api(world.ada)
    opened = api.post(
        f"pools/{make_pool(world).pk}/queue/", {"name": "q", "judgments_per_item": 1, "seed": 3}
    )
    assert opened.status_code == 201
    queue = opened.json()
    assert (queue["name"], queue["item_count"], queue["state"]) == ("q", 6, "open")
    for item in api.post(f"queues/{queue['id']}/claim/").json()["items"]:
        verdict = {"item": item["item"], "key": str(item["item"]), "verdict": "relevant"}
        api.post(f"queues/{queue['id']}/judgments/", [verdict])
    released = api.post("collections/harbour/releases/", {"name": "first", "rule": "majority"})
    assert released.status_code == 201
    assert released.json()["pair_count"] == 6
    assert api.post("collections/harbour/releases/", {"name": "first"}).status_code == 409
    for path in ("collections/harbour/qrels?release=first&format=trec", "collections/harbour/qrels/"):
        response = api.get(path)
        assert response.status_code == 200
        assert response.content.startswith(b"q1 0 d1 1\nq1 0 d2 1\n")
    sidecar = api.get("collections/harbour/qrels?format=sidecar").json()
    assert sidecar["counts"]["relevant"] == 6
    assert [row["name"] for row in api.get("collections/harbour/releases/").json()] == ["first"]


def test_a_release_or_format_that_is_not_there_is_named(world: World) -> None:
    api = Api(world.vera)
    assert api.get("collections/harbour/qrels").json()["detail"].startswith("“harbour” has no qrels release")
    missing = api.get("collections/harbour/qrels?release=none")
    assert missing.status_code == 404
    assert missing.json()["detail"] == "There is no release “none” in “harbour”."


def test_labels_are_imported_at_once_or_by_a_job(world: World, settings: Settings) -> None:
    api = Api(world.ada)

    def send(text: str) -> Any:
        upload = {"file": SimpleUploadedFile("old.qrels", text.encode())}
        return api.client.post("/api/collections/harbour/qrels/", upload)

    response = send(qrels_text())
    assert response.status_code == 201
    assert response.json()["created"] == 18
    refused = send("q1 0 d1\n")
    assert refused.status_code == 400
    assert "old.qrels, line 1" in refused.json()["detail"]
    settings.BACKGROUND_UPLOAD_BYTES = 10
    started = send(qrels_text())
    assert started.status_code == 202
    assert set(started.json()) == {"job"}
    assert ImportedLabel.objects.count() == 18


def test_a_queue_is_paused_and_opened_again(world: World) -> None:
    queue = make_queue(world)
    client = Api(world.ada).client
    body = client.patch(
        f"/api/queues/{queue.pk}/", {"state": "paused"}, content_type="application/json"
    ).json()
    assert body["state"] == "paused"
    assert Api(world.ben).post(f"queues/{queue.pk}/claim/").json()["empty"]["state"] == "paused"
    assert Api(world.ben).client.patch(f"/api/queues/{queue.pk}/").status_code == 403


def test_the_loop_of_judging_takes_few_queries(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    queue = make_queue(world, pairs=6)
    api = Api(world.ben)
    item = first_item(api, queue)
    verdict = {"item": item["item"], "key": "k", "verdict": "relevant"}
    # Three of each are the token, the queue and the membership; two the savepoint of the test's transaction.
    # The claim's last one counts what is left of the query. Together they take less than one after the other.
    with django_assert_max_num_queries(12):
        api.post(f"queues/{queue.pk}/judgments/", [verdict])
    with django_assert_max_num_queries(12):
        item = first_item(api, queue)
    verdict = {"item": item["item"], "key": "k2", "verdict": "relevant"}
    with django_assert_max_num_queries(21):
        api.post(f"queues/{queue.pk}/judgments/?claim=1", [verdict])


def test_only_an_admin_is_told_that_a_verdict_was_an_extra_one(world: World) -> None:
    queue = make_queue(world, pairs=6)
    item = queue.items.all()[0].pk
    judge(queue, world.cleo, item)
    for user, told in ((world.ben, "stored"), (world.ada, "extra")):
        api, body = Api(user), {"item": number_of(item), "key": "late", "verdict": "relevant"}
        (first,) = api.post(f"queues/{queue.pk}/judgments/", [body]).json()["results"]
        (again,) = api.post(f"queues/{queue.pk}/judgments/", [body]).json()["results"]
        assert (first["status"], "extra" in again["detail"]) == (told, told == "extra")
