"""A label is explained where it shows, and admins correct it there."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client

from labeling.models import GoldQuestion, Item, JudgmentEvent, Queue
from labeling.qrels.explanation import explain
from tests.labeling.helpers import judge, make_queue
from tests.world import World, signed_in


def text(answer: HttpResponse) -> str:
    return answer.content.decode()


def judged(world: World) -> tuple[Queue, Item, str]:
    """Ben called a pair relevant: the queue, its item, and the address of the reason."""
    queue = make_queue(world)
    item = queue.items.select_related("query", "document").earliest("pk")
    judge(queue, world.ben, item.pk, "relevant")
    return queue, item, address(item.query.external_id, item.document.external_id)


def address(query: str, document: str) -> str:
    return f"/collections/harbour/labels/?{urlencode({'query': query, 'document': document})}"


def label(world: World, item: Item) -> tuple[int | None, str]:
    found = explain(world.collection, item.query.external_id, item.document.external_id)
    return found.relevance, found.source


def send(client: Client, page: str, **fields: str) -> str:
    return unescape(text(client.post(page, fields, follow=True)))  # type: ignore[arg-type]


def test_an_admin_corrects_a_label_with_a_note_and_undoes_it(world: World) -> None:
    _, item, page = judged(world)
    ada = signed_in(world.ada)
    key = re.search(r'name="key" value="([^"]+)"', text(ada.get(page)))  # type: ignore[arg-type]
    assert key
    for _ in range(2):  # sent twice, it settles once
        said = send(ada, page, key=key[1], verdict="not_relevant", note="It is a day bus.")
        assert "Corrected: not relevant." in said
    assert label(world, item) == (0, "adjudicated")
    event = JudgmentEvent.objects.get(is_adjudication=True)
    assert (event.note, event.annotator) == ("It is a day bus.", world.ada)
    assert "You said not relevant: It is a day bus.</p>" in " ".join(said.split())
    assert "Undone" in send(ada, page, undo="verdict")
    assert label(world, item) == (1, "human")


def test_an_admin_makes_the_pair_a_gold_question_changes_its_answer_and_undoes_it(world: World) -> None:
    _, item, page = judged(world)
    ada = signed_in(world.ada)
    send(ada, page, gold="not_relevant", note="by day only")
    question = GoldQuestion.objects.get()
    assert (question.answer, question.reason) == ("not_relevant", "by day only")
    assert label(world, item) == (0, "gold")
    send(ada, page, gold="relevant")
    assert label(world, item) == (1, "gold")
    assert "change the answer instead" in send(ada, page, verdict="relevant", key="k")
    send(ada, page, undo="gold")
    assert label(world, item) == (1, "human")


def test_viewers_see_the_reason_and_no_way_to_change_it_and_annotators_see_neither(world: World) -> None:
    _, _, page = judged(world)
    shown = text(signed_in(world.vera).get(page))  # type: ignore[arg-type]
    assert "from the verdicts below" in shown
    assert "Correct it" not in shown
    assert signed_in(world.ben).get(page).status_code == 403


def test_what_corrects_nothing_says_why(world: World) -> None:
    _, item, page = judged(world)
    for fields, problem in [
        ({"key": "k"}, "Choose relevant, not relevant"),
        ({"verdict": "perhaps", "key": "k"}, "Choose relevant, not relevant"),
        ({"gold": "perhaps"}, "perhaps"),
        ({"undo": "verdict"}, "You have not corrected this label."),
        ({"undo": "gold"}, "not a gold question"),
    ]:
        assert problem in send(signed_in(world.ada), page, **fields)
        assert label(world, item) == (1, "human")


def test_nobody_settles_a_pair_before_its_turn(world: World) -> None:
    queue, item, _ = judged(world)
    other = queue.items.select_related("query", "document").exclude(pk=item.pk).latest("pk")
    page = address(other.query.external_id, other.document.external_id)
    said = send(signed_in(world.ada), page, verdict="relevant", key="k")
    assert "it has its turn in the queue" in said
    assert not JudgmentEvent.objects.filter(is_adjudication=True).exists()


def test_search_leads_admins_to_the_reason_of_a_label_and_annotators_nowhere(world: World) -> None:
    queue, _, _ = judged(world)
    reason, page = (
        "/collections/harbour/labels/?query=",
        f"/queues/{queue.pk}/search/?query=q1&words=umbrella",
    )
    assert reason in text(signed_in(world.ada).get(page))  # type: ignore[arg-type]
    assert reason not in text(signed_in(world.ben).get(page))  # type: ignore[arg-type]
