"""The home page and a collection's overview: who sees what, and what is next."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from evaluation.models import Report
from evaluation.reports.summaries import change_of, history_of
from evaluation.scoring.conventions import Conventions
from labeling.adaptive.options import AdaptiveOptions
from labeling.judging.leases import claim
from labeling.models import Item, Queue
from labeling.progress.counts import queue_progress
from labeling.progress.of_collection import judging_of, queue_states
from labeling.queues.costs import change_prices
from labeling.queues.opening import open_queue
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Membership, Pool, Query, Role
from pooling.pools.building import build_pool
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from pooling.tidying.doing import delete
from soundings.pages.next_step import next_of
from soundings.pages.overview import state_of, with_state
from tests.evaluation.cast import make_release, make_report
from tests.labeling.helpers import judge, make_adaptive_queue
from tests.labeling.helpers import make_queue as make_small_queue
from tests.world import DOCUMENTS, World, run_text


def make_queue(world: World, closed: int = 2) -> Queue:
    """A queue over every pair, without a pool's machinery, of which `closed` pairs are done."""
    pool = Pool.objects.create(collection=world.collection, name="all", depth=3, strategy="rrf")
    queue = Queue.objects.create(collection=world.collection, pool=pool, name="first round")
    pairs = [(query, document) for query in Query.objects.all() for document in Document.objects.all()]
    for place, (query, document) in enumerate(pairs):
        state = Item.State.DONE if place < closed else Item.State.OPEN
        Item.objects.create(
            queue=queue,
            query=query,
            document=document,
            order_key=place + 1,
            needed=1,
            needed_at_least=1,
            needed_at_most=1,
            state=state,
        )
    return queue


def next_in(collection: Collection) -> str:
    known = with_state(Collection.objects.filter(pk=collection.pk)).get()
    return next_of(state_of(known, queue_states([collection.pk]).get(collection.pk, []))).action


def page(client: Client, user: User, path: str) -> str:
    client.force_login(user)
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_the_home_page_needs_a_sign_in(client: Client) -> None:
    assert client.get("/")["Location"] == "/sign-in/?next=/"


def test_a_first_visit_is_told_the_way_and_how_to_be_invited(world: World, client: Client) -> None:
    text = page(client, world.dan, "/")
    assert "From run files to Recall@K" in text
    assert "<strong>dan</strong>" in text
    assert "Harbour" not in text


def test_the_home_page_shows_role_progress_and_the_next_step(world: World, client: Client) -> None:
    make_queue(world)
    assert "2 of 18 pairs closed (11 %)" in page(client, world.ada, "/")
    assert "Import a run" in page(client, world.ada, "/")
    assert "Import a run" not in page(client, world.ben, "/")


def test_judging_is_one_click_from_home_for_whoever_has_one_queue(world: World, client: Client) -> None:
    assert "Your queues" in page(client, world.ben, "/")
    queue = make_queue(world)
    address = f'<a class="button primary" href="/queues/{queue.pk}/judge/">Judge'
    assert address in page(client, world.ben, "/")
    second = Pool.objects.create(collection=world.collection, name="more", depth=3, strategy="rrf")
    Queue.objects.create(collection=world.collection, pool=second, name="second round")
    assert "Your queues" in page(client, world.ben, "/")
    assert address not in page(client, world.ben, "/")


def test_an_admin_gets_the_button_of_the_next_step_and_a_viewer_does_not(
    world: World, client: Client
) -> None:
    button = 'class="button primary" href="/collections/harbour/runs/'
    assert button in page(client, world.ada, "/collections/harbour/")
    assert button not in page(client, world.vera, "/collections/harbour/")


def test_an_annotator_sees_their_queues_and_the_guidelines_but_not_the_way(
    world: World, client: Client
) -> None:
    queue = make_queue(world)
    text = page(client, world.ben, "/collections/harbour/")
    assert f"/queues/{queue.pk}/judge/" in text
    assert "you judged 0" in text
    assert "closed" not in text
    assert "Relevant <em>helps</em>." in text
    assert "From queries to a report" not in text


def test_guidelines_cannot_carry_a_script(world: World, client: Client) -> None:
    world.collection.guidelines = "<script>alert(1)</script> [x](javascript:alert(2))"
    world.collection.save(update_fields=["guidelines"])
    text = page(client, world.ada, "/collections/harbour/")
    assert "<script>alert" not in text
    assert 'href="javascript:' not in text


