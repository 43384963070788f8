"""Variables with the databases that engines may ask: what cannot be used ends the start with one sentence."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from soundings.installation.environment import Environment

VARIABLE = "SOUNDINGS_SEARCH_DATABASES"
SECRET = "pass-1234"


def databases(monkeypatch: pytest.MonkeyPatch, value: str) -> dict[str, dict[str, object]]:
    monkeypatch.setenv(VARIABLE, value)
    return Environment().databases(VARIABLE)


def test_a_variable_that_nothing_reads_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    of_others = {"SOUNDINGS_HOST", "SOUNDINGS_TOKEN", "SOUNDINGS_TEST_DATA"}
    unread = {"SOUNDINGS_GOLD_SHARE", "SOUNDINGS_HOSTNAME", "SOUNDINGS_TOKENS", "SOUNDINGS_OIDC_CLIENT"}
    for name in (*of_others, *unread, "SOUNDINGS_HOSTS"):
        monkeypatch.setenv(name, "1")
    environment = Environment()
    environment.list("SOUNDINGS_HOSTS")
    assert environment.unread() == sorted(unread)


def test_several_databases_are_read_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    found = databases(
        monkeypatch,
        f"shop=postgres://reader:{SECRET}@db.example.org:5433/shop?sslmode=require, wiki=sqlite:////w.db",
    )

    assert [found["shop"][name] for name in ("HOST", "PORT", "NAME")] == ["db.example.org", 5433, "shop"]
    assert found["shop"]["OPTIONS"] == {"sslmode": "require"}
    assert found["wiki"]["NAME"] == "/w.db"
    assert databases(monkeypatch, "") == {}


def test_a_comma_in_a_password_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert databases(monkeypatch, "shop=postgres://u:a%2Cb@h/n")["shop"]["PASSWORD"] == "a,b"


@pytest.mark.parametrize(
    "value",
    [
        "shop",
        "shop=",
        "=sqlite:////w.db",
        f"postgres://u:{SECRET}@h/n",
        f"my shop=postgres://u:{SECRET}@h/n",
        f"shop=mysql://u:{SECRET}@h/n",
        f"shop=mongo://u:{SECRET}@h/n",
        f"shop=postgres://u:{SECRET}@h:port/n",
        f"shop=postgres://u:{SECRET},x@h/n",
        f"shop=postgres://u:{SECRET}@h",
        "shop=sqlite://",
        f"shop=postgres://u:{SECRET}@h/n,wiki",
    ],
)
def test_a_bad_value_is_one_sentence_without_the_password(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:  # and no warning, which would be an error here
        databases(monkeypatch, value)

    assert str(refused.value).startswith(f"{VARIABLE}: write NAME=postgres://user:password@host/name or ")
    assert SECRET not in str(refused.value)


def test_a_name_that_two_databases_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{VARIABLE} names shop twice"):
        databases(monkeypatch, "shop=sqlite:////a.db,shop=sqlite:////b.db")


def test_a_choice_that_is_none_is_refused_with_the_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("site-admins", "everyone")
    monkeypatch.delenv("SOUNDINGS_CHOICE", raising=False)
    assert Environment().choice("SOUNDINGS_CHOICE", options) == "site-admins"
    monkeypatch.setenv("SOUNDINGS_CHOICE", "everyone")
    assert Environment().choice("SOUNDINGS_CHOICE", options) == "everyone"
    monkeypatch.setenv("SOUNDINGS_CHOICE", "nobody")
    told = "^SOUNDINGS_CHOICE is “nobody”; choose from site-admins, everyone.$"
    with pytest.raises(ImproperlyConfigured, match=told):
        Environment().choice("SOUNDINGS_CHOICE", options)
