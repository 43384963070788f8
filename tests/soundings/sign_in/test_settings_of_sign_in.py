"""Variables about sign-in: what cannot be is told in one line when the site starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from soundings.installation import sign_in
from soundings.installation.environment import Environment
from tests.soundings.processes import manage

ISSUER = {
    "SOUNDINGS_OIDC_ISSUER": "https://login.example.org/realms/us/",
    "SOUNDINGS_OIDC_CLIENT_ID": "soundings",
    "SOUNDINGS_OIDC_CLIENT_SECRET": "zzz-secret",
}


@pytest.fixture(autouse=True)
def _libraries_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "require_library", lambda *names: None)
    for name in (*sign_in.OF_PROVIDER, "ISSUER", "NEW_ACCOUNTS", "LINK_BY_EMAIL"):
        monkeypatch.delenv(f"SOUNDINGS_OIDC_{name}", raising=False)


def given(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Environment:
    for name, value in (ISSUER | variables).items():
        monkeypatch.setenv(name, value)
    return Environment()


def test_a_provider_is_described_by_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = "judges=harbour:annotator, cn=leads,ou=us=harbour:admin"
    with pytest.raises(Exception, match="“cn=leads” is not GROUP=COLLECTION:ROLE"):
        sign_in.provider_of(given(monkeypatch, SOUNDINGS_OIDC_GROUPS=groups))
    env = given(monkeypatch, SOUNDINGS_OIDC_GROUPS="judges=harbour:annotator, cn=leads=harbour:admin")
    provider = sign_in.provider_of(env)
    assert provider is not None
    assert provider.groups == (("judges", "harbour", "annotator"), ("cn=leads", "harbour", "admin"))
    assert (provider.issuer, provider.name) == ("https://login.example.org/realms/us", "login.example.org")
    assert (provider.groups_claim, provider.site_admins) == ("groups", frozenset())
    assert (provider.makes_accounts, provider.links_by_email) == (False, False)
    assert "zzz" not in repr(provider)


def test_without_variables_people_sign_in_with_passwords_alone() -> None:
    env = Environment()
    assert sign_in.provider_of(env) is None
    assert sign_in.passwords_of(env, None)
    assert sign_in.allauth_apps(None, sign_in.second_factor_of(env)) == []


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"SOUNDINGS_OIDC_ISSUER": ""}, "SOUNDINGS_OIDC_CLIENT_ID needs SOUNDINGS_OIDC_ISSUER, the address"),
        ({"SOUNDINGS_OIDC_ISSUER": "http://login.example.org"}, "is not the address of a provider"),
        ({"SOUNDINGS_OIDC_ISSUER": "https://me:zzz@login.example.org"}, "is not the address of a provider"),
        ({"SOUNDINGS_OIDC_CLIENT_SECRET": ""}, "needs SOUNDINGS_OIDC_CLIENT_SECRET as well"),
        ({"SOUNDINGS_OIDC_NEW_ACCOUNTS": "maybe"}, "“maybe”; choose from no, yes"),
        ({"SOUNDINGS_OIDC_GROUPS": "judges=harbour:boss"}, "is not GROUP=COLLECTION:ROLE"),
        ({"SOUNDINGS_OIDC_NAME": "x" * 41}, "at most 40 characters"),
    ],
)
def test_what_cannot_be_is_one_sentence_without_the_secret(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    with pytest.raises(sign_in.ImproperlyConfigured, match=sentence) as told:
        sign_in.provider_of(given(monkeypatch, **variables))
    assert "zzz" not in str(told.value)


def test_the_site_does_not_start_where_nobody_could_sign_in(tmp_path: Path) -> None:
    done = manage(tmp_path, "check", SOUNDINGS_PASSWORDS="no")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "SOUNDINGS_PASSWORDS is “no”, and nobody could sign in: set SOUNDINGS_OIDC_ISSUER" in done.stderr


@pytest.mark.parametrize(
    "variables", [ISSUER, {"SOUNDINGS_SECOND_FACTOR": "required"}], ids=["oidc", "factor"]
)
def test_without_the_extra_its_name_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variables: dict[str, str]
) -> None:
    hidden = tmp_path / "sitecustomize.py"
    # As if it were not installed, whether it is or not.
    hidden.write_text(
        "import importlib.util as u; f = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'allauth' else f(name, *more)\n"
    )
    done = manage(tmp_path / "data", "check", PYTHONPATH=str(tmp_path), **variables)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "needs the extra “sso”; install it with pip install 'soundings-ir[sso]'" in done.stderr
