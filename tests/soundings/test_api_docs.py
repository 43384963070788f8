"""The description of the HTTP interface."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, is_typeddict

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from rest_framework.serializers import Serializer

from docs.rooms import PACKAGES, modules
from pooling.interface.shapes import shapes
from tests.labeling.quality.test_prelabel_worth import OF_SAVED_JUDGMENTS

KEPT = Path(__file__).with_name("interface.txt")


@pytest.mark.django_db
def test_the_page_for_people_needs_no_inline_script_or_style(client: Client) -> None:
    page = client.get("/api/docs/").content.decode()
    assert "HTTP interface" in page
    assert "<style" not in page
    assert "<script>" not in page
    assert 'src="http' not in page


def test_the_schema_is_complete_and_free_of_warnings(drawn_once: None, tmp_path: object) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", f"{tmp_path}/schema.yaml")


@cache
def drawn() -> dict[str, Any]:
    """The OpenAPI document."""
    return dict(SchemaGenerator().get_schema(request=None, public=True))


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever asks for the document gets the one of this file, which takes seconds to make."""
    document = drawn()
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *_, **__: document)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, found in document["paths"].items():
        for method, operation in found.items():
            yield method.upper(), path, operation


def names(document: dict[str, Any]) -> set[str]:
    """Every name that a program may rest on: calls, what they are asked, and the keys of what they say."""
    found = set()
    for method, path, operation in operations(document):
        address = re.sub(r"{\w+}", "{}", path)
        found.add(f"{method} {address}")
        found |= {
            f"{method} {address} ?{one['name']}"
            for one in operation.get("parameters", [])
            if one["in"] == "query"
        }
        for body, shape in _shapes(operation):
            found |= {f"{method} {address} {body} .{key}" for key in _keys(document, shape)}
    return found


