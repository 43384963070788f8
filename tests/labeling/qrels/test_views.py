"""The pages of queues and of labels."""

from __future__ import annotations

import pytest
from django.urls import reverse

from labeling.judging.leases import claim
from labeling.models import ImportedLabel, QrelsRelease, Queue
from labeling.qrels.releases import release_qrels
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import RELEVANT, World, qrels_text, signed_in


def make_release(world: World, name: str = "first") -> QrelsRelease:
    queue = make_queue(world, pairs=2)
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id, active_ms=3000)
    return release_qrels(world.collection, name=name, user=world.ada)


def test_an_admin_opens_a_queue_over_a_pool(world: World) -> None:
    pool = make_pool(world)
    address = reverse("queue_new", args=["harbour"])
    client = signed_in(world.ada)
    assert f'<option value="{pool.pk}" selected>' in client.get(f"{address}?pool={pool.pk}").content.decode()
    body = {"pool": pool.pk, "name": "", "judgments_per_item": 2, "seed": 5}
    response = client.post(address, body)
    queue = Queue.objects.get()
    assert response["Location"] == reverse("queue", args=[queue.pk])
    assert (queue.name, queue.judgments_per_item, queue.seed, queue.items.count()) == ("pool", 2, 5, 6)


def test_a_name_that_exists_is_told_beside_its_field(world: World) -> None:
    pool = make_pool(world)
    body = {"pool": pool.pk, "name": "one", "judgments_per_item": 1}
    client = signed_in(world.ada)
    client.post(reverse("queue_new", args=["harbour"]), body)
    page = client.post(reverse("queue_new", args=["harbour"]), body)
    assert page.context["form"].errors == {"name": ["Queue “one” already exists. Choose another name."]}


def test_a_pool_of_another_collection_cannot_be_chosen(world: World) -> None:
    other = make_pool(world)
    other.collection = type(world.collection).objects.create(slug="other", name="Other")
    other.save()
    page = signed_in(world.ada).post(
        reverse("queue_new", args=["harbour"]), {"pool": other.pk, "judgments_per_item": 1}
    )
    assert "pool" in page.context["form"].errors


def test_annotators_see_their_own_numbers_and_nobody_else_s(world: World) -> None:
    queue = make_queue(world, pairs=6)
    for lease in claim(queue, world.cleo, 2).leases:
        judge(queue, world.cleo, lease.item_id)
    page = signed_in(world.ben).get(reverse("queue", args=[queue.pk])).content.decode()
    assert "<dt>Judged by you</dt><dd>0</dd>" in page
    assert "<dt>Left for you</dt><dd>4</dd>" in page
    assert "cleo" not in page


def test_what_waits_for_adjudication_is_shown_with_what_was_said(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=6)
    first, second, *_ = claim(queue, world.ben, 6).leases
    judge(queue, world.ben, first.item_id, "relevant")
    judge(queue, world.cleo, first.item_id, "not_relevant", note="<b>off topic</b>")
    for person in (world.ben, world.cleo):
        judge(queue, person, second.item_id, "cannot_judge", reason="language")
    page = signed_in(world.vera).get(reverse("queue", args=[queue.pk])).content.decode()
    assert "Adjudicate 2 pairs" in page
    response = signed_in(world.vera).get(reverse("adjudication", args=[queue.pk]))
    assert [one.pair.is_tie for one in response.context["shown"]] == [True, False]
    page = response.content.decode()
    assert "&lt;b&gt;off topic&lt;/b&gt;" in page
    assert first.item.document.text in page
    assert page.count("i don&#x27;t read this language") == 2


def test_an_admin_makes_a_release(world: World) -> None:
    make_release(world)
    client = signed_in(world.ada)
    address = reverse("release_new", args=["harbour"])
    response = client.post(address, {"name": "second", "rule": "majority"})
    release = QrelsRelease.objects.get(name="second")
    assert response["Location"] == release.get_absolute_url()
    page = client.get(response["Location"]).content.decode()
    assert release.sha256 in page
    again = client.post(address, {"name": "second", "rule": "majority"})
    assert "already" in again.context["form"].errors["name"][0]


def test_a_release_without_labels_is_not_offered(world: World) -> None:
    page = signed_in(world.ada).get(reverse("release_new", args=["harbour"])).content.decode()
    assert "A release needs labels." in page
    assert 'name="rule"' not in page


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("trec", "harbour-first.qrels"),
        ("beir", "harbour-first.tsv"),
        ("parquet", "harbour-first.parquet"),
        ("sidecar", "harbour-first.meta.json"),
    ],
)
def test_a_download_is_saved_under_a_telling_name(world: World, format: str, name: str) -> None:
    release = make_release(world)
    address = reverse("release_download", args=["harbour", release.pk, format])
    response = signed_in(world.vera).get(address)
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert response.content


def test_a_release_is_only_found_in_its_own_collection(world: World) -> None:
    release = make_release(world)
    client = signed_in(world.ada)
    assert client.get(reverse("release", args=["other", release.pk])).status_code == 404
    assert client.get(reverse("release_download", args=["other", release.pk, "trec"])).status_code == 404


def test_labels_are_imported_from_a_file(world: World) -> None:
    path = world.folder / "old.qrels"
    path.write_text(qrels_text())
    with path.open("rb") as file:
        response = signed_in(world.ada).post(
            reverse("qrels_import", args=["harbour"]), {"file": file}, follow=True
        )
    assert "Labels: 18 new, 0 as before." in response.content.decode()
    assert ImportedLabel.objects.filter(relevance=1).count() == len(RELEVANT)


def test_a_file_with_an_error_is_told_and_not_stored(world: World) -> None:
    path = world.folder / "bad.qrels"
    path.write_text("q1 0 d1 1\nq1 0 d2\n")
    with path.open("rb") as file:
        page = signed_in(world.ada).post(reverse("qrels_import", args=["harbour"]), {"file": file})
    assert "bad.qrels, line 2" in page.context["form"].errors["file"][0]
    assert not ImportedLabel.objects.exists()
