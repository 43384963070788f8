"""Adaptive queues whose order starts from a model's scores: what moves, what stays, what nobody sees."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from labeling.adaptive import prior as adaptive_prior
from labeling.adaptive import reordering
from labeling.adaptive.finishing import finish_queries
from labeling.adaptive.next_documents import summed
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.planners import history_of, planner_of
from labeling.adaptive.query_state import read_state
from labeling.adaptive.state import order_by_query
from labeling.judging.leases import claim
from labeling.models import Prelabel, Prelabeler, QueryPlan, Queue, Selection
from labeling.qrels.releases import release_qrels
from labeling.queues.score_order import order_by_scores, order_without_scores
from pooling.interface.problems import InputError
from pooling.models import AdminAction, Job
from pooling.strategies import STRATEGIES
from tests.labeling.helpers import SENTINEL, judge, make_adaptive_pool, make_adaptive_queue, make_prelabels
from tests.world import World

pytestmark = pytest.mark.django_db
MODEL = "oracle-7b"
#: What the runs have last, and an odd figure that is easily found.
MIDDLE = {"d3": 0.9718, "d4": 0.95}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reordering, "BATCH", 2)


@pytest.fixture
def api(world: World) -> APIClient:
    client = APIClient()
    client.force_authenticate(world.ada)
    return client


def scored(world: World, scores: Mapping[str, float], model: str = MODEL) -> Prelabeler:
    """A model that has scored these documents for every query, and no others."""
    prelabeler = make_prelabels(world, model)
    said = Prelabel.objects.filter(prelabeler=prelabeler)
    said.exclude(document__external_id__in=scores).delete()
    for name, score in scores.items():
        said.filter(document__external_id=name).update(score=score)
    return prelabeler


def one_query(world: World, **options: Any) -> Queue:
    """Six documents of one query: run 0 has d1, d2, d3, and run 1 d6, d5, d4."""
    return make_adaptive_queue(world, queries=1, documents=6, **{"audit_share": 0.0, **options})


def ahead(queue: Queue) -> list[str]:
    """The next two documents of which nothing was handed out, as they are shown."""
    plan = QueryPlan.objects.get(selection=queue.pk)
    shown = queue.items.filter(document__in=plan.ahead[0][0]).order_by("order_key")
    return list(shown.values_list("document__external_id", flat=True))


def judge_some(queue: Queue, world: World, count: int) -> None:
    for lease in claim(queue, world.ben, count).leases:
        is_relevant = lease.item.document.external_id in ("d1", "d2", "d5")
        judge(queue, world.ben, lease.item_id, "relevant" if is_relevant else "not_relevant")


def test_what_was_not_begun_starts_from_the_scores_and_without_them_again(world: World) -> None:
    queue = one_query(world)
    claim(queue, world.cleo, 1)
    before = dict(queue.items.filter(document__external_id__in=("d1", "d6")).values_list("pk", "order_key"))
    prelabeler = scored(world, MIDDLE)
    assert order_by_scores(queue, prelabeler, by=world.ada) == 4
    assert set(ahead(queue)) == {"d3", "d4"}
    selection = Selection.objects.get(queue=queue)
    assert (selection.prior, selection.prior_votes) == (prelabeler, 1)
    assert order_without_scores(queue, by=world.ada) == 4
    assert set(ahead(queue)) == {"d2", "d5"}
    assert dict(queue.items.filter(pk__in=before).values_list("pk", "order_key")) == before
    actions = AdminAction.objects.filter(action__startswith="queue ordered").order_by("pk")
    assert [(one.action, one.detail) for one in actions] == [
        ("queue ordered by pre-labels", {"model": str(prelabeler), "votes": 1}),
        ("queue ordered without pre-labels", {}),
    ]


def test_a_batch_is_shown_in_the_same_order_whatever_the_scores_within_it(world: World) -> None:
    queue = one_query(world)
    order_by_scores(queue, scored(world, {"d3": 0.9, "d4": 0.8}))
    shown = ahead(queue)
    order_by_scores(queue, scored(world, {"d3": 0.8, "d4": 0.9}, "the other way"))
    assert ahead(queue) == shown


def test_queries_teach_each_other_anew_when_scores_are_taken_up_changed_or_put_away(world: World) -> None:
    """Every query is ordered by what the labels of all queries say of these runs, and of these votes."""
    queue = make_adaptive_queue(world, documents=6, audit_share=0.0)
    judge_some(queue, world, 8)
    taught = [bytes(Selection.objects.get(queue=queue).lessons)]
    for prelabeler in (scored(world, MIDDLE), scored(world, {"d1": 0.9, "d5": 0.8}, "another"), None):
        if prelabeler:
            order_by_scores(queue, prelabeler)
        else:
            order_without_scores(queue)
        selection = Selection.objects.get(queue=queue)
        plans = list(selection.plans.select_related("query").order_by("place"))
        lessons = b""
        for plan in plans:
            lessons = summed(lessons, more=bytes(plan.lesson))
        # The last digits hang on the order in which they were summed.
        assert len(lessons) == len(bytes(selection.lessons))
        planners, known = [], []
        for plan in plans:
            state = read_state(queue, plan.query_id)
            planners.append(planner_of(selection, plan, state))
            known.append(history_of(plan, state))
            planners[-1].tell(known[-1])
        together = STRATEGIES["learned"].start({one.one.query_id: one.one for one in planners})
        for planner, one in zip(planners, known, strict=True):
            for document in one.reached:
                if document in one.labels:
                    together.tell_number(planner.one, planner.number[document], one.labels[document])
        for plan, planner, one in zip(plans, planners, known, strict=True):
            assert planner.strategy.score(planner.one) == pytest.approx(together.score(planner.one), abs=1e-9)
            ahead = planner.batches(one, plan.budget, 2)
            assert [batch.handed for batch in ahead] == [handed for handed, _, _ in plan.ahead]
        taught.append(bytes(selection.lessons))
    assert [len(one) // 8 - 2 for one in taught] == [2 + 4, 3 + 9, 3 + 9, 2 + 4]
    assert taught[1] != taught[2]


def test_scores_that_come_later_count_from_the_next_order_on_and_cost_one_statement(world: World) -> None:
    queue = one_query(world)
    with CaptureQueriesContext(connection) as without:
        reordering.order_anew(queue)
    order_by_scores(queue, scored(world, MIDDLE))
    late = Prelabel.objects.filter(document__external_id__in=MIDDLE)
    version = late[0].document_version
    late.update(document_version=version + 1)
    reordering.order_anew(queue)
    with CaptureQueriesContext(connection) as with_scores:
        reordering.order_anew(queue)
    assert len(with_scores) == len(without) + 1
    assert set(ahead(queue)) == {"d1", "d6"}
    late.update(document_version=version)
    reordering.order_anew(queue)
    assert set(ahead(queue)) == set(MIDDLE)


def test_what_will_not_do_is_refused_and_nothing_changes(world: World) -> None:
    queue = one_query(world, audit_share=0.3)
    with pytest.raises(InputError, match="there are no scores to remove"):
        order_without_scores(queue)
    empty = Prelabeler.objects.create(collection=world.collection, model="empty", options_hash="e")
    with pytest.raises(InputError, match="no pre-labels by empty"):
        order_by_scores(queue, empty)
    prelabeler = scored(world, MIDDLE)
    finish_queries(queue, None)
    with pytest.raises(InputError, match="has no pairs left that could be moved"):
        order_by_scores(queue, prelabeler)
    assert Selection.objects.get(queue=queue).prior is None
    assert not AdminAction.objects.filter(action__startswith="queue ordered").exists()


def test_many_queries_are_put_in_order_by_a_job(
    world: World, api: APIClient, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adaptive_prior, "AT_ONCE", 1)
    queue, prelabeler = make_adaptive_queue(world), scored(world, MIDDLE)
    page = f"/queues/{queue.pk}/prelabels/order/"
    started = api.post(f"/api{page}", {"prelabeler": prelabeler.pk}, format="json")
    assert started.status_code == 202
    job = Job.objects.get(pk=started.json()["job"])
    # It counts at once; each query follows when it is next ordered, the others by the worker.
    assert Selection.objects.get(queue=queue).prior == prelabeler
    client.force_login(world.ada)
    again = client.post(page, {"without": "1"})
    assert again["Location"] == f"/jobs/{Job.objects.latest('pk').pk}/"
    reports: list[float] = []
    result = adaptive_prior._follow_in_background(job, lambda share, detail: reports.append(share))
    assert result["moved"] == 9
    assert reports == sorted(reports)
    assert reports[-1] < 1


def test_a_queue_opens_with_scores_by_function_call_page_and_command(
    world: World, api: APIClient, client: Client
) -> None:
    prelabeler = scored(world, MIDDLE)
    queue = one_query(world, adaptive=AdaptiveOptions(prior=prelabeler.pk))
    assert set(ahead(queue)) == set(MIDDLE)
    pool = make_adaptive_pool(world)
    body: dict[str, Any] = {"adaptive": True, "prior": prelabeler.pk, "name": "by call"}
    assert api.post(f"/api/pools/{pool.pk}/queue/", body, format="json").status_code == 201
    client.force_login(world.ada)
    assert MODEL in client.get("/collections/harbour/queues/new/").content.decode()
    form = {**body, "pool": pool.pk, "judgments_per_item": 1, "name": "by page", "adaptive": "on"}
    assert client.post("/collections/harbour/queues/new/", form).status_code == 302
    said = io.StringIO()
    options = ["--adaptive", "--prior", str(prelabeler.pk), "--name", "by command"]
    call_command("open_queue", "harbour", pool.name, *options, stdout=said)
    assert f"which starts from the scores of {prelabeler}" in said.getvalue()
    assert set(Selection.objects.values_list("prior", "prior_votes")) == {(prelabeler.pk, 1)}
    assert AdminAction.objects.filter(action="queue ordered by pre-labels").count() == 4


def test_scores_are_taken_up_and_put_away_by_command(world: World) -> None:
    queue, prelabeler = one_query(world, name="live"), scored(world, MIDDLE)
    said = io.StringIO()
    call_command("order_queue", "harbour", "live", "--by", MODEL, stdout=said)
    assert (
        f"“live”: 6 pairs that nobody had judged, in the order of {prelabeler}; 4 of them without a score."
        in said.getvalue()
    )
    assert set(ahead(queue)) == set(MIDDLE)
    with pytest.raises(CommandError, match="--prompt belongs to --by"):
        call_command("order_queue", "harbour", "live", "--without-scores", "--prompt", "binary")
    call_command("order_queue", "harbour", "live", "--without-scores", stdout=said)
    assert "“live”: 6 pairs that nobody had judged, in order without scores again." in said.getvalue()
    assert set(ahead(queue)) == {"d1", "d6"}
    with pytest.raises(CommandError, match="there are no scores to remove"):
        call_command("order_queue", "harbour", "live", "--without-scores")


def test_a_queue_is_not_opened_with_scores_that_there_are_not(world: World) -> None:
    prelabeler = scored(world, MIDDLE)
    Prelabel.objects.all().delete()
    for prior, words in ((prelabeler.pk + 1, "Known: "), (prelabeler.pk, "There are no pre-labels by")):
        with pytest.raises(InputError, match=words) as refused:
            make_adaptive_queue(world, adaptive=AdaptiveOptions(prior=prior))
        assert "prior" in refused.value.fields
    assert not Queue.objects.exists()


def test_the_queue_its_progress_and_a_release_say_where_the_order_starts(
    world: World, api: APIClient, client: Client
) -> None:
    queue, prelabeler = make_adaptive_queue(world, documents=6), scored(world, MIDDLE)
    client.force_login(world.ada)
    page = f"/queues/{queue.pk}/prelabels/"
    assert "Order by these scores" in client.get(page).content.decode()
    posted = client.post(f"{page}order/", {"prelabeler": prelabeler.pk}, follow=True)
    assert "Order without scores" in posted.content.decode()
    words = (
        f"The order starts from the scores of {prelabeler}, as from 1 more run; labels then set their weight."
    )
    assert words in client.get(f"/queues/{queue.pk}/").content.decode()
    assert words in api.get(f"/api/queues/{queue.pk}/progress/").json()["order"]["sentences"]
    told = api.get(f"/api/queues/{queue.pk}/selection/").json()
    assert (told["prior"], told["prior_votes"]) == (str(prelabeler), 1)
    judge_some(queue, world, 2)
    assert str(prelabeler) in json.dumps(release_qrels(world.collection, name="first").sidecar)
    client.post(f"{page}order/", {"without": "1"})
    assert (order_by_query(queue) or {})["prior"] is None


def test_nothing_of_the_scores_is_on_the_wire_for_who_judges(world: World, client: Client) -> None:
    queue, prelabeler = make_adaptive_queue(world, documents=6), scored(world, MIDDLE)
    order_by_scores(queue, prelabeler)
    api = APIClient()
    api.force_authenticate(world.ben)
    client.force_login(world.ben)
    page, call = f"/queues/{queue.pk}/", f"/api/queues/{queue.pk}/"
    answers = [
        *(client.get(page + rest) for rest in ("", "judge/", "mine/", "prelabels/", "judged/")),
        *(client.get(f"/collections/harbour/{rest}") for rest in ("", "queues/", "queues/new/")),
        *(api.get(call + rest) for rest in ("progress/", "selection/", "prelabels/")),
        api.post(call + "claim/", {"count": 10}, format="json"),
        *(
            client.post(f"{page}prelabels/order/", {word: prelabeler.pk})
            for word in ("prelabeler", "without")
        ),
        api.post(f"{call}prelabels/order/", {"prelabeler": None}, format="json"),
    ]
    assert sum(answer.status_code == 200 for answer in answers) >= 6
    for answer in answers:
        for word in (SENTINEL, "0.9718", MODEL, "prior"):
            assert word.encode() not in answer.content, answer.request
    assert Selection.objects.get(queue=queue).prior == prelabeler
    assert QueryPlan.objects.filter(selection=queue.pk).count() == 3
