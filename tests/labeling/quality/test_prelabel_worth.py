"""Whether pre-labels pay: which labels count, the page and the interface, verification samples."""

from __future__ import annotations

import io
import json
import re
from itertools import product

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Exists
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from rest_framework.test import APIClient

from labeling.exposure.use import PrelabelUse, change_use
from labeling.judging.verdicts import undo
from labeling.models import Item, JudgmentEvent, Prelabel, Prelabeler, QueryPlan, Queue
from labeling.quality.blind_labels import blind_labels, inclusion_probabilities
from labeling.quality.samples import Wanted, open_sample, samples_of
from labeling.quality.worth import worth, worth_of_all
from labeling.queues.opening import open_queue
from pooling.interface.problems import InputError
from pooling.models import Document, Pool, PoolEntry, Query
from tests.labeling.helpers import judge, make_adaptive_queue, make_prelabels, make_queue
from tests.world import World

# `tests/soundings/test_api_docs.py` looks for it in the description of the interface.
OF_SAVED_JUDGMENTS = re.compile(
    r"judge?ments? saved|saves? [^.]{0,30}judge?ments|per_label_saved", re.IGNORECASE
)
pytestmark = pytest.mark.django_db
WHOLE = {"negatives": Wanted("half_width", 0.001), "positives": Wanted("half_width", 0.001)}


def many_pairs(world: World, queries: int = 8, documents: int = 10) -> Prelabeler:
    """Pairs beyond the world's: of each query, document 0 to 4 are relevant and 3 to 7 are called so."""
    Query.objects.bulk_create(
        Query(
            collection=world.collection,
            external_id=f"m{number}",
            text=f"question {number}",
            metadata={"tags": ["even" if number % 2 == 0 else "odd"]},
        )
        for number in range(queries)
    )
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"m{number}", title="", text=f"text {number}")
        for number in range(documents)
    )
    prelabeler = Prelabeler.objects.create(
        collection=world.collection, model="large", prompt="graded", prompt_version=1, options_hash="large"
    )
    pairs = product(Query.objects.filter(external_id__startswith="m"), range(documents))
    texts = {one.external_id: one for one in Document.objects.all()}
    Prelabel.objects.bulk_create(
        Prelabel(
            prelabeler=prelabeler,
            query=query,
            document=texts[f"m{number}"],
            verdict="relevant" if 3 <= number <= 7 else "not_relevant",
            score=0.8 if 3 <= number <= 7 else 0.2,
            document_version=1,
            cost="0.001",
            created_at=timezone.now(),
        )
        for query, number in pairs
    )
    return prelabeler


def judge_all(world: World, queue: Queue) -> None:
    for item in queue.items.select_related("document").filter(state=Item.State.OPEN):
        relevant = int(item.document.external_id[1:]) < 5
        judge(queue, world.ben, item.pk, "relevant" if relevant else "not_relevant")


@pytest.fixture
def prelabeler(world: World) -> Prelabeler:
    return many_pairs(world)


@pytest.fixture
def judged(world: World, prelabeler: Prelabeler) -> Queue:
    queue = open_sample(prelabeler, **WHOLE, by=world.ada)
    judge_all(world, queue)
    return queue


def test_a_verdict_after_the_pre_label_was_seen_is_no_blind_label(world: World) -> None:
    queue = make_queue(world, needed=3)
    first, second, third = queue.items.order_by("pk")[:3]
    judge(queue, world.ben, first.pk, "relevant", key="one")
    judge(queue, world.ben, first.pk, "not_relevant", key="two")
    JudgmentEvent.objects.filter(key="one").update(prelabel_seen="after")
    JudgmentEvent.objects.filter(key="two").update(prelabel_seen="before")
    judge(queue, world.ben, second.pk, "relevant", key="three")
    JudgmentEvent.objects.filter(key="three").update(prelabel_seen="before")
    judge(queue, world.ben, third.pk, "relevant", key="four")
    judge(queue, world.cleo, third.pk, "not_relevant", key="five")
    found = {pair: label.relevant for pair, label in blind_labels(world.collection).items()}
    assert found == {(first.query_id, first.document_id): True}
    undo(queue, world.cleo, "five")
    found = {pair: label.relevant for pair, label in blind_labels(world.collection).items()}
    assert found[third.query_id, third.document_id] is True


