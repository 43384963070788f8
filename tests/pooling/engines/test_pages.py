"""The pages and calls of engines: who may use them, trying before saving, and keys that stay secret."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from typing import Any

import pytest
from django.core import serializers
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from pooling.engine_models import Engine, EngineAsking
from pooling.engines.stored import key_of
from pooling.models import AdminAction, Job, Run
from tests.pooling.engines.cast import KEY, as_alpha, settings_at, shop
from tests.pooling.engines.server import answering
from tests.world import World

LIST = "/collections/harbour/engines/"
CALLS = "/api/collections/harbour/engines/"


def form_at(url: str, **changes: Any) -> dict[str, Any]:
    settings = settings_at(url)
    names = ("address", "body", "id_path", "score_path", "concurrency")
    return {"name": "shop", **{name: getattr(settings, name) for name in names}, **changes}


def test_an_engine_of_another_collection_is_not_found(world: World, client: Client) -> None:
    client.force_login(world.ada)
    with shop(world) as (engine, _):
        assert client.get(f"/collections/elsewhere/engines/{engine.pk}/").status_code == 404
        assert client.get(f"/api/collections/elsewhere/engines/{engine.pk}/").status_code == 404


def test_a_try_shows_ids_and_scores_and_stores_nothing(world: World, client: Client) -> None:
    client.force_login(world.ada)
    with answering(as_alpha) as server:
        body = form_at(server.url, name="", **{"try": "1"}, query="q2", key=KEY)
        shown = client.post(f"{LIST}new/", body, headers={"HX-Request": "true"}).content.decode()
    for cell in ("q2: lost umbrella", "3 documents in", "d2", "9.5", "d6", "8.5"):
        assert cell in shown
    assert "<form" not in shown
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert not Engine.objects.exists()
    assert not Run.objects.exists()
    assert not EngineAsking.objects.exists()


def test_what_is_wrong_with_an_engine_is_next_to_its_field(world: World, client: Client) -> None:
    client.force_login(world.ada)
    page = client.post(f"{LIST}new/", form_at("http://host", body="{", id_path="hits", address="ftp://x"))
    errors = page.context["form"].errors
    assert set(errors) == {"address", "body", "id_path"}
    tried = client.post(f"{LIST}new/", form_at("http://host", body='{"q": "{{query}}"', **{"try": "1"}))
    assert "The body is not JSON" in tried.content.decode()


def test_a_preset_fills_the_form(world: World, client: Client) -> None:
    client.force_login(world.ada)
    page = client.get(f"{LIST}new/?preset=qdrant").content.decode()
    assert "result.points[*].id" in page
    assert 'value="api-key"' in page


def test_what_an_engine_says_is_text_on_the_page(world: World, client: Client) -> None:
    client.force_login(world.ada)
    evil = "<script>alert(1)</script>"
    with answering(lambda asked: {"hits": {"hits": [{"_id": evil, "_score": 1}]}}) as server:
        shown = client.post(f"{LIST}new/", form_at(server.url, **{"try": "1"})).content.decode()
        server.faults.append((400, {"error": evil}, {}))
        refused = client.post(f"{LIST}new/", form_at(server.url, **{"try": "1"})).content.decode()
    assert evil not in shown + refused
    assert "&lt;script&gt;" in shown
    assert "&lt;script&gt;" in refused


def test_an_engine_is_added_asked_changed_and_deleted_over_http(
    world: World, client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    client.force_login(world.ada)
    with answering(as_alpha) as server:
        body = {**form_at(server.url), "preset": "elasticsearch", "key": KEY}
        made = client.post(CALLS, body, content_type="application/json")
        assert made.status_code == 201
        assert made.json()["has_key"] is True
        assert made.json()["key_header"] == "Authorization: ApiKey"
        address = f"{CALLS}{made.json()['id']}/"
        tried = client.post(
            f"{CALLS}try/", {"engine": made.json()["id"], "query": "q3"}, content_type="application/json"
        )
        assert [hit["document"] for hit in tried.json()["hits"]] == ["d3", "d5", "d2"]
        with django_capture_on_commit_callbacks(execute=True):
            started = client.post(
                f"{address}runs/", {"name": "today", "depth": 2}, content_type="application/json"
            )
        assert started.status_code == 202
        job = client.get(f"/api/jobs/{started.json()['job']}/").json()
        assert (job["state"], job["result"]["name"], job["result"]["rows"]) == ("done", "today", 6)
    assert {one.headers["Authorization"] for one in server.requests} == {f"ApiKey {KEY}"}
    changed = client.put(address, {"depth": 7}, content_type="application/json").json()
    assert (changed["depth"], changed["has_key"], changed["body"]) == (7, True, made.json()["body"])
    assert client.delete(address).status_code == 200
    assert client.get(CALLS).json() == []
    assert client.post(f"{address}restore/").status_code == 200
    again = client.post(CALLS, form_at("http://host"), content_type="application/json")
    assert again.status_code == 409


def test_a_page_asks_the_engine_and_shows_the_run(
    world: World, client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    client.force_login(world.ada)
    with shop(world) as (engine, _), django_capture_on_commit_callbacks(execute=True):
        client.post(f"{LIST}{engine.pk}/ask/", {"name": "today", "depth": "2"})
    run = Run.objects.get(name="today")
    assert "today" in client.get(f"{LIST}{engine.pk}/").content.decode()
    shown = client.get(run.get_absolute_url()).content.decode()
    assert "2 documents per query, 3 requests" in shown
    assert "/docs/_search" in shown
    client.force_login(world.vera)
    for_viewers = client.get(run.get_absolute_url()).content.decode()
    assert "Latency" in for_viewers
    assert "/docs/_search" not in for_viewers


def test_the_key_is_nowhere_but_in_the_requests(
    world: World,
    client: Client,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    caplog.set_level(logging.DEBUG)
    client.force_login(world.ada)
    seen: list[bytes] = []
    with answering(as_alpha) as server:
        body = form_at(server.url, key=KEY, key_header="X-Key")
        for more in ({"try": "1"}, {}):
            answer = client.post(f"{LIST}new/", {**body, **more})
            seen += [answer.content, str(answer.headers).encode()]
        engine = Engine.objects.get()
        with django_capture_on_commit_callbacks(execute=True):
            client.post(f"{LIST}{engine.pk}/ask/")
        # An engine that says the key back, as an error and as an answer.
        server.faults.extend(
            [(500, {"error": f"bad key {KEY}"}, {}), (200, {"hits": {"hits": [{"_id": KEY}]}}, {})]
        )
        for _ in range(2):
            again = client.post(f"{CALLS}try/", {"engine": engine.pk}, content_type="application/json")
            assert "repeats the key" in again.json()["detail"]
            seen.append(again.content)
        assert all(one.headers["X-Key"] == KEY for one in server.requests)
        assert not any(KEY in one.path for one in server.requests)
    run = Run.objects.get()
    pages = (
        LIST,
        f"{LIST}{engine.pk}/",
        f"{LIST}{engine.pk}/edit/",
        run.get_absolute_url(),
        "/collections/harbour/",
    )
    calls = (
        CALLS,
        f"{CALLS}{engine.pk}/",
        "/api/collections/harbour/activity/",
        f"/api/jobs/{Job.objects.get().pk}/",
    )
    seen += [client.get(page).content for page in (*pages, *calls)]
    rows = [
        *Engine.objects.all(),
        *EngineAsking.objects.all(),
        *Job.objects.all(),
        *AdminAction.objects.all(),
        run,
    ]
    seen += [serializers.serialize("json", rows).encode(), repr(rows).encode(), repr(vars(engine)).encode()]
    seen.append(caplog.text.encode())
    encoded = b64encode(KEY.encode())
    assert not any(KEY.encode() in one or encoded in one or json.dumps(KEY).encode() in one for one in seen)
    assert key_of(engine) == KEY


def test_a_user_name_and_password_are_encoded_as_browsers_do(world: World) -> None:
    from pooling.engines.running import try_engine

    with answering(as_alpha) as server:
        settings = settings_at(server.url, key_header="Authorization: Basic")
        try_engine(world.collection, settings, "ada:secret word")
    expected = b64encode(b"ada:secret word").decode()
    assert server.requests[0].headers["Authorization"] == f"Basic {expected}"


def test_databases_of_the_settings_are_offered_by_name_alone(
    world: World, client: Client, settings: Settings
) -> None:
    client.force_login(world.ada)
    assert 'name="statement"' not in client.get(f"{LIST}new/").content.decode()
    secret = {"ENGINE": "django.db.backends.postgresql", "NAME": "x", "PASSWORD": "pw-of-the-shop"}
    settings.SEARCH_DATABASES = {"shop": secret}
    page = client.get(f"{LIST}new/").content.decode()
    assert '<option value="shop">shop</option>' in page
    assert "pw-of-the-shop" not in page
    strange = {"name": "x", "database": "postgres://u:p@host/db", "statement": "SELECT {{query}} LIMIT {{k}}"}
    refused = client.post(CALLS, strange, content_type="application/json")
    assert refused.status_code == 400
    assert "database" in refused.json()["fields"]