def test_the_next_step_follows_the_data(world: World) -> None:
    empty = Collection.objects.create(slug="empty", name="Empty")
    assert next_in(empty) == "Import queries"
    Query.objects.create(collection=empty, external_id="q", text="text")
    assert next_in(empty) == "Import documents"
    Document.objects.create(collection=empty, external_id="d", text=None)
    assert next_in(empty) == "Import documents"
    Document.objects.create(collection=empty, external_id="e", text="")
    assert next_in(empty) == "Import a run"
    assert next_in(world.collection) == "Import a run"
    runs = world.import_runs()
    assert next_in(world.collection) == "Build a pool"
    queue = open_queue(build_pool(world.collection, name="p", runs=runs, depth=2), user=world.ada)
    assert next_in(world.collection) == "Judge"
    queue.items.update(state=Item.State.DONE)
    assert next_in(world.collection) == "Release and measure"
    release = make_release(world)
    assert next_in(world.collection) == "Make a report"
    job = world.collection.jobs.create(kind="report", state="running")
    assert next_in(world.collection) == "See how far it is"
    job.delete()
    make_report(world)
    assert next_in(world.collection) == "Import a run"
    Queue.objects.update(opened_at=release.released_at + timedelta(days=1))
    assert next_in(world.collection) == "Release and measure"  # on the home page, which counts no labels


def test_home_counts_what_a_collection_without_queues_has(world: World, client: Client) -> None:
    world.import_runs()
    text = " ".join(page(client, world.ada, "/").split())
    assert "3 queries, 2 runs; nothing to judge yet." in text


def test_judgments_of_a_deleted_queue_are_no_lack_of_judgments(world: World, client: Client) -> None:
    queue = open_queue(world.build_pool(), name="gone", user=world.ada)
    judge(queue, world.ben, claim(queue, world.ben, 1).leases[0].item_id)
    delete(queue, by=world.ada)
    assert next_in(world.collection) == "Release and measure"
    assert "only in queues that are archived or deleted" in page(client, world.ada, "/collections/harbour/")


def test_an_overview_counts_documents_that_are_not_put_away(world: World, client: Client) -> None:
    made = [
        Document(
            collection=world.collection, external_id=f"{when}{text}", text=text, **{when: timezone.now()}
        )
        for when in ("archived_at", "deleted_at")
        for text in ("a text", None)
    ]
    unknown = [Document(collection=world.collection, external_id=f"pooled {at}") for at in range(2)]
    Document.objects.bulk_create([*made, *unknown])
    text = page(client, world.vera, "/collections/harbour/")
    assert f"{len(DOCUMENTS)} documents" in text
    assert "; 2 pooled documents without a text" in text


def test_after_an_import_an_admin_reads_what_comes_next(world: World, client: Client) -> None:
    client.force_login(world.ada)
    file = SimpleUploadedFile("more.tsv", b"id\ttext\nq9\tlast tram\n")
    told = client.post("/collections/harbour/queries/", {"file": file}, follow=True).content.decode()
    assert "There are no runs yet." in told
    assert "There are no runs yet." not in page(client, world.ada, "/collections/harbour/queries/")


def test_an_overview_with_reports_shows_the_newest_answer_with_its_change_and_line(
    world: World, client: Client
) -> None:
    make_report(world, "q1 0 d1 1\nq2 0 d2 1\n", k=(1,))
    make_release(world, "q1 0 d4 1\n", name="later")
    report = make_report(world, k=(1,))
    text = page(client, world.vera, "/collections/harbour/")
    assert f'<a href="/reports/{report.pk}/">{report.name}</a>' in text
    assert report.summary["answer"]["sentence"] in text
    # alpha@1 found all, and finds one of two for q1 now; beta found nothing, and finds the other.
    assert "Recall@1 of alpha in 2 reports, oldest first: 1.000, 0.750" in text
    assert "Recall@1 of beta in 2 reports, oldest first: 0.000, 0.250" in text
    assert "−0.250 with other labels since" in text
    assert "+0.250" in text
    assert "From queries to a report" not in text
    assert "Release and measure" not in text  # Vera looks on


def test_reports_that_count_otherwise_are_no_change(world: World) -> None:
    make_report(world, k=(1, 2))
    make_report(world, k=(1, 2), conventions=Conventions(min_relevance=2))
    newest, earlier = history_of(world.collection)
    assert change_of("alpha", newest, [earlier]) is None


