"""What pages of judging show, read and changed over HTTP."""

from __future__ import annotations

from labeling.models import ModelServerKey
from tests.evaluation.cast import make_release
from tests.labeling.helpers import judge, make_queue
from tests.labeling.model_server import ModelServer
from tests.world import World, signed_in


def test_queues_are_listed_with_what_each_may_know(world: World) -> None:
    queue = make_queue(world)
    item = queue.items.earliest("pk")
    judge(queue, world.ben, item.pk)
    (seen,) = signed_in(world.vera).get("/api/collections/harbour/queues/").json()
    assert (seen["pairs"], seen["settled"], seen["own"]) == (6, 1, 0)
    (own,) = signed_in(world.ben).get("/api/collections/harbour/queues/").json()
    assert own["own"] == 1
    assert {own[name] for name in ("pool", "judgments_per_item", "pairs", "settled")} == {None}
    assert signed_in(world.dan).get("/api/collections/harbour/queues/").status_code == 404


def test_queues_are_narrowed_down_by_state(world: World) -> None:
    queue = make_queue(world)
    ada = signed_in(world.ada)
    assert ada.get("/api/collections/harbour/queues/?state=closed").json() == []
    assert ada.get(f"/api/queues/{queue.pk}/").json()["state"] == "open"


def test_a_release_is_read_once(world: World) -> None:
    release = make_release(world)
    vera = signed_in(world.vera)
    read = vera.get(f"/api/releases/{release.pk}/")
    assert read.json()["sidecar"]
    for url in (f"/api/releases/{release.pk}/", "/api/collections/harbour/qrels?release=labels"):
        etag = vera.get(url)["ETag"]
        assert vera.get(url, headers={"If-None-Match": etag}).status_code == 304
    other = vera.get("/api/collections/harbour/qrels?release=labels&format=csv")
    assert other["ETag"] != etag


def test_an_admin_corrects_a_label_and_takes_that_back(world: World) -> None:
    queue = make_queue(world)
    item = queue.items.select_related("query", "document").earliest("pk")
    judge(queue, world.ben, item.pk, "relevant")
    pair = {"query": item.query.external_id, "document": item.document.external_id}
    ada, url = signed_in(world.ada), "/api/collections/harbour/labels/"
    corrected = ada.post(
        url, {**pair, "verdict": "not_relevant", "key": "once"}, content_type="application/json"
    )
    assert (corrected.json()["relevance"], corrected.json()["source"]) == (0, "adjudicated")
    undone = ada.delete(f"{url}?query={pair['query']}&document={pair['document']}")
    assert undone.json()["relevance"] == 1
    refused = signed_in(world.vera).post(url, pair, content_type="application/json")
    assert refused.status_code == 403


def test_disagreements_are_listed_with_what_each_said(world: World) -> None:
    queue = make_queue(world, needed=2)
    item = queue.items.select_related("query", "document").earliest("pk")
    judge(queue, world.ben, item.pk, "relevant")
    judge(queue, world.cleo, item.pk, "not_relevant")
    (pair,) = signed_in(world.vera).get(f"/api/queues/{queue.pk}/disagreements/").json()
    assert {one["annotator"]: one["verdict"] for one in pair["verdicts"]} == {
        "ben": "relevant",
        "cleo": "not_relevant",
    }
    assert signed_in(world.ben).get(f"/api/queues/{queue.pk}/disagreements/").status_code == 403


def test_a_key_of_a_model_server_goes_in_and_never_out(world: World, server: ModelServer) -> None:
    queue = make_queue(world)
    url = f"/api/queues/{queue.pk}/prelabels/key/"
    body = {"base_url": server.base_url, "key": "sk-secret"}
    stored = signed_in(world.ada).put(url, body, content_type="application/json")
    assert (stored.status_code, stored.content) == (204, b"")
    assert "sk-secret" not in ModelServerKey.objects.get().encrypted
