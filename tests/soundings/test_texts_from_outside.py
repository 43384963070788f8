"""Texts that no database keeps, with a NUL or half a character, are refused in one sentence wherever they
come in: addresses, forms, bodies of calls, files and commands.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import get_commands, load_command_class
from django.test import Client

from soundings import cli
from tests.labeling.helpers import make_queue
from tests.labeling.judging.test_api import Api
from tests.soundings.test_refusals import WRONG
from tests.world import World

SENTENCE = "contains a NUL or half a character. Remove it."
HALF = '"\\ud800"'
#: What is sent -> the field at fault.
CALLS = {
    "collections/harbour/members/": ({"username": "a\ud800"}, "username"),
    "collections/harbour/pools/": ({"runs": ["alpha", "\ud800"]}, "runs"),
    "collections/harbour/engines/": ({"name": "e", "headers": {"x": "\0"}}, "x"),
    "collections/harbour/plan/": ({"k": -1, "\ud800": 1}, "?"),
}
#: Import by call -> a file with half a character in JSON, and options.
FILES: dict[str, tuple[str, str, dict[str, str]]] = {
    "queries": ("f.jsonl", '{"_id": %s, "text": "x"}\n', {"name": "n"}),
    "documents": ("f.jsonl", '{"_id": "d9", "text": "x", "metadata": {"author": %s}}\n', {"name": "n"}),
    "runs": ("f.json", '{"q1": {%s: 1}}', {"name": "n"}),
    "qrels": ("f.jsonl", '{"query_id": "q1", "document_id": %s, "relevance": 1}\n', {"name": "n"}),
    "gold/import": ("f.jsonl", '{"query": "q1", "document": %s, "answer": "relevant"}\n', {}),
    "facts/import": ("f.jsonl", '{"query_id": "q1", "fact_id": "f", "text": %s}\n', {}),
    "judgments/imports": ("f.json", '[{"data": {"query": %s}}]', {"format": "label-studio"}),
}


@pytest.fixture
def ada(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


@pytest.mark.parametrize("address", CALLS)
def test_a_call_names_the_field_at_fault(ada: Client, address: str) -> None:
    body, field = CALLS[address]
    answer = ada.post(f"/api/{address}", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["fields"] == {field: f"This {SENTENCE}"}


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_half_a_character_is_refused_by_line(ada: Client, name: str) -> None:
    file, content, options = FILES[name]
    sent = {**options, "file": SimpleUploadedFile(file, (content % HALF).encode())}
    answer = ada.post(f"/api/collections/harbour/{name}/", sent)
    assert answer.status_code == 400, answer.content
    assert "contains half a character. Fix the program that wrote it." in answer.json()["detail"]


@pytest.mark.parametrize("sent", [{"name": "a\0b"}, {"na\0me": "x"}])
def test_a_form_is_refused_with_a_sentence(ada: Client, sent: dict[str, Any]) -> None:
    answer = ada.post("/new-collection/", sent)
    assert answer.status_code == 400
    assert SENTENCE in answer.content.decode()


def test_a_form_in_another_encoding_brings_no_half_either(ada: Client) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n+2AA-\r\n--x--\r\n'
    kind = "multipart/form-data; boundary=x; charset=utf-7"
    for address in ("/new-collection/", "/api/collections/harbour/runs/"):
        answer = ada.generic("POST", address, body, kind)
        assert answer.status_code == 400
        assert "half a character" in answer.content.decode()


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/collections/harbour/queries/?q=a%00", 400),
        ("/api/collections/harbour/queries/?q=a%00", 400),
        ("/find/?q=%00", 400),
        ("/api/accounts/a%00b/", 404),
        ("/collections/harbour/?q=%ED%A0%80", 200),
    ],
)
def test_an_address_is_refused_too(ada: Client, address: str, status: int) -> None:
    assert ada.get(address).status_code == status


def test_a_verdict_is_never_lost_to_the_note_beside_it(world: World) -> None:
    queue, api = make_queue(world, pairs=2), Api(world.ben)
    item = api.post(f"queues/{queue.pk}/claim/", {"count": 1}).json()["items"][0]["item"]
    sent = {"item": item, "key": "k", "verdict": "relevant", "note": "a\0b"}
    (result,) = api.post(f"queues/{queue.pk}/judgments/", [sent]).json()["results"]
    assert result["status"] in ("stored", "rejected")


@pytest.mark.parametrize("name", sorted(set(WRONG) & {"create_user", "import_run", "open_queue", "evaluate"}))
def test_a_command_names_the_argument_that_is_not_utf_8(
    world: World, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["manage.py", name, *WRONG[name]]
    if name == "evaluate":
        arguments += ["--tag", "\udcff"]
    else:
        arguments[2] = "\udcff"
    run = (
        cli.run_on_files
        if name == "evaluate"
        else load_command_class(get_commands()[name], name).run_from_argv
    )
    with pytest.raises(SystemExit) as end:
        run(arguments)
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.endswith("this is not text in UTF-8. Type it again.\n")
    assert said.count("\n") == 1