def _shapes(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    said = {code: body for code, body in operation["responses"].items() if code.startswith("2")}
    bodies = {"asks": operation.get("requestBody", {}), **said}
    for name, body in bodies.items():
        for media in body.get("content", {}).values():
            yield name, media.get("schema", {})


def _keys(document: dict[str, Any], shape: dict[str, Any]) -> list[str]:
    shape = shape.get("items", shape)
    name = shape.get("$ref", "").rpartition("/")[2]
    return list(document["components"]["schemas"].get(name, {}).get("properties", {}))


def test_no_name_of_the_interface_goes_within_a_version() -> None:
    """The kept names are those of the last release. Anybody who takes one away on purpose counts
    INTERFACE_VERSION up; `python -m tests.soundings.interface_names` keeps the names anew.
    """
    kept = KEPT.read_text(encoding="utf-8").splitlines()
    assert kept[0] == f"version {settings.INTERFACE_VERSION}", "the names kept are of another version"
    gone = sorted(set(kept[1:]) - names(drawn()))
    assert gone == [], f"broken for programs: {', '.join(gone)}"


def test_no_sentence_of_the_interface_counts_judgments_that_a_model_saves() -> None:
    assert not OF_SAVED_JUDGMENTS.search(json.dumps(drawn(), default=str))


def test_every_answer_says_the_version_of_the_interface(client: Client, db: None, drawn_once: None) -> None:
    for url in ("/api/schema/", "/api/nowhere/", "/api/collections/"):
        assert client.get(url)["Soundings-Interface"] == settings.INTERFACE_VERSION
    assert drawn()["info"]["version"] == settings.INTERFACE_VERSION
    assert not client.get("/sign-in/").has_header("Soundings-Interface")


def test_every_body_has_one_content_type_and_files_are_binary() -> None:
    document = drawn()
    for method, path, operation in operations(document):
        media = operation.get("requestBody", {}).get("content", {})
        assert list(media) in ([], ["application/json"], ["multipart/form-data"]), f"{method} {path}"
        shape = next(iter(media.values()), {}).get("schema", {})
        name = shape.get("$ref", "").rpartition("/")[2]
        file = document["components"]["schemas"].get(name, {}).get("properties", {}).get("file")
        assert not file or file["format"] == "binary", f"{method} {path}"
        answers = operation["responses"].get("200", {}).get("content", {})
        assert set(answers) <= {"application/json", "application/octet-stream"}, f"{method} {path}"


def test_a_list_that_holds_null_in_place_of_an_object_says_so() -> None:
    points = drawn()["components"]["schemas"]["TrendRun"]["properties"]["points"]
    reference = {"$ref": "#/components/schemas/TrendPoint"}
    assert points == {"type": "array", "items": {"allOf": [reference], "nullable": True}}


def typed_classes() -> dict[frozenset[str], str]:
    """The keys of the stages' dataclasses, NamedTuples and TypedDicts, with the name of one that has them."""
    found = {}
    for path in modules():
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for kind in () if name.startswith("soundings") else vars(import_module(name)).values():
            if isinstance(kind, type) and (
                is_typeddict(kind) or is_dataclass(kind) or hasattr(kind, "_fields")
            ):
                keys = [one.name for one in fields(kind)] if is_dataclass(kind) else kind.__annotations__
                found[frozenset(keys)] = f"{kind.__module__}.{kind.__name__}"
    return found


def serializers(kind: type[Any]) -> Iterator[type[Any]]:
    for one in kind.__subclasses__():
        yield one
        yield from serializers(one)


def test_no_serializer_of_an_answer_repeats_a_typed_class() -> None:
    """`shape` makes it from that class."""
    known = typed_classes()
    answered = {name for name in drawn()["components"]["schemas"] if not name.endswith("Request")}
    repeats = {
        f"{one.__module__}.{one.__name__} = {known[keys]}"
        for one in serializers(Serializer)
        if one.__name__.removesuffix("Serializer") in answered
        and one not in shapes.values()
        and one.__module__.partition(".")[0] in PACKAGES
        and (keys := frozenset(one().fields)) in known
    }
    assert repeats == set()


#: What is short by its nature.
WHOLE = {"/api/find/", "/api/strategies/", "/api/reports/{report_id}/charts/"}


def test_every_list_is_paged_by_one_rule() -> None:
    unpaged = set()
    for method, path, operation in operations(drawn()):
        shapes = dict(_shapes(operation))
        if method == "GET" and shapes.get("200", {}).get("type") == "array":
            asked = {one["name"] for one in operation.get("parameters", [])}
            if not asked >= {"page", "per_page"}:
                unpaged.add(path)
    assert unpaged == WHOLE


def calls_of_the_guide(addresses: Set[str]) -> set[tuple[str, str]]:
    """Method and address of each call in the guide's tables: `…/x/` continues an address of its row."""
    calls = set()
    for row in (settings.BASE_DIR / "templates/docs/api.md").read_text(encoding="utf-8").splitlines():
        cell = row.split(" | ")[0] if row.startswith("| ") else ""
        methods = re.findall(r"\b(?:GET|POST|PUT|PATCH|DELETE)\b", cell)
        words = re.findall(r"`(?:[A-Z/]+ )?([^`?]+)", re.sub(r"{[^}]+}", "{}", cell))
        bases = [word for word in words if word.startswith("/api/")]
        parts = [word.lstrip("…/") for word in words if word not in bases and word.endswith("/")]
        for base, part in product(bases, parts):
            steps = base.split("/")
            longer = ["/".join([*steps[:end], part]) for end in range(len(steps) - 1, 1, -1)]
            bases += [one for one in longer if one in addresses][:1]
        calls |= set(product(methods, bases))
    return calls


def test_the_guide_names_every_call() -> None:
    calls = {(method, re.sub(r"{\w+}", "{}", path)) for method, path, _ in operations(drawn())}
    addresses = {address for _, address in calls}
    named = calls_of_the_guide(addresses)
    assert sorted(calls - named) == []
    assert sorted({address for _, address in named} - addresses) == []
