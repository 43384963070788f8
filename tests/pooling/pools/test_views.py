"""Pages of stage 1: who sees them, what they show, and that long lists cost no more queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from pooling.models import Collection, Document, PoolEntry, Query
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from pooling.strategies import STRATEGIES
from tests.world import ALPHA, BETA, World, run_text

READ = ("queries", "documents", "runs", "pools")


def upload(name: str, text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def text_of(response: Any) -> str:
    return str(response.content.decode())


@pytest.mark.parametrize("name", ["run", "pool", "pool_pairs", "pool_download"])
def test_a_run_or_pool_is_found_in_its_own_collection_alone(world: World, client: Client, name: str) -> None:
    pool = world.build_pool()
    key = pool.pk if "pool" in name else pool.runs.first().pk
    client.force_login(world.ada)
    Collection.objects.create(slug="tides", name="Tides")
    assert client.get(reverse(name, args=["tides", key])).status_code == 404


def test_a_viewer_cannot_import(world: World, client: Client) -> None:
    client.force_login(world.vera)
    for name in ("queries", "documents"):
        answer = client.post(reverse(name, args=["harbour"]), {"file": upload("q.tsv", "id\ttext\nq9\tx\n")})
        assert answer.status_code == 403
        assert '<form method="post" enctype' not in text_of(client.get(reverse(name, args=["harbour"])))


@pytest.mark.usefixtures("everyone_creates")
def test_make_and_edit_a_collection(world: World, client: Client) -> None:
    client.force_login(world.dan)
    body = {"name": "Tides", "slug": "tides", "question": "Does it help?", "guidelines": ""}
    assert client.post(reverse("collection_new"), body).url == "/collections/tides/queries/"
    again = client.post(reverse("collection_new"), body)
    assert "already" in text_of(again)
    body = {"name": "High tides", "question": "Does it?", "guidelines": "*Yes* <script>alert(1)</script>"}
    client.post(reverse("collection_edit", args=["tides"]), body)
    page = text_of(client.get(reverse("collection_edit", args=["tides"])))
    assert "<em>Yes</em>" in page
    assert "<script>alert" not in page
    assert Collection.objects.get(slug="tides").name == "High tides"


def test_import_queries_and_documents_from_the_pages(world: World, client: Client) -> None:
    client.force_login(world.ada)
    address = reverse("queries", args=["harbour"])
    answer = client.post(address, {"file": upload("q.tsv", "id\ttext\nq9\t<b>tram</b>\n")}, follow=True)
    assert "Queries: 1 new" in text_of(answer)
    assert "&lt;b&gt;tram" in text_of(answer)
    answer = client.post(address, {"file": upload("q.tsv", "id\ttext\nq9")})
    assert "q.tsv, line 2" in text_of(answer)
    address = reverse("documents", args=["harbour"])
    body = {"file": upload("c.jsonl", '{"_id": "d9", "text": "Tram."}\n'), "only_pooled": "on"}
    assert "1 in no pool and left out" in text_of(client.post(address, body, follow=True))


def test_import_several_runs_at_once(world: World, client: Client) -> None:
    client.force_login(world.ada)
    address = reverse("run_import", args=["harbour"])
    files = [upload("alpha.run", run_text(ALPHA)), upload("beta.run", run_text(BETA))]
    page = text_of(client.post(address, {"file": files}, follow=True))
    assert "Run “alpha”: 9 rows for 3 queries." in page
    assert world.collection.runs.count() == 2
    files = [upload("gamma.run", run_text(ALPHA)), upload("beta.run", run_text(BETA))]
    page = " ".join(text_of(client.post(address, {"file": files}, follow=True)).split())
    assert "Run “beta” already exists" in page
    assert "Import the other<" in page
    assert world.collection.runs.count() == 2
    files = [upload("delta.run", run_text(ALPHA)), upload("epsilon.run", run_text(BETA))]
    page = text_of(client.post(address, {"file": files, "name": "one"}))
    assert "A name works for one file" in page


def test_all_runs_of_a_track_go_in_at_once_and_are_summed_up(
    world: World, client: Client, settings: Settings
) -> None:
    client.force_login(world.ada)
    address = reverse("run_import", args=["harbour"])
    files = [upload(f"run{number}.run", run_text(ALPHA)) for number in range(6)]
    page = text_of(client.post(address, {"file": files}, follow=True))
    assert "6 files were imported: Run “run0”, Run “run1”, Run “run2” and 3 more." in page
    assert world.collection.runs.count() == 6
    assert settings.DATA_UPLOAD_MAX_NUMBER_FILES > 100, "a track has more runs than Django allows files"
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    answer = client.post(address, {"file": files[:3]})
    assert answer.status_code == 400
    assert "A form has at most 1,000 fields and 2 files. Send fewer at a time." in text_of(answer)


def test_a_runs_page_shows_its_preflight(world: World, client: Client) -> None:
    client.force_login(world.ada)
    text = "q1 Q0 d1 1 5 t\nq1 Q0 d2 2 5 t\nx9 Q0 d1 1 1 t\n"
    address = reverse("run_import", args=["harbour"])
    page = text_of(client.post(address, {"file": upload("odd.run", text)}, follow=True))
    assert "2 are not" in page
    assert "x9" in page
    assert "1 query at 1" in page


def test_a_large_upload_leads_to_its_job(
    world: World,
    client: Client,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    client.force_login(world.ada)
    address = reverse("run_import", args=["harbour"])
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(address, {"file": upload("alpha.run", run_text(ALPHA))})
    led = client.get(answer.url, follow=True)
    assert "Run “alpha”: 9 rows" in text_of(led)
    assert led.redirect_chain[-1][0] == world.collection.runs.get().get_absolute_url()


def test_build_a_pool_from_the_page(world: World, client: Client) -> None:
    client.force_login(world.ada)
    runs = world.import_runs()
    body = {"name": "p", "runs": [run.pk for run in runs], "depth": "2", "strategy": "depth", "budget": "6"}
    wrong = text_of(client.post(reverse("pool_new", args=["harbour"]), {**body, "depths.alpha": "-3"}))
    assert "Depth of alpha: Ensure this value is greater than or equal to 1." in wrong
    assert 'name="depths.alpha" min="1" value="-3"' in wrong
    body["depths.alpha"] = "3"
    answer = client.post(reverse("pool_new", args=["harbour"]), {**body, "audit_share": "0.4", "seed": "5"})
    pool = world.collection.pools.get()
    assert answer.url == pool.get_absolute_url()
    assert (pool.strategy, pool.budget, pool.audit_share, pool.seed) == ("depth", 6, 0.4, 5)
    assert "<dt>Depth</dt><dd>2, alpha 3</dd>" in text_of(client.get(pool.get_absolute_url()))
    again = text_of(client.post(reverse("pool_new", args=["harbour"]), body))
    assert "Pool “p” already exists" in again


def test_runs_of_another_collection_cannot_be_pooled(world: World, client: Client) -> None:
    runs = world.import_runs()
    other = Collection.objects.create(slug="tides", name="Tides")
    other.memberships.create(user=world.dan, role="admin")
    client.force_login(world.dan)
    body = {"name": "p", "runs": [runs[0].pk], "depth": "2", "strategy": "rrf"}
    answer = client.post(reverse("pool_new", args=["tides"]), body)
    assert answer.status_code == 200
    assert not other.pools.exists()


def test_a_pools_page_shows_sizes_overlap_and_missing_texts(world: World, client: Client) -> None:
    Document.objects.filter(external_id__in=["d4", "d6"]).delete()
    pool = world.build_pool()
    client.force_login(world.vera)
    page = text_of(client.get(pool.get_absolute_url()))
    assert "2 documents of this pool have no text yet" in page
    # Of alpha's six pairs at depth 2, four are beta's too.
    assert page.count('<td class="heat-7">67</td>') == 2
    listed = text_of(client.get(reverse("documents", args=["harbour"]), {"pool": pool.pk, "text": "missing"}))
    assert listed.count("text not imported") == 2


def test_overlap_is_of_the_runs_that_found_most_alone_and_the_page_says_where_all_are(
    world: World, client: Client
) -> None:
    pool = world.build_pool()
    runs, few = [f"run-{number:02}" for number in range(23)], {"run-05": 0, "run-06": 1, "run-07": 1}
    overlap = [[0.5 + (row - column) / 100 for column in range(23)] for row in range(23)]
    finds = {run: few.get(run, 9) for run in runs}
    pool.diagnostics |= {"runs": runs, "overlap": overlap, "unique_finds": finds, "contributed": finds}
    pool.save()
    client.force_login(world.vera)
    page = " ".join(text_of(client.get(pool.get_absolute_url())).split())
    assert page.count("heat-") == 20 * 19
    assert 'title="run-08"' in page
    assert 'title="run-05"' not in page
    assert "run-18, run-19 and 3 more</dd>" in page
    assert "Of all runs, run-00 has most of run-22 (72 %), and run-22 has least of run-00 (28 %)" in page
    call = f"/api/pools/{pool.pk}/diagnostics/"
    assert "The 20 runs that found most alone; get the 3 others from" in page
    assert f'<a class="mono" href="{call}">' in page
    assert len(client.get(call).json()["overlap"]) == 23


def test_a_pools_page_shows_finds_by_run_families_and_thin_queries(world: World, client: Client) -> None:
    runs = world.import_runs()
    path = world.folder / "twin.run"
    path.write_text(run_text({**ALPHA, "q3": ["d3"]}))
    runs.append(import_run(world.collection, path))
    pool = build_pool(world.collection, name="kin", runs=runs, depth=3)
    client.force_login(world.vera)
    page = text_of(client.get(pool.get_absolute_url()))
    assert 'class="curve"' in page
    assert 'text-anchor="end">10</text>' in page
    assert "Depth: ranks taken from each run" in page
    assert "Thin queries" in page
    families = pool.diagnostics["families"]
    assert ("nearly the same list as" in page) == bool(families)
    pool.diagnostics = {**pool.diagnostics, "families": [["alpha", "twin"]]}
    pool.diagnostics["thin"] = {"below": 3, "count": 1, "queries": [["q3", 2]]}
    pool.save()
    page = text_of(client.get(pool.get_absolute_url()))
    assert "nearly the same list as twin" in page
    assert "1 query has fewer than 3 pairs" in page


def test_a_pool_is_offered_every_strategy_with_words(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    page = text_of(client.get(reverse("pool_new", args=["harbour"])))
    listed = client.get("/api/strategies/").json()
    assert [strategy["name"] for strategy in listed] == list(STRATEGIES)
    for strategy in listed:
        assert f"{strategy['name']}: {strategy['summary']}" in page


def test_a_query_of_a_pool_shows_who_found_what(world: World, client: Client) -> None:
    pool = world.build_pool()
    client.force_login(world.vera)
    address = reverse("pool_pairs", args=["harbour", pool.pk])
    assert "bicycle on ferry" in text_of(client.get(address))
    page = text_of(client.get(address, {"query": "q2"}))
    assert "alpha (2)" in page
    assert "beta (1)" in page
    assert client.get(address, {"query": "q9"}).status_code == 404


def test_the_download_is_the_table_of_the_command(world: World, client: Client) -> None:
    pool = world.build_pool()
    client.force_login(world.vera)
    answer = client.get(reverse("pool_download", args=["harbour", pool.pk]))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].startswith("query_id\tdocument_id\tposition")
    assert len(lines) == 9
    assert "attachment" in answer["Content-Disposition"]


def make_large(world: World, path: Path, queries: int, documents: int) -> int:
    """A pool of `queries` × `documents` pairs, and its key."""
    names = [f"big{number}" for number in range(queries)]
    Query.objects.bulk_create(
        Query(collection=world.collection, external_id=name, text=name) for name in names
    )
    path.write_text(run_text({name: [f"{name}-{rank}" for rank in range(documents)] for name in names}))
    from pooling.runs.stored import import_run

    run = import_run(world.collection, path, name=f"big{queries}")
    pool = build_pool(world.collection, name=f"big{queries}", runs=[run], depth=documents)
    assert PoolEntry.objects.filter(pool=pool).count() == queries * documents
    return int(pool.pk)


def test_pages_take_as_many_queries_for_a_large_collection_as_for_a_small_one(
    world: World, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pool = make_large(world, world.folder / "big.run", 120, 60)
    client.force_login(world.vera)
    pages = [reverse(name, args=["harbour"]) for name in READ]
    pages += [reverse(name, args=["harbour", pool]) for name in ("pool", "pool_pairs")]
    pages += [f"{pages[-1]}?query=big7", f"{pages[1]}?pool={pool}&text=missing", f"{pages[0]}?page=3"]
    for address in pages:
        # Session, user, collection, membership, and a handful for the page itself.
        with django_assert_max_num_queries(10):
            assert client.get(address).status_code == 200


@pytest.mark.parametrize("page", ["0", "999", "x"])
def test_a_page_that_is_not_there_is_the_nearest_one(world: World, client: Client, page: str) -> None:
    client.force_login(world.vera)
    assert "night bus" in text_of(client.get(reverse("queries", args=["harbour"]), {"page": page}))


def test_odd_searches_are_answered(world: World, client: Client) -> None:
    pool = world.build_pool()
    client.force_login(world.vera)
    for text in ["%", "' OR 1=1", "9" * 40]:
        for address in (*(reverse(name, args=["harbour"]) for name in READ), pool.get_absolute_url()):
            assert client.get(address, {"q": text, "pool": text}).status_code in (200, 404)
        pairs = reverse("pool_pairs", args=["harbour", pool.pk])
        assert client.get(pairs, {"query": text}).status_code == 404


@pytest.mark.usefixtures("everyone_creates")
@pytest.mark.parametrize(
    ("slug", "told"),
    [
        ("harbour", "A collection with this short name already exists."),
        ("not one word", "Use only the letters a to z, digits, hyphens and underscores."),
    ],
)
def test_a_short_name_that_cannot_be_is_refused_in_the_words_of_the_form(
    world: World, client: Client, slug: str, told: str
) -> None:
    client.force_login(world.ada)
    body = {"name": "Tides", "slug": slug, "question": "Does it help?"}
    page = client.post("/new-collection/", body).content.decode()
    assert told in page
    assert 'value="Tides"' in page