def test_a_summary_that_another_version_stored_is_made_again_when_it_is_shown(
    world: World, report: Report, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Report.objects.update(summary={**report.summary, "version": 0})
    assert [told.summary for told in history_of(world.collection)] == [report.summary]
    with django_assert_num_queries(1):
        history_of(world.collection)


def test_a_run_that_no_pool_has_is_next_with_the_pairs_it_brings(world: World, client: Client) -> None:
    pool = world.build_pool()
    queue = open_queue(pool, seed=1, user=world.ada)
    queue.items.update(state=Item.State.DONE)
    make_report(world)
    path = world.folder / "gamma.run"
    path.write_text(run_text({"q1": ["d1", "d3", "d6"], "q2": ["d5", "d6"]}))
    import_run(world.collection, path, user=world.ada)
    text = page(client, world.ada, "/collections/harbour/")
    # At the pool's depth of 2, d3 and d5 are new.
    assert "2 new pairs from gamma." in text
    assert f"/pools/{pool.pk}/extend/" in text


def test_what_only_the_audit_may_draw_is_no_new_pair_of_a_run(world: World, client: Client) -> None:
    runs = world.import_runs()
    pool = build_pool(world.collection, name="p", runs=runs, depth=2, budget=6, audit_share=0.5, reach=100)
    queue = open_queue(pool, seed=1, user=world.ada)
    queue.items.update(state=Item.State.DONE)
    make_report(world)
    again = import_run(world.collection, world.folder / "alpha.run", name="alpha again", user=world.ada)
    assert "from alpha again" not in page(client, world.ada, "/collections/harbour/")
    with pytest.raises(InputError, match="Nothing is new"):
        extend_pool(pool, runs=[again])


def test_spent_money_and_the_end_are_those_of_the_queue_s_own_page(world: World, client: Client) -> None:
    queue = open_queue(world.build_pool(), seed=1, user=world.ada)
    change_prices(queue, {"price_per_judgment": 0.5, "currency": "EUR"})
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id)
    progress = queue_progress(queue)
    (state,) = queue_states([world.collection.pk])[world.collection.pk]
    judging = judging_of(world.collection, [state])
    assert judging.spent == [(progress["cost"]["spent"], "EUR")]
    assert (judging.pairs, judging.left) == (progress["items"]["total"], progress["items"]["open"])
    assert judging.end_date is not None
    assert judging.people == 1
    assert "1.00 EUR spent" in page(client, world.ada, "/collections/harbour/")


def test_an_adaptive_queue_that_spent_its_budget_has_nothing_left(world: World) -> None:
    queue = make_adaptive_queue(world, adaptive=AdaptiveOptions(budget=4))
    while leases := claim(queue, world.ben, 4).leases:
        for lease in leases:
            judge(queue, world.ben, lease.item_id)
    (state,) = queue_states([world.collection.pk])[world.collection.pk]
    assert (state.pairs, state.left, state.is_finished, state.percent) == (4, 0, True, 100)
    assert judging_of(world.collection, [state]).left == 0


def test_the_home_page_has_the_newest_answer_of_each_collection(
    world: World, report: Report, client: Client
) -> None:
    answer = report.summary["answer"]
    assert f"Recall@{answer['k']} {answer['recall']:.3f}" in page(client, world.vera, "/")
    assert "Recall@" not in page(client, world.ben, "/")


def test_home_shows_fifty_collections_at_a_time(world: World, client: Client) -> None:
    made = Collection.objects.bulk_create(
        Collection(slug=f"more-{number:02}", name=f"More {number:02}") for number in range(60)
    )
    Membership.objects.bulk_create(
        Membership(collection=one, user=world.ada, role=Role.ADMIN) for one in made
    )
    client.force_login(world.ada)
    first, second = (client.get("/", {"page": number}) for number in (1, 2))
    assert [len(page.context["listed"]) for page in (first, second)] == [50, 11]
    assert "Page 1 of 2" in first.content.decode()


def test_an_annotator_reads_at_a_queue_that_nothing_is_left_for_them(world: World, client: Client) -> None:
    queue = make_small_queue(world, pairs=2)
    client.force_login(world.ben)
    assert "Nothing left for you." not in client.get("/collections/harbour/").content.decode()
    while leases := claim(queue, world.ben).leases:
        judge(queue, world.ben, leases[0].item_id)
    assert "Nothing left for you." in client.get("/collections/harbour/").content.decode()
