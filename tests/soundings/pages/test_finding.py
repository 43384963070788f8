"""Anything is found by its name or id, by those who may see it, in as many queries whatever is asked for."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import Report
from pooling.models import Collection, Document, Membership, Query, Role
from pooling.people.access import MEMBERS, collection_for
from pooling.texts.search import index_texts
from soundings.pages.find import find
from soundings.pages.guide import sections
from tests.evaluation.cast import make_report
from tests.ground import made_once
from tests.labeling.helpers import make_queue
from tests.world import World


def found(world: World, text: str, user: User | None = None) -> dict[str, list[str]]:
    user = user or world.ada
    here = collection_for(user, world.collection.slug, MEMBERS)
    return {kind.label: [row.name for row in kind.rows] for kind in find(user, here, text)}


@made_once
def one_of_each_kind(world: World) -> None:
    world.build_pool()
    make_queue(world, name="June")
    make_report(world)


@pytest.mark.usefixtures("one_of_each_kind")
@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("q2", "Queries", "q2"),
        ("umbrella", "Queries", "q2"),
        ("d4", "Documents", "d4"),
        ("ferry tick", "Documents", "d5"),
        ("alph", "Runs", "alpha"),
        ("first", "Pools", "first pool"),
        ("June", "Queues", "June"),
        ("labels", "Qrels", "labels"),
        ("q1 d4", "Pairs", "q1 × d4"),
        ("q1 × d4", "Pairs", "q1 × d4"),
        ("canar", "Pages", "Canaries"),
        ("import runs", "Actions", "Import runs"),
        ("strateg", "Guide", "Strategies"),
        ("secret key backup", "Guide", "Back up"),
    ],
)
def test_each_kind_is_found(world: World, text: str, kind: str, name: str) -> None:
    assert name in found(world, text)[kind]


def test_what_is_named_so_exactly_comes_first(world: World) -> None:
    Query.objects.create(collection=world.collection, external_id="runs", text="all of them")
    assert list(found(world, "runs"))[:2] == ["Pages", "Queries"]
    assert next(iter(found(world, "q1"))) == "Queries"
    Query.objects.bulk_create(
        Query(collection=world.collection, external_id=f"q1-{number}", text="more") for number in range(20)
    )
    assert found(world, "q1")["Queries"][0] == "q1"


def test_ids_may_contain_spaces_and_signs(world: World) -> None:
    Query.objects.create(collection=world.collection, external_id="q 7", text="seven")
    Document.objects.create(collection=world.collection, external_id="50%_a", title="Half")
    assert found(world, "q 7 d1")["Pairs"] == ["q 7 × d1"]
    assert found(world, "50%_")["Documents"] == ["50%_a"]
    assert "Documents" not in found(world, "50__")


def test_without_an_index_of_texts_the_titles_of_the_first_documents_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_ = Document.objects.order_by("pk")
    Document.objects.filter(pk__in=[first.pk, second.pk]).update(title="Lighthouse")
    assert found(world, "lighthouse")["Documents"] == [first.external_id, second.external_id]
    monkeypatch.setattr("soundings.pages.find.TITLES_READ", 1)
    assert found(world, "lighthouse")["Documents"] == [first.external_id]


def test_titles_come_from_the_index_of_texts_where_there_is_one(world: World) -> None:
    index_texts(world.collection)
    assert found(world, "midnight")["Documents"] == ["d4"]
    assert "Documents" not in found(world, "-- ??")


def test_an_annotator_finds_queues_and_nothing_that_would_tell_them_anything(world: World) -> None:
    world.build_pool()
    make_queue(world, name="q1 of June")
    make_report(world)
    assert found(world, "q1", world.ben) == {"Queues": ["q1 of June"]}
    assert set(found(world, "", world.ben)) == {"Pages", "Site"}
    assert found(world, "", world.ben)["Pages"] == ["Overview", "Queues"]
    assert "Actions" not in found(world, "import", world.vera)


def test_other_collections_are_found_by_their_members_alone(world: World, client: Client) -> None:
    other = Collection.objects.create(slug="airport", name="Airport")
    Membership.objects.create(collection=other, user=world.vera, role=Role.VIEWER)
    assert found(world, "airp", world.vera) == {"Collections": ["Airport"]}
    assert found(world, "airp") == {}
    client.force_login(world.dan)
    assert client.get(reverse("collection_find", args=["harbour"])).status_code == 404
    assert "Harbour" not in client.get(reverse("find"), {"q": "harbour"}).content.decode()


def test_as_many_queries_whatever_there_is(world: World, report: Report) -> None:
    here = collection_for(world.ada, "harbour", MEMBERS)
    counts = set()
    for text in ("q1 d1", "d d", "first pool"):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            find(world.ada, here, text)
        counts.add(len(asked))
    assert len(counts) == 1
    assert counts.pop() <= 20


def test_the_page_works_without_scripts_and_gives_the_palette_the_list_alone(
    world: World, client: Client
) -> None:
    client.force_login(world.ada)
    Query.objects.create(collection=world.collection, external_id="<b>", text="<script>")
    address = reverse("collection_find", args=["harbour"])
    page = client.get(address, {"q": "<b>"}).content.decode()
    assert 'value="&lt;b&gt;"' in page
    assert "<script>" not in page
    assert f"{reverse('queries', args=['harbour'])}?q=%3Cb%3E" in page
    part = client.get(address, {"q": "q1"}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert ">q1<" in part
    assert "Nothing has that name or id." in client.get(address, {"q": "z" * 9000}).content.decode()


def test_the_call_finds_what_the_page_does_and_only_what_one_may_see(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    kinds = {one["kind"]: one["found"] for one in client.get("/api/find/?q=alph&collection=harbour").json()}
    assert [row["name"] for row in kinds["Runs"]] == ["alpha"]
    assert client.get(kinds["Runs"][0]["url"]).status_code == 200
    client.force_login(world.ben)
    answer = client.get("/api/find/?q=alph&collection=harbour").json()
    assert [one["kind"] for one in answer] == ["Guide"]
    client.force_login(world.dan)
    assert client.get("/api/find/?q=alph&collection=harbour").status_code == 404
    assert {one["kind"] for one in client.get("/api/find/?q=Harbour").json()} <= {"Guide"}


def test_words_of_the_guide_lead_to_their_section_and_say_what_stands_there(
    world: World, client: Client
) -> None:
    (kind,) = find(world.ada, None, "secret_key cron")
    (row,) = kind.rows
    assert (kind.label, row.name) == ("Guide", "Back up")
    assert row.about.startswith("Back up and upgrade: ")
    for section in sections():
        page = client.get(reverse("guide_page", args=[section.page])).content.decode()
        assert not section.anchor or f'id="{section.anchor}"' in page