@pytest.mark.anywhere
def test_every_figure_comes_from_the_blind_labels(judged: Queue, prelabeler: Prelabeler) -> None:
    found = worth(prelabeler)
    assert vars(found["confusion"]) == {"both": 16, "model_only": 24, "person_only": 24, "neither": 16}
    shares = {one["name"]: one["value"] for one in found["shares"]}
    assert shares["missed"] == pytest.approx(0.6)
    assert shares["elusion"] == pytest.approx(0.6)
    assert found["cost"]["per_pair"] == pytest.approx(0.001)
    assert found["verdict"].startswith("On 80 blind labels of 8 queries there is no evidence that this model")
    assert [(row["tag"], row["labels"]) for row in found["by_tag"]] == [("even", 40), ("odd", 40)]
    assert (len(found["by_query"]), found["by_query"][0]["missed"]) == (8, 3)
    assert [(one.low, one.relevant.labels) for one in found["calibration"].bins] == [
        (0.2, 40),
        (0.8, 40),
    ]


def test_below_fifty_labels_there_is_no_verdict(world: World) -> None:
    make_prelabels(world)
    queue = make_queue(world)
    judge(queue, world.ben, queue.items.order_by("pk")[0].pk)
    (row,) = worth_of_all(world.collection)
    assert (row["verdict"], row["labels"]) == (None, 1)
    assert row["why"] == "1 blind label of 1 query so far; the verdict comes at 50 of 8 queries."


def test_negatives_and_positives_judged_at_unequal_shares_weigh_by_how_many_there_are(
    world: World, prelabeler: Prelabeler
) -> None:
    few = Wanted("half_width", 0.3)
    queue = open_sample(prelabeler, few, Wanted("half_width", 0.001), by=world.ada, seed=3)
    judge_all(world, queue)
    found = worth(prelabeler)
    assert found["weighed"]
    cells = found["confusion"]
    assert cells.person_only + cells.neither == 9
    called = next(one["value"] for one in found["shares"] if one["name"] == "called")
    assert called == pytest.approx(0.5)


def test_a_label_that_an_audit_drew_weighs_by_its_inclusion_probability(
    world: World, prelabeler: Prelabeler
) -> None:
    """Of each query the order reaches the two called relevant; two of the eight others are drawn."""
    pool = Pool.objects.create(collection=world.collection, name="audited", strategy="rrf", depth=10)
    PoolEntry.objects.bulk_create(
        PoolEntry(
            pool=pool,
            query=query,
            document=document,
            position=position,
            run_count=1,
            best_rank=position,
            rrf=0.1,
            in_audit=position in (5, 9),
            inclusion_probability={1: 1.0, 2: 1.0, 5: 0.25, 9: 0.25}.get(position),
        )
        for query in Query.objects.filter(external_id__startswith="m")
        for position, document in enumerate(
            sorted(Document.objects.filter(external_id__startswith="m"), key=called_first), start=1
        )
    )
    judge_all(world, open_queue(pool, seed=1, user=world.ada))
    found = worth(prelabeler)
    assert (found["labels"], found["audited"]) == (32, 16)
    shares = {one["name"]: one["value"] for one in found["shares"]}
    # Of a query m3 and m4 are certain, relevant and called so. Of the eight others m7 and m8 were drawn and
    # stand for four each: neither is relevant, and m7 is called so.
    assert shares["prevalence"] == pytest.approx(2 / 10)
    assert shares["precision"] == pytest.approx(2 / 6)
    assert found["confusion"].model_only == 8


def called_first(document: Document) -> tuple[bool, int]:
    number = int(document.external_id[1:])
    return not 3 <= number <= 7, number


def test_a_label_that_an_adaptive_queue_drew_weighs_by_what_its_order_has_not_reached(world: World) -> None:
    queue = make_adaptive_queue(world, queries=2, documents=3)
    plans = list(QueryPlan.objects.filter(selection__queue=queue).order_by("query__external_id"))
    documents = sorted(queue.items.values_list("document", flat=True).distinct())
    for plan, reached in zip(plans, (documents[:1], documents[:2]), strict=True):
        plan.begun, plan.reached = 1, [[document, 1] for document in reached]
        plan.drawn = [[documents[2], 1, 1]]
        plan.save()
    found = inclusion_probabilities(world.collection, Exists(Item.objects.all()))
    # One of the two that the first order has not reached was drawn; of the other query nothing else is left.
    assert found == {(plans[0].query_id, documents[2]): 0.5}


