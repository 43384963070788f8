"""Facts in and out of a collection, edited and merged, and what becomes of their supports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client

from labeling.facts.editing import FactDraft, add_fact, change_fact, decide_facts, merge_facts
from labeling.facts.importing import import_facts, import_gold_supports, import_supports
from labeling.facts.labels import support_labels
from labeling.models import Fact, FactVersion
from pooling.formats.errors import FormatError
from pooling.interface.problems import InputError
from pooling.models import Query
from tests.labeling.facts.helpers import (
    bring_facts,
    bring_proposal,
    fact,
    fact_queue,
    facts_file,
    json_lines,
    say,
)
from tests.testdata import DATA, needs_data
from tests.world import World

pytestmark = pytest.mark.django_db


def labels_of(world: World) -> dict[tuple[str, str], float | None]:
    supports = support_labels(world.collection).supports
    return {(fact, document): weight for _, fact, document, weight, *_ in supports.iter_rows()}


def test_imported_facts_are_confirmed_and_importing_them_again_changes_nothing(world: World) -> None:
    assert str(bring_facts(world)) == "3 new, 0 as before"
    assert str(bring_facts(world)) == "0 new, 3 as before"
    assert set(Fact.objects.values_list("state", flat=True)) == {"confirmed"}
    counts = support_labels(world.collection).counts
    assert (counts.queries, counts.facts, counts.vital) == (2, 3, 2)


def test_another_text_in_a_file_is_another_version_of_the_fact(world: World) -> None:
    bring_facts(world)
    done = bring_facts(world, [("q1", "lines", "Night buses run on four lines.", "vital", "When buses run")])
    assert str(done) == "0 new, 1 changed, 1 to confirm again, 0 as before"
    assert fact(world, "lines").version == fact(world, "lines").meaning == 2
    assert fact(world, "lines").state == "proposed"
    assert list(FactVersion.objects.filter(fact=fact(world, "lines")).values_list("version", flat=True)) == [
        1,
        2,
    ]


def nuggets(world: World, *texts: str) -> Path:
    rows = [{"text": text, "importance": "okay"} for text in texts]
    return json_lines(world.folder, "nuggets.jsonl", [{"qid": "q1", "nuggets": rows}])


def test_a_file_without_ids_leaves_confirmed_facts_alone(world: World) -> None:
    import_facts(world.collection, nuggets(world, "Students get 40 percent off."), user=world.ada)
    decide_facts(Fact.objects.all(), "confirmed", user=world.ada)
    second = nuggets(world, "Students pay a quarter.", "students get 40  percent off")
    assert str(import_facts(world.collection, second)) == "1 new proposal, 1 matched by text"
    assert list(Fact.objects.order_by("external_id").values_list("external_id", "text", "state")) == [
        ("1", "Students get 40 percent off.", "confirmed"),
        ("2", "Students pay a quarter.", "proposed"),
    ]


def test_supports_in_a_file_without_ids_are_those_of_the_matched_facts(world: World) -> None:
    bring_facts(world)
    path = nuggets(world, "Something else.", "night buses run on lines N1 to N4")
    rows = [{"fact_id": "2", "document_id": "d1", "verdict": "supports"}]
    import_facts(world.collection, path, supports=json_lines(world.folder, "supports.jsonl", rows))
    assert labels_of(world) == {("lines", "d1"): 1.0}


def test_a_file_with_an_unknown_query_stores_nothing(world: World) -> None:
    path = facts_file(world, [("q1", "a", "One.", "vital", ""), ("q9", "b", "Two.", "vital", "")])
    with pytest.raises(FormatError, match=r"facts.jsonl, line 2: there is no query 'q9'.*Import the queries"):
        import_facts(world.collection, path)
    assert not Fact.objects.exists()


def test_sentences_of_reference_answers_are_proposals_of_the_query_with_that_text(world: World) -> None:
    rows = [{"user_input": "night bus", "reference": "Buses run all night. They come every half hour."}]
    done = import_facts(world.collection, json_lines(world.folder, "ragas.jsonl", rows), user=world.ada)
    assert str(done) == "2 new proposals, 0 matched by text"
    found = list(Fact.objects.values_list("query__external_id", "external_id", "text", "state"))
    assert found == [
        ("q1", "1", "Buses run all night.", "proposed"),
        ("q1", "2", "They come every half hour.", "proposed"),
    ]
    assert not support_labels(world.collection).facts


def test_supports_of_a_file_are_labels_until_a_person_says_something(world: World) -> None:
    bring_facts(world)
    rows = [
        {"fact_id": "lines", "document_id": "d1", "verdict": "supports", "span": [0, 10]},
        {"fact_id": "often", "document_id": "d1", "verdict": "no"},
        {"fact_id": "often", "document_id": "elsewhere", "verdict": "no"},
    ]
    done = import_supports(world.collection, json_lines(world.folder, "supports.jsonl", rows))
    assert (done.supports, done.left_out) == (2, 1)
    assert labels_of(world) == {("lines", "d1"): 1.0, ("often", "d1"): 0.0}
    assert support_labels(world.collection).supports.row(0)[4:] == (0, 10)
    queue = fact_queue(world)
    say(queue, world.ben, queue.fact_items.get(), lines="partly", often="supports")
    assert labels_of(world) == {("lines", "d1"): 0.5, ("often", "d1"): 1.0}
    assert support_labels(world.collection).counts.human == 2


def test_known_answers_are_labels_whatever_people_say(world: World) -> None:
    bring_facts(world)
    rows = [{"fact_id": "lines", "document_id": "d1", "verdict": "no"}]
    import_gold_supports(world.collection, json_lines(world.folder, "gold.jsonl", rows), user=world.ada)
    queue = fact_queue(world)
    say(queue, world.ben, queue.fact_items.get(), lines="supports", often="no")
    assert labels_of(world)["lines", "d1"] == 0.0
    assert support_labels(world.collection).counts.gold == 1


@pytest.mark.parametrize(
    ("said", "label"),
    [
        (("supports", "supports"), 1.0),
        (("supports", "partly"), None),
        (("partly", "partly"), 0.5),
        (("partly", "no"), None),
        (("no", "no"), 0.0),
        (("no", "cannot"), None),
    ],
)
def test_two_people_make_a_label_where_they_agree_wholly_and_in_part(
    world: World, said: tuple[str, str], label: float | None
) -> None:
    bring_facts(world)
    queue = fact_queue(world, needed=2)
    for annotator, verdict in zip((world.ben, world.cleo), said, strict=True):
        say(queue, annotator, queue.fact_items.get(), lines=verdict)
    assert labels_of(world).get(("lines", "d1")) == label


def test_supports_count_until_a_fact_means_something_else(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    say(queue, world.ben, queue.fact_items.get(), lines="supports", often="supports")
    assert not queue.fact_items.get().is_open
    change_fact(fact(world, "lines"), user=world.ada, text="Night buses run on N1 to N4.", same_meaning=True)
    assert labels_of(world)["lines", "d1"] == 1.0
    change_fact(fact(world, "lines"), user=world.ada, text="Night buses run on N1 to N9.")
    assert ("lines", "d1") not in labels_of(world)
    item = queue.fact_items.get()
    assert (item.is_open, item.asked, item.done) == (True, 2, 0)


def test_a_merged_fact_counts_no_more_until_it_is_parted(world: World) -> None:
    bring_facts(world)
    merge_facts(fact(world, "often"), fact(world, "lines"), user=world.ada)
    assert [one.fact_id for one in support_labels(world.collection).facts] == ["lines", "kept"]
    decide_facts([fact(world, "often")], "confirmed", user=world.ada)
    assert fact(world, "often").merged_into is None
    assert len(support_labels(world.collection).facts) == 3


def test_facts_that_cannot_be_are_refused(world: World) -> None:
    bring_facts(world)
    query = world.collection.queries.get(external_id="q1")
    with pytest.raises(InputError, match="needs a text"):
        add_fact(query, FactDraft("  "), user=world.ada)
    with pytest.raises(InputError, match="has a fact lines already"):
        add_fact(query, FactDraft("Once more.", fact_id="lines"), user=world.ada)
    with pytest.raises(InputError, match="another one of the same query"):
        merge_facts(fact(world, "lines"), fact(world, "kept"), user=world.ada)
    assert add_fact(query, FactDraft("One more."), user=world.ada).external_id == "f3"


@needs_data
def test_the_facts_of_trec_rag_come_in_with_their_counts(world: World) -> None:
    path = DATA / "living/nuggets/rag25-dev-nuggets.jsonl"
    topics = [str(json.loads(line)["qid"]) for line in path.read_text().splitlines()]
    Query.objects.bulk_create(
        Query(collection=world.collection, external_id=topic, text=f"topic {topic}") for topic in topics
    )
    assert import_facts(world.collection, path, user=world.ada).created == 1_255
    decide_facts(Fact.objects.all(), "confirmed", user=world.ada)
    counts = support_labels(world.collection).counts
    assert (counts.queries, counts.facts, counts.vital) == (22, 1_255, 925)
    assert Fact.objects.order_by().values("query", "group").distinct().count() == 218


@pytest.mark.parametrize(
    "address", ["/collections/harbour/facts/download", "/api/collections/harbour/facts/files"]
)
def test_confirmed_facts_are_downloaded_as_the_file_that_imports_them(
    world: World, client: Client, address: str
) -> None:
    bring_facts(world)
    client.force_login(world.ada)
    assert client.get(f"{address}/nothing/").status_code == 404
    file = world.folder / "back.jsonl"
    file.write_bytes(client.get(f"{address}/facts/").getvalue())
    assert str(import_facts(world.collection, file, user=world.ada)) == "0 new, 3 as before"
    client.force_login(world.ben)
    assert client.get(f"{address}/facts/").status_code in (403, 404)


@pytest.mark.parametrize("name", ["facts", "supports", "diversity", "nuggets"])
def test_a_file_of_facts_that_would_be_empty_is_refused(world: World, client: Client, name: str) -> None:
    client.force_login(world.ada)
    refused = client.get(f"/api/collections/harbour/facts/files/{name}/")
    assert refused.status_code == 400
    assert "would be empty" in refused.json()["detail"]


QUERY = "/collections/harbour/facts/query/?query=q1"


def row_of(client: Client, fact_id: str, **written: str) -> dict[str, str]:
    """What the row of a fact sends, with these words in its fields."""
    page = client.get(QUERY).context
    row = next(one for one in [*page["proposed"], *page["confirmed"]] if one.external_id == fact_id)
    fields = {name: str(row.form.initial[name]) for name in ("text", "importance", "group")}
    before = {row.form[name].html_initial_name: value for name, value in fields.items()}
    return {"fact": fact_id, **before, **fields, **written}


@pytest.mark.parametrize(("action", "state"), [("confirmed", "confirmed"), ("merge", "merged")])
def test_a_button_that_keeps_a_fact_stores_the_words_written_in_its_row(
    world: World, client: Client, action: str, state: str
) -> None:
    bring_facts(world)
    bring_proposal(world)
    client.force_login(world.ada)
    sent = row_of(client, "maybe", text="Night buses cost two coins.", action=action, into="lines")
    client.post(QUERY, sent)
    changed = fact(world, "maybe")
    assert (changed.text, changed.state) == ("Night buses cost two coins.", state)


@pytest.mark.parametrize("words", ["", "Night buses cost two coins."])
@pytest.mark.parametrize("fact_id", ["maybe", "lines"])
def test_a_rejected_fact_keeps_its_words_whatever_its_row_says(
    world: World, client: Client, fact_id: str, words: str
) -> None:
    bring_facts(world)
    bring_proposal(world)
    client.force_login(world.ada)
    before = fact(world, fact_id).text
    client.post(QUERY, row_of(client, fact_id, text=words, action="rejected"))
    rejected = fact(world, fact_id)
    assert (rejected.text, rejected.version, rejected.state) == (before, 1, "rejected")


def all_rows(client: Client, *rows: dict[str, str]) -> dict[str, list[str]]:
    """What the buttons of all proposals send: each field as often as there are rows."""
    return {name: [row[name] for row in rows] for name in rows[0]} | {"facts": [row["fact"] for row in rows]}


def test_confirm_all_stores_the_words_of_every_row_or_nothing(world: World, client: Client) -> None:
    for name in ("maybe", "perhaps"):
        bring_proposal(world, name)
    client.force_login(world.ada)
    better = row_of(client, "maybe", text="Night buses cost two coins.")
    without = row_of(client, "perhaps", text="", group="Fares")
    page = client.post(QUERY, all_rows(client, better, without) | {"action": "confirmed"})
    assert "Fact perhaps, text: This field is required" in page.context["problem"]
    assert fact(world, "maybe").state == fact(world, "perhaps").state == "proposed"
    kept = [(row.form["text"].value(), row.form["group"].value()) for row in page.context["proposed"]]
    assert kept == [("Night buses cost two coins.", "What it costs"), ("", "Fares")]
    client.post(QUERY, all_rows(client, better, row_of(client, "perhaps")) | {"action": "confirmed"})
    assert (fact(world, "maybe").text, fact(world, "maybe").version) == ("Night buses cost two coins.", 2)
    assert (fact(world, "perhaps").state, fact(world, "perhaps").version) == ("confirmed", 1)


def test_reject_all_changes_no_words(world: World, client: Client) -> None:
    bring_proposal(world)
    client.force_login(world.ada)
    before = fact(world, "maybe").text
    client.post(QUERY, all_rows(client, row_of(client, "maybe", text="")) | {"action": "rejected"})
    assert (fact(world, "maybe").text, fact(world, "maybe").state) == (before, "rejected")


def test_a_fact_is_not_confirmed_in_words_that_cannot_be(world: World, client: Client) -> None:
    bring_proposal(world)
    client.force_login(world.ada)
    page = client.post(QUERY, row_of(client, "maybe", text="", group="Fares", action="confirmed"))
    assert "This field is required" in page.context["problem"]
    assert fact(world, "maybe").state == "proposed"
    assert page.context["proposed"][0].form["group"].value() == "Fares"


def test_a_row_is_not_kept_in_place_of_newer_words(world: World, client: Client) -> None:
    bring_proposal(world)
    client.force_login(world.ada)
    place = f'id="fact-{fact(world, "maybe").pk}-1" hx-preserve'
    assert place in client.get(QUERY).text
    client.post(QUERY, row_of(client, "maybe", text="Night buses cost two coins.", action="change"))
    assert place not in client.get(QUERY).text


def test_a_change_without_words_is_refused(world: World, client: Client) -> None:
    bring_proposal(world)
    client.force_login(world.ada)
    page = client.post(QUERY, {"fact": "maybe", "action": "change"}, headers={"HX-Request": "true"})
    assert "This field is required" in page.context["problem"]
