"""Settings as environment variables make them, each read in a fresh process."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.soundings.processes import ROOT, environment, manage

NAMES = (
    "DATABASES",
    "DEBUG",
    "SESSION_COOKIE_SECURE",
    "CSRF_COOKIE_SECURE",
    "SECURE_SSL_REDIRECT",
    "ALLOWED_HOSTS",
)
THREADS = "OPENBLAS_NUM_THREADS"


def settings_with(folder: Path, **variables: str) -> dict[str, Any]:
    code = (
        "import json, os; from django.conf import settings; "
        f"values = {{name: getattr(settings, name) for name in {(*NAMES, 'SECRET_KEY')!r}}}; "
        f"print(json.dumps(values | {{'threads': os.environ[{THREADS!r}]}}))"
    )
    # The settings of the tests have set it here already.
    inherited = environment(folder, DJANGO_SETTINGS_MODULE="soundings.settings")
    inherited.pop(THREADS, None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=inherited | variables,
    )
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_without_any_variable_the_site_is_for_this_machine_and_keeps_its_secret(tmp_path: Path) -> None:
    first, second = settings_with(tmp_path), settings_with(tmp_path)
    assert first["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert first["DEBUG"] is False
    assert first["SECRET_KEY"] == second["SECRET_KEY"]
    assert len(first["SECRET_KEY"]) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_linear_algebra_takes_one_thread_of_each_process_unless_somebody_says_otherwise(
    tmp_path: Path,
) -> None:
    assert settings_with(tmp_path)["threads"] == "1"
    assert settings_with(tmp_path, **{THREADS: "3"})["threads"] == "3"


def test_behind_tls_cookies_are_secure_and_plain_http_is_redirected(tmp_path: Path) -> None:
    values = settings_with(tmp_path, SOUNDINGS_TLS="true", SOUNDINGS_HOSTS="labels.example.org")
    assert values["SESSION_COOKIE_SECURE"] is values["CSRF_COOKIE_SECURE"] is True
    assert values["SECURE_SSL_REDIRECT"] is True
    assert values["ALLOWED_HOSTS"] == ["labels.example.org"]


@pytest.mark.parametrize(("wanted", "planned"), [("true", True), ("false", False)])
def test_on_postgresql_statements_are_planned_once_unless_a_pooler_cannot_keep_them(
    tmp_path: Path, wanted: str, planned: bool
) -> None:
    url = "postgres://ada@127.0.0.1:5432/soundings"
    values = settings_with(tmp_path, DATABASE_URL=url, SOUNDINGS_PREPARED_STATEMENTS=wanted)
    database = values["DATABASES"]["default"]
    assert database["ENGINE"] == "soundings.postgresql"
    assert ("prepare_threshold" in database.get("OPTIONS", {})) is planned


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("DATABASE_URL", "nonsense", "DATABASE_URL is not a database address"),
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing", "The database cannot be used."),
        ("DATABASE_URL", "mysql://ada@127.0.0.1/labels", "DATABASE_URL is not a database address"),
        ("SOUNDINGS_DATA", "/dev/null/data", "SOUNDINGS_DATA: cannot write to /dev/null/data"),
    ],
)
def test_a_setting_that_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, variable: str, value: str, sentence: str
) -> None:
    done = manage(tmp_path, "create_user", "ada", **{variable: value})
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("DATABASE_URL", "", "is not a database address; write for instance postgres://user@host/name."),
        ("DATABASE_URL", "shop://ada@host/name", "is not a database address; write for instance postgres://"),
        ("DATABASE_URL", "postgres://ada@host:port/name", "is not a database address; write for instance"),
        ("SOUNDINGS_DATA", __file__, f": {__file__} is a file; name a folder."),
        ("SOUNDINGS_HOSTS", " ,", " is empty; write for instance labels.example.org, or unset it."),
        ("SOUNDINGS_TLS", "maybe", "is “maybe”; choose from true, false."),
        ("SOUNDINGS_DEBUG", "2", "is “2”; choose from true, false."),
        ("SOUNDINGS_PREPARED_STATEMENTS", "never", "is “never”; choose from true, false."),
        ("DATABASE_URL", "postgres://", "is not a database address; write for instance postgres://user@host"),
        ("DATABASE_URL", "postgres://ada@host", "is not a database address; write for instance postgres://"),
        (
            "SOUNDINGS_HOSTS",
            "https://labels.example.org/",
            ": “https://labels.example.org/” is no host",
        ),
        (
            "SOUNDINGS_HOSTS",
            "localhost,labels.example.org:8000",
            ": “labels.example.org:8000” is no host",
        ),
        (
            "SOUNDINGS_TRUSTED_ORIGINS",
            "labels.example.org",
            "instance https://labels.example.org, without",
        ),
        ("SOUNDINGS_TRUSTED_ORIGINS", "https://labels.example.org/", ": “https://labels.example.org/” is no"),
        ("SOUNDINGS_TRUSTED_ORIGINS", "https://host:port", ": “https://host:port” is no origin; write for"),
        ("SOUNDINGS_MAIL_URL", "smtp://", "is not a mail server address; write for instance smtp+tls://"),
        ("SOUNDINGS_MAIL_URL", "smtp://me:hidden@host:port", "is not a mail server address;"),
        ("SOUNDINGS_MAIL_FROM", "not an address", "is “not an address”, which is no mail address; write for"),
        ("SOUNDINGS_WORKER_PROCESSES", "0", "is “0”; write a whole number of at least 1."),
        ("SOUNDINGS_MAX_UPLOAD_BYTES", "much", "is “much”, which is not a valid value."),
        ("SOUNDINGS_MAX_UPLOAD_BYTES", "0", "is “0”; write a whole number of at least 1."),
        ("SOUNDINGS_FAILURES_PER_ADDRESS", "0", "is “0”; write a whole number of at least 1."),
        ("SOUNDINGS_PROXIES", "-1", "is “-1”; write a whole number of at least 0."),
        ("SOUNDINGS_TOKEN_DAYS", "-3", "is “-3”; write a whole number from 0 to 36500."),
        ("SOUNDINGS_NOTE_DAYS", "99999999", "is “99999999”; write a whole number from 0 to 36500."),
        ("SOUNDINGS_PRICE_PER_JUDGMENT", "-1", "is “-1”; write a number from 0 to 1,000,000,000."),
        ("SOUNDINGS_PRICE_PER_JUDGMENT", "1e400", "is “1e400”; write a number from 0 to 1,000,000,000."),
        ("SOUNDINGS_PRICE_PER_JUDGMENT", "nan", "is “nan”; write a number from 0 to 1,000,000,000."),
        ("SOUNDINGS_PRICE_PER_JUDGMENT", "0,5", "is “0,5”; write a number from 0 to 1,000,000,000."),
        ("SOUNDINGS_LLM_TIMEOUT", "0", "is “0”; write a number from 0.1 to 86,400."),
        ("SOUNDINGS_GOLD_PAUSE", "never", "is “never”; choose from automatic, proposed."),
        ("SOUNDINGS_LLM_PRICES", "small=1/2,foo", ": “foo” has no model. Write MODEL=INPUT/OUTPUT"),
    ],
)
def test_a_value_that_its_setting_cannot_have_is_refused_with_those_it_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv("SOUNDINGS_DATA", str(tmp_path))
    monkeypatch.delenv("SOUNDINGS_SECRET_KEY", raising=False)
    monkeypatch.setenv(variable, value)

    with pytest.raises(ImproperlyConfigured) as refused:
        runpy.run_path(str(ROOT / "soundings" / "settings.py"))

    assert str(refused.value).startswith(variable)
    assert sentence in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_host_names_origins_and_senders_are_taken_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOUNDINGS_DATA", str(tmp_path))
    monkeypatch.setenv("SOUNDINGS_HOSTS", "labels.example.org, .example.org,[::1],*")
    monkeypatch.setenv("SOUNDINGS_TRUSTED_ORIGINS", "https://labels.example.org:8443,https://*.example.org")
    monkeypatch.setenv("SOUNDINGS_MAIL_FROM", "Soundings <soundings@example.org>")
    monkeypatch.setenv("DATABASE_URL", "postgres:///?service=soundings")
    settings = runpy.run_path(str(ROOT / "soundings" / "settings.py"))
    assert settings["ALLOWED_HOSTS"] == ["labels.example.org", ".example.org", "[::1]", "*"]
    assert len(settings["CSRF_TRUSTED_ORIGINS"]) == 2
    assert settings["DEFAULT_FROM_EMAIL"] == "Soundings <soundings@example.org>"
