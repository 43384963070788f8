"""What the site stores about a person, as that person downloads it."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from labeling.models import JudgmentEvent
from pooling.people.membership import remove_member
from soundings.accounts.tokens import make_token
from tests.labeling.helpers import SENTINEL, judge, make_queue, only_lease
from tests.world import PASSWORD, World

TOLD = {
    "ApiToken",
    "SeenSession",
    "Preferences",
    "Membership",
    "Invitation",
    "JudgmentEvent",
    "SupportEvent",
    "PairMessage",
    "LogEntry",
}
# Rows about a person that the file tells in another row, or that are no statement about them.
ELSEWHERE = {
    "Bookmark": "where somebody is in a queue: it knows the places of gold questions",
    "Judgment": "what the verdicts amount to",
    "FactLease": "which document somebody judges at this moment",
    "Support": "what the verdicts on facts amount to",
    "Lease": "what somebody is judging at this moment",
    "Quarantine": "what was set aside, which one's own page tells as far as one may know",
    "ImportedAnnotator": "a name elsewhere, told with the verdicts",
    "Collection": "told as memberships",
}


def downloaded(client: Client) -> dict[str, list[dict[str, Any]]]:
    answer = client.get(reverse("own_data"))
    assert answer["Content-Disposition"] == 'attachment; filename="my-data.jsonl"'
    found: dict[str, list[dict[str, Any]]] = {}
    for line in b"".join(answer).decode().splitlines():  # type: ignore[arg-type]
        row = json.loads(line)
        found.setdefault(row.pop("kind"), []).append(row)
    return found


def test_everything_about_a_person_is_in_the_file_and_nothing_about_others(
    world: World, client: Client
) -> None:
    queue = make_queue(world)
    lease = only_lease(queue, world.ben)
    judge(queue, world.ben, lease.item_id, note=SENTINEL)
    other = only_lease(queue, world.cleo)
    judge(queue, world.cleo, other.item_id, note="of cleo")
    made = make_token(world.ben, "nightly")
    client.post("/sign-in/", {"username": "ben", "password": PASSWORD})
    found = downloaded(client)
    assert found["account"][0]["username"] == "ben"
    assert [row["collection"] for row in found["membership"]] == ["harbour"]
    assert [(row["name"], row["scope"]) for row in found["token"]] == [("nightly", "admin")]
    assert [row["ip_address"] for row in found["sign-in"]] == ["127.0.0.1"]
    (verdict,) = found["verdict"]
    item = lease.item
    assert (verdict["query"], verdict["document"]) == (item.query.external_id, item.document.external_id)
    assert (verdict["verdict"], verdict["note"], verdict["what"]) == ("relevant", SENTINEL, "verdict")
    text = json.dumps(found)
    assert "of cleo" not in text
    assert made.token not in text
    assert made.row.token_sha256 not in text
    assert world.ben.password not in text


def test_no_line_tells_what_an_annotator_may_not_know(world: World, client: Client) -> None:
    queue = make_queue(world)
    for _ in range(3):
        judge(queue, world.ben, only_lease(queue, world.ben).item_id)
    client.force_login(world.ben)
    plain = downloaded(client)["verdict"]
    first, second, third = JudgmentEvent.objects.order_by("pk")
    JudgmentEvent.objects.filter(pk=second.pk).update(repeats=first)
    JudgmentEvent.objects.filter(pk=third.pk).update(extra=True, prelabel_seen="before", is_adjudication=True)
    assert downloaded(client)["verdict"] == plain


def test_what_somebody_did_stays_theirs_after_they_have_left(world: World, client: Client) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id)
    remove_member(world.collection.memberships.get(user=world.ben), by=world.ada)
    client.force_login(world.ben)
    found = downloaded(client)
    assert "membership" not in found
    assert len(found["verdict"]) == 1


def test_a_stranger_gets_no_file(client: Client) -> None:
    assert client.get(reverse("own_data"))["Location"].startswith(reverse("sign_in"))


def test_a_new_table_about_people_is_told_or_has_its_reason() -> None:
    tables = {relation.related_model.__name__ for relation in User._meta.related_objects}
    assert tables == TOLD | ELSEWHERE.keys()
