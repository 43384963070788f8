"""Links to reports: who makes them, what people without an account see, and how they end."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from evaluation.comparisons.stored import chosen_comparisons
from evaluation.models import Report, SharedLink
from evaluation.report_store.shared_links import MOST_LINKS, Sharing, share
from pooling.models import AdminAction, Membership
from pooling.runs.stored import import_run
from tests.evaluation.cast import make_report
from tests.world import ALPHA, DOCUMENTS, QUERIES, World, run_text

pytestmark = pytest.mark.anywhere


def text(answer: HttpResponse) -> str:
    return answer.content.decode()


def address_of(report: Report, world: World, **asked: object) -> str:
    return reverse("shared", args=[share(report, Sharing(**asked), by=world.ada).token])  # type: ignore[arg-type]


def made(client: Client, report: Report, **fields: object) -> str:
    """Make a link on the page: its path."""
    page = text(client.post(reverse("report_share", args=[report.pk]), fields, follow=True))  # type: ignore[arg-type]
    link = re.search(r'value="http://testserver(/shared/[^"]+)"', page)
    assert link, page
    reloaded = text(client.get(reverse("report_share", args=[report.pk]), follow=True))  # type: ignore[arg-type]
    assert link[1] not in reloaded
    return link[1]


def test_anyone_with_the_link_reads_the_answer_the_table_and_the_curve(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.ada)
    path = made(client, report, note="for the board")
    stranger = Client()
    page = text(stranger.get(path))  # type: ignore[arg-type]
    assert "alpha" in page
    assert "Recall@3" in page
    assert "Harbour" in page
    assert re.search(r'<section class="card answer', page)
    picture = re.search(r'src="(/shared/[^"]+\.svg)"', page)
    assert picture
    assert b"<svg" in stranger.get(picture[1]).content


def test_the_table_of_a_link_has_the_best_run_first(world: World) -> None:
    alpha, _ = world.import_runs()
    alpha.name = "zeta"
    alpha.save()
    rows = Client().get(address_of(make_report(world, k=[1]), world)).context["rows"]
    assert [(row.run, row.mean) for row in rows] == [("zeta", "0.833"), ("beta", "0.167")]


def test_estimates_of_an_audit_stand_before_recall_of_what_was_found(
    world: World, report: Report, client: Client
) -> None:
    assert ">Estimated</th>" not in text(client.get(address_of(report, world)))  # type: ignore[arg-type]
    interval = {"low": 0.125, "high": 0.5, "average": "macro", "covers": "both"}
    report.result["runs"]["alpha"]["recall@3"]["estimate"] = {"value": 0.25, **interval}
    report.save()

    page = text(client.get(address_of(report, world)))  # type: ignore[arg-type]

    assert re.findall(r'scope="row">(\w+)</th><td class="number">([^<]*)</td>', page) == [
        ("alpha", "0.250 [0.125, 0.500]"),
        ("beta", "–"),
    ]


def test_a_shared_page_says_nothing_of_people_texts_or_the_way_into_the_collection(
    world: World, report: Report, client: Client
) -> None:
    for asked in ({}, {"first": "alpha", "second": "beta", "k": 2}):
        page = text(client.get(address_of(report, world, note="for the board", **asked)))  # type: ignore[arg-type]
        names = ("ada", "ben", "cleo", "vera")
        told = [*QUERIES.values(), *(text for _, text in DOCUMENTS.values()), "for the board"]
        assert [name for name in names if re.search(rf"\b{name}\b", page)] == []
        assert [one for one in told if one in page] == []
        addresses = re.findall(r'(?:href|src|srcset|action)="(/[^"]*)"', page)
        assert [one for one in addresses if not one.startswith(("/static/", "/shared/"))] == []


def test_a_shared_page_says_that_ids_do_not_meet_without_naming_one(world: World, client: Client) -> None:
    (world.folder / "upper.run").write_text(run_text(ALPHA).replace(" d", " D"))
    import_run(world.collection, world.folder / "upper.run", user=world.ada)
    page = text(client.get(address_of(make_report(world), world)))  # type: ignore[arg-type]
    assert "1 warning on how runs and labels meet" in page
    assert "“D" not in page


def test_nothing_of_a_shared_page_is_kept_or_passed_on(world: World, report: Report, client: Client) -> None:
    path = address_of(report, world)
    for address in (path, f"{path}light.svg", reverse("shared", args=["unknown"])):
        answer = client.get(address)
        headers = [answer[name] for name in ("Referrer-Policy", "X-Robots-Tag", "Cache-Control")]
        assert headers == ["no-referrer", "noindex, nofollow", "private, no-store"]


@pytest.mark.database
def test_a_link_that_is_unknown_withdrawn_or_expired_shows_nothing(
    world: World, report: Report, client: Client
) -> None:
    path, links = address_of(report, world), SharedLink.objects.all()
    assert client.get(reverse("shared", args=["unknown"])).status_code == 404
    links.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "expired" in text(client.get(path))  # type: ignore[arg-type]
    links.update(expires_at=timezone.now() + timedelta(days=1))
    client.force_login(world.ada)
    client.post(reverse("report_unshare", args=[report.pk, links.get().pk]))
    answers = [client.get(one) for one in (path, f"{path}light.svg")]
    assert [answer.status_code for answer in answers] == [410, 410]
    assert "withdrawn" in text(answers[0])
    assert "alpha" not in text(answers[0])


def test_links_end_with_the_role_of_their_author(world: World, report: Report, client: Client) -> None:
    path = address_of(report, world)
    Membership.objects.filter(user=world.ada).update(role="viewer")
    assert client.get(path).status_code == 410


def test_the_database_holds_no_token(world: World, report: Report) -> None:
    link, token = share(report, Sharing(), by=world.ada)
    assert len(token) >= 43
    assert token not in [str(value) for value in vars(link).values()]


@pytest.mark.database
def test_admins_see_links_with_when_they_were_opened_and_what_was_done(
    world: World, report: Report, client: Client
) -> None:
    client.force_login(world.ada)
    path = made(client, report, days="7", note="for <b>Anna</b>")
    assert "never" in text(client.get(report.get_absolute_url()))  # type: ignore[arg-type]
    Client().get(path)
    page = text(client.get(report.get_absolute_url()))  # type: ignore[arg-type]
    assert "for &lt;b&gt;Anna&lt;/b&gt;" in page
    assert "never" not in page
    link = SharedLink.objects.get()
    client.post(reverse("report_unshare", args=[report.pk, link.pk]))
    assert "Anna" not in text(client.get(report.get_absolute_url()))  # type: ignore[arg-type]
    actions = AdminAction.objects.filter(subject=report.name).values_list("action", flat=True)
    assert list(actions) == ["shared link withdrawn", "report shared"]
    client.force_login(world.vera)
    assert 'id="share"' not in text(client.get(report.get_absolute_url()))  # type: ignore[arg-type]


def test_withdrawing_a_link_asks_first(world: World, report: Report, client: Client) -> None:
    address_of(report, world)
    client.force_login(world.ada)
    page = text(client.get(report.get_absolute_url()))  # type: ignore[arg-type]
    assert "The link stops working for everyone who has it" in page
    assert "Withdraw for good" in page


def test_a_comparison_has_an_address_and_can_be_shared(world: World, report: Report, client: Client) -> None:
    client.force_login(world.ada)
    page = text(client.get(reverse("report_comparisons", args=[report.pk]) + "?a=beta&b=alpha&k=2"))  # type: ignore[arg-type]
    assert f'value="http://testserver/reports/{report.pk}/comparisons/?a=beta&amp;b=alpha&amp;k=2"' in page
    path = made(client, report, a="beta", b="alpha", k="2")
    shown = text(Client().get(path))  # type: ignore[arg-type]
    assert "beta and alpha at K = 2" in shown
    (one,) = chosen_comparisons(report, "beta", "alpha", 2)["comparisons"]
    assert escape(one["sentence"]) in shown
    assert b"<svg" in Client().get(f"{path}dark-narrow.svg").content


@pytest.mark.database
def test_what_makes_no_link_says_why(world: World, report: Report, client: Client) -> None:
    client.force_login(world.ada)
    for fields, problem in [
        ({"until": "2020-01-01"}, "Choose a day from today"),
        ({"until": "9999-01-01"}, "Choose a day from today"),
        ({"until": "soon"}, "valid date"),
        ({"days": "31"}, "valid choice"),
        ({"a": "alpha", "b": "nobody", "k": "2"}, "Name two runs"),
        ({"note": "x" * 101}, "at most 100 characters"),
    ]:
        answer = client.post(reverse("report_share", args=[report.pk]), fields, follow=True)
        assert problem in text(answer)  # type: ignore[arg-type]
        assert not SharedLink.objects.exists()


def test_a_report_has_no_more_links_than_anybody_can_look_after(world: World, report: Report) -> None:
    for number in range(MOST_LINKS):
        SharedLink.objects.create(
            report=report,
            collection=world.collection,
            token_sha256=str(number),
            created_by=world.ada,
            expires_at=timezone.now() + timedelta(days=1),
        )
    with pytest.raises(ValueError, match="Withdraw one first"):
        share(report, Sharing(), by=world.ada)


def test_links_are_made_listed_and_withdrawn_over_http(world: World, report: Report, client: Client) -> None:
    calls = reverse("api_report_links", args=[report.pk])
    client.force_login(world.vera)
    assert client.get(calls).status_code == 403
    client.force_login(world.ada)
    body = {"days": 7, "note": "for Anna", "a": "alpha", "b": "beta", "k": 2}
    answer = client.post(calls, body, content_type="application/json")
    assert answer.status_code == 201
    assert Client().get(answer.json()["url"]).status_code == 200
    (listed,) = client.get(calls).json()
    assert (listed["a"], listed["k"], listed["note"], listed["created_by"]) == ("alpha", 2, "for Anna", "ada")
    assert "url" not in listed
    assert client.delete(reverse("api_report_link", args=[report.pk, listed["id"]])).status_code == 204
    assert client.get(calls).json() == []
    refused = client.post(calls, {"a": "nobody"}, content_type="application/json")
    assert refused.status_code == 400
