"""Every form and every call of the site with odd values, drawn with a seed: whatever comes, no answer is 500.

What calls take is read from the OpenAPI document, and what forms take from the pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from tests.soundings.everywhere.forms import forms_of, pages
from tests.soundings.everywhere.one_of_each import OneOfEach
from tests.soundings.everywhere.test_forms import good
from tests.soundings.everywhere.test_who_may import ADDRESSES, address_of

TEXTS = (
    *("", " ", "\0", "a\0b", "\\ud800", "\\u0000", "-1", "0", "1e400", "nan", "9" * 30, "²", "٣", "1,,2"),
    *("0001-01-01", "9999-12-31", "9999-12-31T23:59:59Z", "2026-02-30", "x" * 6000, "é" * 300, "🙂"),
    *("http://a..b/", "http://[::1", f"http://{'x' * 70}.example/", "http://☃.example/", "javascript:x"),
    *("[", "{}", '{"k": -1}', '["\\ud800"]', "{{query}}", "%", "//elsewhere", "relevant", "q1", "on", "null"),
)
VALUES: tuple[Any, ...] = (
    *TEXTS,
    *(None, True, -1, 0, 2**63, 2**70, 1e308, -0.5, "\ud800", [], {}, [[]], [None], [-1], [2**70], [1.5]),
    *({"k": -1}, {"a\0": 1}, {"\ud800": 1}, {"x": "\0"}, {"x": {"y": ["\ud800"]}}, ["\0"], ["\ud800"], [{}]),
)
FILES = (
    *(b"", b"q1 0 d1 1\n", b"\xff\xfe", b"q1 Q0 d1 1 1e400 t\n", b'[{"a": "\\ud800"}]', b"[" * 500),
    *(b'{"_id": "\\ud800", "text": "\\u0000"}\n', b'{"q1": {"\\u0000": 1}}', b"query,document\nq1,d\x00\n"),
)
PEOPLE = ("admin", "annotator")


class Sender:
    """Sends requests, puts back what they changed, and notes what answered 500."""

    def __init__(self, people: dict[str, Client]) -> None:
        self.people = people
        self.wrong: list[str] = []

    def send(self, person: str, method: str, address: str, data: Any, **options: Any) -> None:
        client, before = self.people[person], transaction.savepoint()
        cookies = deepcopy(client.cookies)
        client.raise_request_exception = False
        answer = getattr(client, method)(address, data, **options)
        if answer.streaming:
            b"".join(answer.streaming_content)
        if answer.status_code >= 500:
            self.wrong.append(f"{method} {address[:200]} {str(data)[:200]}")
        transaction.savepoint_rollback(before)
        client.cookies = cookies  # some requests sign out


@pytest.mark.slow
def test_no_form_is_answered_with_500(one_of_each: OneOfEach, people: dict[str, Client]) -> None:
    sender, chance, seen = Sender(people), Random(39), set()
    for column, person in ((4, "admin"), (2, "annotator")):
        for address in pages(one_of_each, column):
            for form in forms_of(people[person], address):
                shape = person, form.method, form.name, *sorted(form.choices)
                if shape in seen or form.method not in ("get", "post"):
                    continue
                seen.add(shape)
                for name in chance.sample(sorted(form.choices), min(6, len(form.choices))):
                    values = [*form.choices[name], *TEXTS]
                    data = good(form, chosen=chance.random() < 0.5) | {name: chance.choice(values)}
                    sender.send(person, form.method, form.address, data)
    assert sender.wrong == []


@pytest.fixture(scope="module")
def schema() -> Any:
    """The OpenAPI document, made before a test puts another in its place."""
    return SchemaGenerator().get_schema(request=None, public=True)


@pytest.mark.slow
def test_no_call_is_answered_with_500(schema: Any, one_of_each: OneOfEach, people: dict[str, Client]) -> None:
    sender, chance = Sender(people), Random(40)
    for method, address, operation in calls(schema, one_of_each):
        asked = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
        body = operation.get("requestBody", {}).get("content", {})
        for kind, shape in [(kind, one["schema"]) for kind, one in body.items()] or [("", {})]:
            for number in range(3 + 3 * bool(shape) * len(PEOPLE)):
                query = {name: chance.choice(TEXTS) for name in asked if chance.random() < 0.4}
                person = PEOPLE[number % 2]
                target = f"{address}?{urlencode(query)}"
                data = odd(example(shape, schema, chance), chance) if shape else None
                if kind.startswith("multipart"):
                    fields = {name: str(value).encode(errors="replace") for name, value in data.items()}
                    file = SimpleUploadedFile(
                        chance.choice(["f.jsonl", "f.json", "f.txt"]), chance.choice(FILES)
                    )
                    sender.send(person, method, target, {**fields, "file": file})
                elif shape:
                    sender.send(person, method, target, json.dumps(data), content_type="application/json")
                else:
                    sender.send(person, method, target, None)
    assert sender.wrong == []


def calls(schema: Any, one_of_each: OneOfEach) -> Iterator[tuple[str, str, Any]]:
    """Method, address and description of each call."""
    for name, pattern in ADDRESSES.items():
        if not name.startswith("api_"):
            continue
        address = address_of(pattern, one_of_each).partition("?")[0]
        for path, methods in schema["paths"].items():
            if fits(path, str(pattern.pattern), address):
                yield from ((method, address, operation) for method, operation in methods.items())


def fits(path: str, pattern: str, address: str) -> bool:
    """Whether a path of the document is the one of a pattern, as filled in at an address."""
    parts, filled, of_pattern = (
        path.split("/"),
        address.split("/"),
        f"/api/{pattern.removeprefix('api/')}".split("/"),
    )
    return len(parts) == len(filled) == len(of_pattern) and all(
        part.startswith("{") == own.startswith("<") and (part.startswith("{") or part == there)
        for part, own, there in zip(parts, of_pattern, filled, strict=True)
    )


def example(shape: Any, schema: Any, chance: Random, name: str = "") -> Any:
    """A body of a shape, with about half of what is optional."""
    if "$ref" in shape:
        return example(schema["components"]["schemas"][shape["$ref"].split("/")[-1]], schema, chance, name)
    if inner := shape.get("allOf") or shape.get("oneOf"):
        return example(inner[0], schema, chance, name)
    if "enum" in shape:
        return shape["enum"][0]
    match shape.get("type"):
        case "object":
            named = shape.get("properties", {}).items()
            needed = shape.get("required", ())
            kept = [(key, one) for key, one in named if key in needed or chance.random() < 0.5]
            return {key: example(one, schema, chance, key) for key, one in kept}
        case "array":
            return [example(shape["items"], schema, chance, name)]
        case "integer" | "number":
            return shape.get("minimum", 1)
        case "boolean":
            return chance.random() < 0.5
    return {"query": "q1", "document": "d1", "runs": "alpha", "run": "alpha", "a": "alpha"}.get(name, "x")


def odd(body: Any, chance: Random) -> Any:
    """A body with something odd in one place."""
    target = body[0] if isinstance(body, list) else body
    if isinstance(target, dict) and target:
        key = chance.choice(sorted(target))
        inner = target[key]
        if isinstance(inner, list | dict) and inner and chance.random() < 0.3:
            target[key] = odd(inner, chance)
        else:
            target[key] = chance.choice(VALUES)
        return body
    return [chance.choice(VALUES)] if isinstance(body, list) else body
