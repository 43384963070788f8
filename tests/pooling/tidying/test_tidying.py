"""Runs, pools and collections renamed, archived, deleted and restored, on pages and over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pooling.interface.problems import InputError
from pooling.models import AdminAction, Collection, Pool, Run
from pooling.pools.building import build_pool
from pooling.pools.versions import extend_pool
from pooling.runs.stored import runs_named
from pooling.tidying.doing import archive, delete, rename, restore
from pooling.tidying.kept import RESTORABLE, Kept
from pooling.tidying.kinds import beneath, kind_of
from tests.world import World


@pytest.fixture
def ada(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


def page_of(thing: Kept) -> str:
    return reverse("tidy", args=["harbour", kind_of(thing).name, thing.pk])


def long_ago(thing: Kept) -> None:
    rows = type(thing).everything.filter(pk=thing.pk)
    rows.update(deleted_at=timezone.now() - RESTORABLE - timedelta(hours=1))


def test_a_deleted_run_is_nowhere_until_it_is_restored(world: World, ada: Client) -> None:
    run, _ = world.import_runs()
    gone = ada.post(page_of(run), {"action": "delete"}, follow=True)
    assert "Deleted run “alpha”." in gone.content.decode()
    assert ada.get(run.get_absolute_url()).status_code == 404
    assert [one["name"] for one in ada.get("/api/collections/harbour/runs/").json()] == ["beta"]
    with pytest.raises(InputError, match="There is no run “alpha”"):
        runs_named(world.collection, ["alpha"])
    back = ada.post(f"/collections/harbour/tidy/?things=run:{run.pk}", {"action": "restore"}, follow=True)
    assert "Restored the run “alpha”." in back.content.decode()
    assert ada.get(run.get_absolute_url()).status_code == 200


def test_the_message_of_a_deletion_has_the_button_that_undoes_it(world: World, ada: Client) -> None:
    run, _ = world.import_runs()
    page = ada.post(page_of(run), {"action": "delete"}, follow=True).content.decode()
    assert f'form="undo" formaction="/collections/harbour/tidy/?things=run:{run.pk}"' in page
    assert 'id="undo" method="post"' in page


def test_what_depends_on_a_run_is_named_and_keeps_its_figures(world: World, ada: Client) -> None:
    pool = world.build_pool()
    run = Run.objects.get(name="alpha")
    page = ada.get(page_of(run)).content.decode()
    assert "1 pool keeps its figures" in page
    delete(run, by=world.ada)
    pool.refresh_from_db()
    assert [place.run.name for place in pool.pool_runs.select_related("run")] == ["alpha", "beta"]
    with pytest.raises(InputError, match="Run “alpha” of pool “first pool” was deleted"):
        extend_pool(pool, depth=3)


def test_a_deleted_name_can_be_used_again_and_a_restored_thing_gets_another(world: World) -> None:
    run, _ = world.import_runs()
    delete(run)
    from pooling.runs.stored import import_run

    again = import_run(world.collection, world.folder / "alpha.run", user=world.ada)
    assert again.name == "alpha"
    with pytest.raises(InputError, match=r"such as “alpha \(restored\)”"):
        restore(run)
    restore(run, name="alpha (restored)")
    assert sorted(world.collection.runs.values_list("name", flat=True)) == [
        "alpha",
        "alpha (restored)",
        "beta",
    ]


def test_a_name_that_is_taken_is_refused(world: World, ada: Client) -> None:
    run, _ = world.import_runs()
    answer = ada.post(page_of(run), {"action": "rename", "name": "beta"})
    assert answer.status_code == 409
    assert "Another run is already called “beta”" in answer.content.decode()
    rename(run, "gamma", by=world.ada)
    assert Run.objects.get(pk=run.pk).name == "gamma"
    assert AdminAction.objects.filter(action="run renamed", subject="gamma").exists()


def test_a_renamed_run_keeps_its_own_depth_in_a_pool(world: World) -> None:
    runs = world.import_runs()
    pool = build_pool(world.collection, name="deep", runs=runs, depth=1, depths={"alpha": 3})
    rename(runs[0], "gamma")
    pool.refresh_from_db()
    assert pool.depth_of("gamma") == 3


def test_an_archived_run_is_in_no_list_or_form_and_has_its_address(world: World, ada: Client) -> None:
    run, _ = world.import_runs()
    archive(run, by=world.ada)
    assert "alpha" not in ada.get("/collections/harbour/runs/").content.decode()
    assert "alpha" not in ada.get("/collections/harbour/pools/new/").content.decode()
    assert "Archived" in ada.get(run.get_absolute_url()).content.decode()
    assert runs_named(world.collection, ["alpha"]) == [run]
    archive(run, archived=False)
    assert "alpha" in ada.get("/collections/harbour/runs/").content.decode()


def test_a_pool_that_another_extends_is_not_deleted(world: World) -> None:
    pool = world.build_pool(depth=1)
    later = extend_pool(pool, depth=2)
    with pytest.raises(InputError, match="cannot be deleted: 1 pool extends it"):
        delete(pool)
    delete(later)
    again = extend_pool(pool, depth=3)
    assert again.version == 2
    with pytest.raises(InputError, match="extends the same pool now"):
        restore(later)


def test_what_a_pool_alone_rests_on_may_go_with_it(world: World, ada: Client) -> None:
    pool = world.build_pool()
    alpha, beta = Run.objects.order_by("name")
    other = build_pool(world.collection, name="other", runs=[beta], depth=1)
    assert beneath(pool) == [alpha]
    ada.post(page_of(pool), {"action": "delete", "also": [f"run:{alpha.pk}", f"run:{beta.pk}"]})
    assert list(Run.objects.all()) == [beta]
    assert list(Pool.objects.all()) == [other]


def test_chosen_rows_are_deleted_after_a_question_where_something_depends_on_them(
    world: World, ada: Client
) -> None:
    world.build_pool()
    chosen = [f"run:{run.pk}" for run in Run.objects.order_by("name")]
    asked = ada.post("/collections/harbour/tidy/", {"action": "delete", "things": chosen})
    assert "1 pool keeps its figures" in asked.content.decode()
    assert Run.objects.count() == 2
    ada.post("/collections/harbour/tidy/", {"action": "delete", "things": chosen, "sure": "yes"})
    assert Run.objects.count() == 0


def test_rows_chosen_in_a_list_are_put_away_from_there(world: World, ada: Client) -> None:
    alpha, beta = world.import_runs()
    listed = ada.get("/collections/harbour/runs/").content.decode()
    assert "Archive or delete" in listed
    page = ada.get(f"/collections/harbour/tidy/run/?runs={alpha.pk}&runs={beta.pk}").content.decode()
    assert "these 2 runs" in page
    body = {"action": "archive", "things": [f"run:{alpha.pk}", f"run:{beta.pk}"], "sure": "yes"}
    said = ada.post("/collections/harbour/tidy/", body, follow=True).content.decode()
    assert "Archived 2 runs" in said
    assert Run.objects.listed().count() == 0
    assert ada.get("/collections/harbour/tidy/run/").status_code == 302


def test_a_list_of_other_peoples_things_is_not_found(world: World, ada: Client) -> None:
    other = Collection.objects.create(slug="other", name="Other")
    pool = Pool.objects.create(collection=other, name="theirs", depth=1, strategy="rrf")
    for things in ([f"pool:{pool.pk}"], ["run:x"], ["nothing:3"], []):
        body = {"action": "delete", "things": things}
        assert ada.post("/collections/harbour/tidy/", body).status_code == 404
    assert ada.get(reverse("tidy", args=["harbour", "pool", pool.pk])).status_code == 404


def test_a_program_renames_archives_deletes_and_restores(world: World, ada: Client) -> None:
    pool = world.build_pool()

    def patch(**body: Any) -> Any:
        return ada.patch(f"/api/pools/{pool.pk}/", body, content_type="application/json").json()

    assert patch(name="renamed", archived=True)["name"] == "renamed"
    assert patch()["archived"] is True
    assert ada.get("/api/collections/harbour/pools/").json() == []
    gone = ada.delete(f"/api/pools/{pool.pk}/").json()
    assert (gone["deleted"], gone["dependants"]) == (True, [])
    assert ada.delete(f"/api/pools/{pool.pk}/").status_code == 404
    assert ada.post(f"/api/pools/{pool.pk}/restore/").json()["deleted"] is False
    assert ada.post(f"/api/pools/{pool.pk}/restore/").status_code == 404


def test_what_was_deleted_long_ago_is_erased_with_its_file(world: World) -> None:
    alpha, beta = world.import_runs()
    pool = build_pool(world.collection, name="of beta", runs=[beta], depth=1)
    files = [alpha.file.name, beta.file.name]
    for run in (alpha, beta):
        delete(run)
        long_ago(run)
    with pytest.raises(InputError, match="more than thirty days ago"):
        restore(alpha)
    call_command("purge_deleted")
    assert [run.name for run in Run.everything.all()] == ["beta"]
    assert not any(map(default_storage.exists, files))
    assert [place.run.name for place in pool.pool_runs.select_related("run")] == ["beta"]


def test_a_deleted_collection_is_nobodys_until_an_admin_restores_it(world: World, ada: Client) -> None:
    pool = world.build_pool()
    page = reverse("tidy", args=["harbour", "collection", world.collection.pk])
    assert "2 runs go with it" in ada.get(page).content.decode()
    ada.post(page, {"action": "delete"})
    for address in ("/collections/harbour/", pool.get_absolute_url(), f"/api/pools/{pool.pk}/extend/"):
        assert ada.get(address).status_code in (404, 405)
    vera = Client()
    vera.force_login(world.vera)
    address = reverse("collection_restore", args=[world.collection.pk])
    assert vera.post(address).status_code == 404
    assert "Harbour" not in vera.get("/").content.decode()
    assert "Restore" in ada.get("/").content.decode()
    ada.post(address)
    assert ada.get(pool.get_absolute_url()).status_code == 200


def test_the_short_name_of_a_deleted_collection_can_be_used_again(world: World, ada: Client) -> None:
    delete(world.collection, by=world.ada)
    Collection.objects.create(slug="harbour", name="New harbour")
    restored = ada.post(f"/deleted-collections/{world.collection.pk}/")
    assert restored["Location"] == "/collections/harbour-2/"


def test_a_collection_deleted_long_ago_is_erased_with_everything(world: World) -> None:
    pool = world.build_pool(depth=1)
    extend_pool(pool, depth=2)
    files = [run.file.name for run in Run.objects.all()]
    delete(world.collection)
    long_ago(world.collection)
    call_command("purge_deleted")
    assert not Collection.everything.exists()
    assert not any(map(default_storage.exists, files))


def test_what_was_put_away_can_be_searched_and_is_taken_back_from_the_list(world: World, ada: Client) -> None:
    run, *_ = world.import_runs()
    delete(run, by=world.ada)
    address = reverse("tidied", args=["harbour"])
    table = ada.get(f"{address}?deleted-q={run.name}&deleted-columns=name").context["deleted"]
    assert [column.key for column in table.columns] == ["name", "back"]
    (row,) = table.rows
    ada.post(address, {"things": row.key, "action": "restore"})
    run.refresh_from_db()
    assert run.deleted_at is None
