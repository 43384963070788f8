"""The settings of engines: checked, read from rows and presets, and what asks by them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields

from django.conf import settings as site

from pooling.engine_models import Engine
from pooling.engines.asking import Asker, EngineError
from pooling.engines.connections import AllowedNetworks
from pooling.engines.options import EngineSettings
from pooling.engines.paths import PathError, read_paths
from pooling.engines.presets import PRESETS
from pooling.engines.sql import SqlAsker, checked_statement, database_names
from pooling.engines.templates import TemplateError, checked_address, checked_body, places_in
from pooling.engines.web import WebAsker
from pooling.interface.problems import InputError, refuse_all
from pooling.options import option_rows, options_of, problems_of

PRIVATE_NETWORKS = "SOUNDINGS_ENGINE_PRIVATE_NETWORKS"
LONGEST_TEMPLATE = 20_000
_HEADER = re.compile(r"[A-Za-z0-9-]+(:\s*[A-Za-z0-9_-]+)?")
# Would change what is sent or to whom.
_NO_KEY_HEADERS = (
    "host",
    "content-length",
    "content-type",
    "accept-encoding",
    "transfer-encoding",
    "connection",
)


def settings_of(engine: Engine) -> EngineSettings:
    return EngineSettings(**{one.name: getattr(engine, one.name) for one in fields(EngineSettings)})


def setting_rows(engine: Engine) -> list[tuple[str, str]]:
    settings = settings_of(engine)
    options = [
        one for one in options_of(EngineSettings).values() if getattr(settings, one.name) not in ("", None)
    ]
    without_key = () if engine.sealed_key else ("key_header",)
    return list(option_rows([one for one in options if one.name not in without_key], settings))


def preset_named(name: str) -> EngineSettings:
    """The settings to begin with; `InputError` for a name that there is not."""
    if name not in PRESETS:
        raise InputError(f"Unknown preset “{name}”. Known: {', '.join(PRESETS)}.", field="preset")
    preset = PRESETS[name]
    taken = {
        one.name: getattr(preset, one.name) for one in fields(EngineSettings) if hasattr(preset, one.name)
    }
    return EngineSettings(**taken)


def checked(settings: EngineSettings) -> EngineSettings:
    """The settings without surrounding space; `InputError` names each field that will not do."""
    values = {one.name: getattr(settings, one.name) for one in fields(EngineSettings)}
    values |= {name: value.strip() for name, value in values.items() if isinstance(value, str)}
    problems = problems_of(settings)
    long = [
        name for name, value in values.items() if isinstance(value, str) and len(value) > LONGEST_TEMPLATE
    ]
    problems |= dict.fromkeys(long, f"At most {LONGEST_TEMPLATE:,} characters.")
    if long:  # nothing looks through them
        raise InputError(" ".join(problems.values()), fields=problems)
    if values["statement"]:
        _check_sql(values, problems)
    else:
        _check_web(values, problems)
    refuse_all(problems)
    return EngineSettings(**values)


def asker_of(settings: EngineSettings, key: str) -> Asker:
    """An asker for these settings. It connects when it is first asked."""
    if settings.is_sql:
        return SqlAsker(settings)
    return WebAsker(settings, key, AllowedNetworks(site.ENGINE_PRIVATE_NETWORKS, PRIVATE_NETWORKS))


def _check_sql(values: dict[str, object], problems: dict[str, str]) -> None:
    if values["address"]:
        problems["statement"] = "Give an address or a database query, not both."
        return
    # What only an address has.
    values |= {"body": "", "id_path": "", "score_path": "", "key_header": ""}
    _check(
        problems, "statement", lambda: values.update(statement=checked_statement(str(values["statement"])))
    )
    if values["database"] not in database_names():
        databases = (
            ", ".join(database_names()) or "none; an administrator names them in SOUNDINGS_SEARCH_DATABASES"
        )
        problems["database"] = f"Choose a database of the site's settings. There are: {databases}."


def _check_web(values: dict[str, object], problems: dict[str, str]) -> None:
    values["database"] = ""
    if not values["address"]:
        problems["address"] = "An engine needs an address, or a query for a database."
        return
    address, body = str(values["address"]), str(values["body"])
    _check(problems, "address", lambda: values.update(address=checked_address(address)))
    _check(problems, "body", lambda: values.update(body=checked_body(body)))
    if not body and "query" not in places_in(address) and "address" not in problems:
        problems["address"] = "Neither address nor request has {{query}}, so every query would be the same."
    _check(problems, "id_path", lambda: read_paths(str(values["id_path"]), ""))
    if "id_path" not in problems:
        _check(problems, "score_path", lambda: read_paths(str(values["id_path"]), str(values["score_path"])))
    header = str(values["key_header"])
    if header and (
        not _HEADER.fullmatch(header) or header.partition(":")[0].strip().lower() in _NO_KEY_HEADERS
    ):
        problems["key_header"] = "A header is a name and at most one word, such as Authorization: Bearer."


def _check(problems: dict[str, str], name: str, step: Callable[[], object]) -> None:
    try:
        step()
    except (TemplateError, PathError, EngineError) as error:
        problems.setdefault(name, str(error))