def test_the_best_of_several_models_says_what_the_choice_does_to_its_figure(
    judged: Queue, prelabeler: Prelabeler, world: World, client: Client
) -> None:
    better = Prelabeler.objects.create(collection=world.collection, model="better", options_hash="better")
    for row in Prelabel.objects.filter(prelabeler=prelabeler).select_related("document"):
        errs = (row.query_id + row.document_id) % 7 == 0
        row.pk, row.prelabeler = None, better
        row.verdict = "relevant" if (int(row.document.external_id[1:]) < 5) ^ errs else "not_relevant"
        row.score = float(row.verdict == "relevant")
        row.save()
    api = APIClient()
    api.force_authenticate(world.ada)
    rows = {
        row["prelabeler"]["model"]: row for row in api.get("/api/collections/harbour/prelabelers/").json()
    }
    assert rows["large"]["best"] is None
    best = rows["better"]["best"]
    assert best["compared"] == 2
    assert best["saved"]["low"] < rows["better"]["saved"]["low"]
    assert best["sentence"].startswith("Of 2 models compared on these labels, better saves most: ")
    assert api.get(f"/api/prelabelers/{better.pk}/").json()["best"] == best
    client.force_login(world.ada)
    said = escape(best["sentence"])
    assert said in client.get("/collections/harbour/prelabels/").content.decode()
    assert said in client.get(f"/prelabelers/{better.pk}/").content.decode()
    assert said not in client.get(f"/prelabelers/{prelabeler.pk}/").content.decode()
    out = io.StringIO()
    call_command("prelabel_quality", "harbour", stdout=out)
    assert best["sentence"] in out.getvalue()


@pytest.mark.anywhere
def test_labels_of_seven_queries_say_nothing_on_page_interface_and_terminal(
    world: World, client: Client
) -> None:
    prelabeler = many_pairs(world, queries=7)
    judge_all(world, open_sample(prelabeler, **WHOLE, by=world.ada))
    told = worth(prelabeler)
    assert told["verdict"] is None
    assert {one["value"] for one in (*told["shares"], *told["numbers"])} == {None}
    client.force_login(world.ada)
    page = client.get(f"/prelabelers/{prelabeler.pk}/").content.decode()
    assert "70 blind labels of 7 queries so far; the verdict comes at 50 of 8 queries." in page
    assert "Calibration" not in page
    out = io.StringIO()
    call_command("prelabel_quality", "harbour", stdout=out)
    assert "Missed as labels            –  labels of 7 queries so far; it takes 8" in out.getvalue()


@pytest.mark.anywhere
def test_what_a_model_saves_is_told_of_an_audits_labels_alone(
    judged: Queue, prelabeler: Prelabeler, world: World, client: Client
) -> None:
    api = APIClient()
    api.force_authenticate(world.ada)
    client.force_login(world.ada)
    out = io.StringIO()
    call_command("prelabel_quality", "harbour", stdout=out)
    page = client.get(f"/prelabelers/{prelabeler.pk}/").content.decode()
    guide = client.get("/docs/prelabels/").content.decode()
    answer = str(api.get(f"/api/prelabelers/{prelabeler.pk}/").json())
    for text in (page, out.getvalue(), guide, answer):
        assert not OF_SAVED_JUDGMENTS.search(text)
    assert "Audit labels saved" in page


@pytest.mark.parametrize("mode", ["reveal", "assist"])
def test_what_was_drawn_to_check_a_model_stays_blind(world: World, prelabeler: Prelabeler, mode: str) -> None:
    queue = open_sample(prelabeler, **WHOLE, by=world.ada)
    with pytest.raises(InputError, match="is a sample to be judged blind"):
        change_use(queue, PrelabelUse(mode, prelabeler), understood=True)
    queue.refresh_from_db()
    assert queue.prelabel_mode == "blind"
    change_use(queue, PrelabelUse("blind", prelabeler, second_opinion_from=0.9))


def test_a_clean_sample_says_its_bound(world: World, prelabeler: Prelabeler) -> None:
    other = make_queue(world)
    judge(other, world.ben, other.items.order_by("pk")[0].pk)
    queue = open_sample(prelabeler, Wanted("zero_failures", 0.1), Wanted(None, 0.1), by=world.ada)
    (waiting,) = samples_of(prelabeler)
    drawn = waiting["negatives"]["drawn"]
    assert waiting["queue"] == queue
    assert waiting["negatives"]["sentence"] == f"{drawn} negatives drawn; none has a blind label yet."
    assert waiting["positives"]["sentence"] == "No positives were drawn."
    items = list(queue.items.order_by("pk"))
    assert len(items) == drawn
    for item in items[:-1]:
        judge(queue, world.ben, item.pk, "not_relevant")
    begun = samples_of(prelabeler)[0]["negatives"]["sentence"]
    assert begun.startswith(f"0 of {drawn - 1} negatives were relevant so far. 1 more have no blind label")
    judge(queue, world.ben, items[-1].pk, "not_relevant")
    done = samples_of(prelabeler)[0]["negatives"]
    assert done["sentence"] == f"0 of {drawn} negatives were relevant: elusion ≤ 10 % at 95 %."
    assert done["most"] == pytest.approx(0.1)


