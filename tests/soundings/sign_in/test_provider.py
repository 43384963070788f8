"""Sign-in by a provider of OpenID Connect, from the button to the page."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest
from django.apps import apps
from django.conf import settings as settings_now
from django.contrib.auth.models import User
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse
from pytest_django.fixtures import Settings

from pooling.models import AdminAction, Membership
from pooling.people.invitations import invite
from soundings.accounts.removing import delete_account
from tests.soundings.accounts.test_deleted_accounts import traces as traces_of_zuleika
from tests.soundings.sign_in.provider import EVE, OTHER_KEY, Provider
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db
REFUSED = "Harbour Login did not sign you in. Try again."


def text(answer: object) -> str:
    return answer.content.decode()  # type: ignore[attr-defined, no-any-return]


def links() -> list[tuple[str, str]]:
    rows = apps.get_model("socialaccount", "SocialAccount")._default_manager.all()
    return [(row.uid, row.user.get_username()) for row in rows]


def test_from_the_button_to_the_page_with_an_account_made_at_first_sign_in(
    provider: Provider, client: Client
) -> None:
    assert "Sign in with Harbour Login" in text(client.get("/sign-in/?next=/guide/"))
    answer = provider.sign_in(client, "/guide/")
    assert answer.redirect_chain[0][0] == "/guide/"
    eve = User.objects.get()
    assert (eve.username, eve.email, eve.has_usable_password()) == ("eve", "eve@example.org", False)
    assert (eve.is_staff, eve.is_superuser) == (False, False)
    assert client.get("/account/").status_code == 200
    # The same subject, whatever the name and address are by now.
    provider.person |= {"preferred_username": "eva", "email": "eva@example.org"}
    provider.sign_in(Client())
    assert links() == [("subject-7", "eve")]
    written = list(AdminAction.objects.order_by("pk").values_list("action", "actor__username"))
    assert written == [("account made", "eve"), ("signed in", "eve"), ("signed in", "eve")]


def test_the_code_is_exchanged_with_a_verifier_and_the_secret_stays_here(
    provider: Provider, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page = client.post("/sign-in/provider/")
    client.get(provider.way_back(page))
    assert provider.asked["code_challenge_method"] == "S256"
    assert provider.sent["client_secret"] == "zzz-client-secret"
    assert provider.sent["code_verifier"]
    User.objects.update(is_superuser=True, is_staff=True)
    pages = [page, *(client.get(address) for address in ("/site/health/", "/account/", "/account/data/"))]
    shown = [text(one) if not one.streaming else b"".join(one).decode() for one in pages]
    assert "zzz" not in "".join([*shown, caplog.text, repr(settings_now.OIDC)])


def test_a_name_that_is_taken_gets_a_number(provider: Provider, world: World, client: Client) -> None:
    provider.person["preferred_username"] = "Ada"
    provider.sign_in(client)
    assert links() == [("subject-7", "Ada-2")]


def test_without_new_accounts_only_known_people_and_invited_ones_come_in(
    provider: Provider, world: World, client: Client, settings: Settings
) -> None:
    settings.OIDC = replace(settings.OIDC, makes_accounts=False)
    before = User.objects.count()
    assert "You have no account here yet. Ask for an invitation." in text(provider.sign_in(client))
    assert User.objects.count() == before
    assert client.get("/account/").status_code == 302
    _, token = invite(world.collection, "annotator", by=world.ada)
    assert "Sign in with Harbour Login" in text(client.get(f"/invitations/{token}/"))
    assert "Harbour" in text(provider.sign_in(client, f"/invitations/{token}/"))
    member = Membership.objects.get(user__username="eve")
    assert (member.role, member.collection) == ("annotator", world.collection)
    assert client.get(f"/invitations/{token}/").status_code == 410


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another"},
        {"aud": "another client"},
        {"iss": "https://login.example.org"},
        {"exp": 1_000_000_000},
        {"sub": "another subject"},
        {"azp": "another client"},
        {"nonce": None},
    ],
    ids=lambda wrong: "-".join(wrong),
)
def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    provider: Provider, client: Client, wrong: dict[str, object]
) -> None:
    provider.wrong = wrong
    assert REFUSED in text(provider.sign_in(client))
    assert not User.objects.exists()
    assert AdminAction.objects.get().action == "sign-in failed"


@pytest.mark.parametrize(
    ("key", "algorithm"), [(OTHER_KEY, "RS256"), (None, "none"), ("zzz-client-secret" * 3, "HS256")]
)
def test_a_signature_that_is_not_the_providers_is_refused(
    provider: Provider, client: Client, key: object, algorithm: str
) -> None:
    provider.key, provider.algorithm = key, algorithm
    assert REFUSED in text(provider.sign_in(client))
    assert not User.objects.exists()


def test_a_state_of_another_browser_or_used_before_is_refused(provider: Provider, client: Client) -> None:
    back = provider.way_back(client.post("/sign-in/provider/"))
    assert REFUSED in text(Client().get(back, follow=True))
    assert not User.objects.exists()
    client.get(back)
    assert User.objects.count() == 1
    again = Client()
    again.cookies = client.cookies
    again.post("/sign-out/")
    assert REFUSED in text(client.get(back, follow=True))


def test_a_person_who_cancels_and_a_provider_that_is_away_are_told_in_a_sentence(
    provider: Provider, client: Client, settings: Settings
) -> None:
    back = provider.way_back(client.post("/sign-in/provider/"))
    assert REFUSED in text(client.get(back.replace("code=code-1", "error=access_denied"), follow=True))
    settings.OIDC = replace(settings.OIDC, issuer="http://127.0.0.1:1")
    told = text(client.post("/sign-in/provider/", follow=True))
    assert "Harbour Login does not answer. Try again later." in told


def test_a_provider_that_calls_itself_something_else_is_not_asked(
    provider: Provider, client: Client, settings: Settings
) -> None:
    settings.OIDC = replace(settings.OIDC, issuer=provider.issuer.replace("127.0.0.1", "localhost"))
    assert "does not answer" in text(client.post("/sign-in/provider/", follow=True))


def test_nobody_is_sent_to_another_site_afterwards(provider: Provider, client: Client) -> None:
    for page in ("https://evil.example/", "//evil.example/", "javascript:alert(1)"):
        assert provider.sign_in(client, page).redirect_chain[-1][0] == "/"
        client.post("/sign-out/")
    assert client.get("/sign-in/provider/").status_code == 405


@pytest.mark.parametrize("verified", [True, False, "true", None])
@pytest.mark.parametrize("allowed", [True, False])
def test_an_account_with_the_address_is_linked_only_where_both_sides_say_so(
    provider: Provider, world: World, client: Client, settings: Settings, verified: object, allowed: bool
) -> None:
    settings.OIDC = replace(settings.OIDC, links_by_email=allowed)
    User.objects.filter(pk=world.ben.pk).update(email="EVE@example.org")
    provider.person["email_verified"] = verified
    told = text(provider.sign_in(client))
    world.ben.refresh_from_db()
    if verified is True and allowed:
        assert links() == [("subject-7", "ben")]
        # Nobody had confirmed the address, so the password may be somebody else's.
        assert not world.ben.has_usable_password()
        return
    assert "Another account here has your email address." in told
    assert links() == []
    assert world.ben.check_password(PASSWORD)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("admina@example.org", "adm\u0131na@example.org"),  # a letter that PostgreSQL takes for an i
        ("asia@example.org", "a\u017fia@example.org"),  # a long s
        ("kim@example.org", "\u212aim@example.org"),  # the sign of kelvins
        ("ada@example.org", "ada@\uff45xample.org"),  # a wide e
    ],
)
def test_nobody_takes_an_account_over_with_an_address_that_looks_like_its(
    provider: Provider, world: World, client: Client, settings: Settings, here: str, there: str
) -> None:
    settings.OIDC = replace(settings.OIDC, links_by_email=True)
    User.objects.filter(pk=world.ada.pk).update(email=here, is_superuser=True, is_staff=True)
    provider.person["email"] = there
    provider.sign_in(client)
    world.ada.refresh_from_db()
    assert world.ada.check_password(PASSWORD)
    assert ("subject-7", "ada") not in links()


@pytest.mark.parametrize("key_id", ["another", "", "\0", "1 "])
def test_a_key_that_the_provider_does_not_have_is_told_in_a_sentence(
    provider: Provider, client: Client, key_id: str
) -> None:
    provider.key_id = key_id
    assert REFUSED in text(provider.sign_in(client))
    assert not User.objects.exists()


@pytest.mark.parametrize("odd", ["\0", "\ud800"])
def test_claims_that_no_database_stores_are_no_error(provider: Provider, client: Client, odd: str) -> None:
    provider.person |= {"sub": f"subject{odd}"}
    assert REFUSED in text(provider.sign_in(client))
    claims = ("preferred_username", "given_name", "family_name", "email")
    provider.person |= {"sub": "subject-7"} | dict.fromkeys(claims, f"e{odd}ve@example.org")
    provider.sign_in(client)
    eve = User.objects.get()
    assert (eve.username, eve.first_name, eve.email) == ("eve@example.org", "eve@example.org", "")


def test_a_site_admin_links_an_account_by_hand(provider: Provider, world: World, client: Client) -> None:
    world.ada.is_superuser = world.ada.is_staff = True
    world.ada.save()
    client.force_login(world.ada)
    client.post("/admin/socialaccount/socialaccount/add/", {"user": world.cleo.pk, "uid": "subject-7"})
    assert links() == [("subject-7", "cleo")]
    provider.sign_in(Client())
    assert AdminAction.objects.filter(action="signed in", actor=world.cleo).exists()


def test_a_disabled_account_stays_out(provider: Provider, client: Client) -> None:
    provider.sign_in(Client())
    User.objects.update(is_active=False)
    assert "This account is disabled." in text(provider.sign_in(client))
    assert client.get("/account/").status_code == 302


def test_people_read_what_is_kept_and_delete_it_with_their_name(
    provider: Provider, client: Client, settings: Settings
) -> None:
    provider.person |= {"sub": "sub-of-quint", "preferred_username": "zuleika.quint"}
    provider.sign_in(client)
    lines = b"".join(client.get("/account/data/")).decode().splitlines()  # type: ignore[call-overload]
    kept = next(line for line in map(json.loads, lines) if line["kind"] == "sign-in by provider")
    assert kept.keys() == {"kind", "uid", "date_joined", "last_login"}
    assert kept["uid"] == "sub-of-quint"
    page = "/account/delete/"
    assert "This is not your user name." in text(client.post(page, {"name": "zuleika"}))
    assert "Your account is deleted." in text(client.post(page, {"name": "zuleika.quint"}, follow=True))
    assert list(traces_of_zuleika(settings)) == []
    assert links() == []


def test_deletion_by_somebody_else_leaves_nothing_either(provider: Provider, world: World) -> None:
    provider.sign_in(Client())
    delete_account(User.objects.get(username="eve"), by=world.ada)
    assert links() == []
    # Somebody new, for all that the site knows.
    provider.sign_in(Client())
    assert links() == [("subject-7", "eve")]


def test_a_session_of_the_provider_ends_when_idle_and_is_listed(
    provider: Provider, client: Client, settings: Settings
) -> None:
    provider.sign_in(client)
    assert "this one" in text(client.get("/account/"))
    settings.SESSION_IDLE_MINUTES = 5
    session = client.session
    session["seen"] -= 400
    session.save()
    assert client.get("/account/").status_code == 302


def test_no_page_of_the_library_is_there() -> None:
    import allauth.account.urls
    import allauth.mfa.urls
    import allauth.socialaccount.providers.openid_connect.urls
    import allauth.socialaccount.urls

    modules = (
        allauth.account.urls,
        allauth.mfa.urls,
        allauth.socialaccount.urls,
        allauth.socialaccount.providers.openid_connect.urls,
    )
    names = {str(name) for module in modules for name in _names(module.urlpatterns)}
    assert {"account_signup", "account_email", "mfa_index", "socialaccount_connections"} <= names
    for name in names:
        with pytest.raises(NoReverseMatch):
            reverse(name)
    ours = get_resolver().url_patterns
    assert not [one for one in ours if "allauth" in getattr(one.callback, "__module__", "")]  # type: ignore[union-attr]
    assert (
        Client().get("/accounts/login/").status_code == Client().get("/accounts/signup/").status_code == 404
    )


def _names(patterns: object) -> list[str]:
    found = []
    for one in patterns:  # type: ignore[attr-defined]
        found += _names(one.url_patterns) if hasattr(one, "url_patterns") else [one.name]
    return found


def test_claims_are_not_kept(provider: Provider, client: Client) -> None:
    provider.person |= {"phone_number": "+49 1", "address": "Quay 7"}
    provider.sign_in(client)
    row = apps.get_model("socialaccount", "SocialAccount")._default_manager.get()
    assert row.extra_data == {"memberships": {}, "site_admin": False}
    assert not apps.get_model("socialaccount", "SocialToken")._default_manager.exists()
    assert EVE["email"] not in json.dumps(row.extra_data)
