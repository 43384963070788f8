"""Edit forms of several fields in two tabs: nobody's change is lost by somebody else's save."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from evaluation.canaries import hooks
from pooling.engines.stored import create_engine
from pooling.models import AdminAction, Role
from tests.evaluation.canary_cast import LOOPBACK, make_canary
from tests.labeling.facts.helpers import bring_facts, fact
from tests.labeling.helpers import make_prelabels, make_queue
from tests.pooling.engines.cast import settings_at
from tests.soundings.everywhere.forms import Forms
from tests.world import World, signed_in

LOCAL = "http://127.0.0.1:9"


def tab(client: Client, address: str) -> dict[str, list[str]]:
    """What the form at an address would send from a page that is open in a browser."""
    page = address.removesuffix("use/")
    return sent_from(page, client.get(page).content.decode(), address)


def sent_from(page: str, content: str, address: str) -> dict[str, list[str]]:
    reader = Forms(page)
    reader.feed(content)
    values = max((one.values for one in reader.found if one.address.split("#")[0] == address), key=len)
    return {name: value for name, value in values.items() if name != "try"}


@pytest.fixture
def bob(world: World) -> Client:
    user = User.objects.create_user("bob")
    world.collection.memberships.create(user=user, role=Role.ADMIN)
    return signed_in(user)


def edited(world: World, name: str) -> tuple[str, Model]:
    """The address of an edit form, and what it changes."""
    if name == "collection":
        return "/collections/harbour/edit/", world.collection
    if name == "queue":
        queue = make_queue(world)
        return queue.get_absolute_url(), queue
    if name in ("gold", "prelabels/use"):
        queue = make_queue(world)
        queue.prelabeler = make_prelabels(world)
        queue.save()
        return f"/queues/{queue.pk}/{name}/", queue
    if name == "fact":
        bring_facts(world)
        return f"{reverse('query_facts', args=['harbour'])}?query=q2", fact(world, "kept")
    if name == "engine":
        engine = create_engine(world.collection, "shop", settings_at(LOCAL), user=world.ada)
        return reverse("engine_edit", args=["harbour", engine.pk]), engine
    if name == "canary":
        canary = make_canary(world)
        return reverse("canary_edit", args=[canary.pk]), canary
    hook, _ = hooks.create_hook(world.collection, f"{LOCAL}/a", ["report.made"], by=world.ada, site=LOCAL)
    return reverse("webhook", args=[hook.pk]), hook


@pytest.mark.parametrize(
    ("name", "hers", "his"),
    [
        ("collection", ("guidelines", "Only\r\nmaps help."), ("name", "Port")),
        ("queue", ("price_per_judgment", "0.1"), ("public_name", "Morning")),
        ("gold", ("gold_share", "0.1"), ("practice_questions", "3")),
        ("prelabels/use", ("blind_share", "0.2"), ("second_opinion_from", "0.9")),
        ("fact", ("text", "Lost property is kept for a year."), ("importance", "okay")),
        ("engine", ("depth", "7"), ("score_path", "hits.hits[*].score")),
        ("canary", ("threshold", "0.8"), ("mail_to", "ops@example.org")),
        ("webhook", ("events", ["release.made"]), ("url", f"{LOCAL}/b")),
    ],
)
def test_an_older_tab_writes_only_what_its_person_changed(
    world: World, bob: Client, settings: Settings, name: str, hers: tuple[str, str], his: tuple[str, str]
) -> None:
    settings.WEBHOOK_PRIVATE_NETWORKS = settings.ENGINE_PRIVATE_NETWORKS = LOOPBACK
    address, thing = edited(world, name)
    ada = signed_in(world.ada)
    older = tab(bob, address)
    assert ada.post(address, {**tab(ada, address), hers[0]: hers[1]}).status_code == 302
    thing.refresh_from_db()
    saved = getattr(thing, hers[0])
    assert bob.post(address, {**older, his[0]: his[1]}).status_code == 302
    thing.refresh_from_db()
    after = tab(bob, address)
    assert (getattr(thing, hers[0]), after[his[0]]) == (saved, [his[1]])


def test_a_field_that_both_changed_is_asked_about_once(world: World, bob: Client) -> None:
    address, ada = "/collections/harbour/edit/", signed_in(world.ada)
    older = {**tab(bob, address), "question": "Does it answer?", "name": "Port"}
    ada.post(address, {**tab(ada, address), "question": "Does it help?"})
    page = bob.post(address, older)
    assert "Somebody changed this meanwhile, to “Does it help?”." in page.content.decode()
    assert 'value="Does it answer?"' in page.content.decode()
    world.collection.refresh_from_db()
    assert (world.collection.question, world.collection.name) == ("Does it help?", "Harbour")
    bob.post(address, sent_from(address, page.content.decode(), address))
    world.collection.refresh_from_db()
    assert (world.collection.question, world.collection.name) == ("Does it answer?", "Port")


def test_the_words_of_a_fact_that_both_changed_stay_in_its_row(world: World, bob: Client) -> None:
    address, kept = edited(world, "fact")
    ada, headers = signed_in(world.ada), {"HX-Request": "true"}
    older = {**tab(bob, address), "text": "Finds are kept."}
    ada.post(address, {**tab(ada, address), "text": "Finds are kept for a year."})
    page = bob.post(address, older, headers=headers).content.decode()
    assert "Fact kept, text: Somebody changed this meanwhile, to “Finds are kept for a year.”." in page
    kept.refresh_from_db()
    assert kept.text == "Finds are kept for a year."
    assert (
        "fact kept changed"
        in bob.post(address, sent_from(address, page, address), follow=True).content.decode().lower()
    )
    kept.refresh_from_db()
    assert (kept.text, kept.version) == ("Finds are kept.", 3)


def test_what_somebody_else_chose_is_said_as_the_form_says_it(world: World, bob: Client) -> None:
    address, ada = "/collections/harbour/edit/", signed_in(world.ada)
    older = {**tab(bob, address), "language": "de"}
    ada.post(address, {**tab(ada, address), "language": "fr"})
    assert "Somebody changed this meanwhile, to “French”." in bob.post(address, older).content.decode()


def test_the_log_names_only_what_was_changed(world: World, bob: Client) -> None:
    address = "/collections/harbour/edit/"
    bob.post(address, {**tab(bob, address), "question": "Does it help?"})
    bob.post(address, tab(bob, address))
    details = AdminAction.objects.filter(action="collection changed").values_list("detail", flat=True)
    assert [detail["changed"] for detail in details] == [["question"]]