def test_a_sample_holds_pairs_that_wait_elsewhere_and_one_verdict_settles_both(world: World) -> None:
    prelabeler = make_prelabels(world)
    elsewhere = make_queue(world)
    sample = open_sample(prelabeler, **WHOLE, by=world.ada)
    assert sample.items.count() == 18
    item = elsewhere.items.order_by("pk")[0]
    same = sample.items.get(query=item.query, document=item.document)
    judge(sample, world.ben, same.pk)
    item.refresh_from_db()
    assert item.state == Item.State.DONE
    assert "relevant" not in sample.name


def test_what_will_not_do_is_refused_and_leaves_nothing(world: World, prelabeler: Prelabeler) -> None:
    with pytest.raises(InputError, match=r"from 0.001 to 0.5"):
        open_sample(prelabeler, Wanted("zero_failures", 0.9))
    with pytest.raises(InputError, match="1 to 5,000"):
        open_sample(prelabeler, Wanted(None, 0.1), Wanted(None, 0.1))
    empty = Prelabeler.objects.create(collection=world.collection, model="empty", options_hash="e")
    with pytest.raises(InputError, match="no pre-labels"):
        open_sample(empty)
    assert not world.collection.pools.exists()


def test_an_admin_reads_the_page_and_opens_a_sample(
    judged: Queue, prelabeler: Prelabeler, world: World, client: Client
) -> None:
    client.force_login(world.ada)
    listed = client.get("/collections/harbour/prelabels/").content.decode()
    assert "On 80 blind labels" in listed
    page = f"/prelabelers/{prelabeler.pk}/"
    assert page in listed
    shown = client.get(page).content.decode()
    assert "used as labels, it would miss 60 % of the relevant documents." in shown
    picture = client.get(f"{page}calibration/dark-narrow/")
    assert picture["Content-Type"] == "image/svg+xml"
    assert client.get(f"{page}calibration/huge/").status_code == 404
    form = {"negatives_method": "zero_failures", "negatives_bound": "10", "positives_bound": "10"}
    refused = client.post(f"{page}sample/", {**form, "judgments_per_item": "0"})
    assert refused.status_code == 200
    opened = client.post(f"{page}sample/", {**form, "judgments_per_item": "1"})
    queue = Queue.objects.order_by("-pk")[0]
    assert (opened.status_code, opened["Location"]) == (302, f"/queues/{queue.pk}/")
    assert "drawn at random" in client.get(queue.pool.get_absolute_url()).content.decode()


def test_the_interface_and_the_command_tell_the_same(
    judged: Queue, prelabeler: Prelabeler, world: World
) -> None:
    api = APIClient()
    api.force_authenticate(world.ada)
    (row,) = api.get("/api/collections/harbour/prelabelers/").json()
    assert (row["labels"], row["missed"]["value"]) == (80, pytest.approx(0.6))
    one = f"/api/prelabelers/{prelabeler.pk}/"
    told = api.get(one).json()
    assert told["samples"][0]["queue"] == judged.pk
    made = api.post(f"{one}samples/", {"positives_method": None, "seed": 7}, format="json")
    assert made.status_code == 201
    opened = Queue.objects.get(pk=made.json()["queue"])
    assert opened.pool.provenance["draw_seed"] == 7
    assert api.post(f"{one}samples/", {"negatives_bound": 7}, format="json").status_code == 400
    out = io.StringIO()
    call_command("prelabel_quality", "harbour", "--format", "json", stdout=out)
    assert json.loads(out.getvalue())[0]["confusion"] == told["confusion"]
    out = io.StringIO()
    call_command("prelabel_quality", "harbour", "--model", "large", stdout=out)
    assert "Missed as labels            60.0 %" in out.getvalue()
    with pytest.raises(CommandError, match="no pre-labels by “x”"):
        call_command("prelabel_quality", "harbour", "--model", "x")
