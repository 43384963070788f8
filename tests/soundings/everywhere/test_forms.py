"""Every form of the site, posted once as a person would and once with what cannot be: `forms.txt` has the
status of each. Print the table again where a form has changed: the failing test says what it found.
"""

from __future__ import annotations

from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from tests.soundings.everywhere.forms import Form, forms_of, pages
from tests.soundings.everywhere.one_of_each import OneOfEach
from tests.soundings.everywhere.test_who_may import ADDRESSES, address_of
from tests.soundings.test_pages_and_calls import changing_pages
from tests.world import PASSWORD, qrels_text, run_text

TABLE = Path(__file__).with_name("forms.txt")
#: Files that forms of imports take.
SENT = {
    "run_import": ("new.run", run_text({"q1": ["d1"]})),
    "qrels_import": ("new.qrels", qrels_text()),
    "queries": ("new.jsonl", '{"_id": "q9", "text": "new"}\n'),
    "documents": ("new.jsonl", '{"_id": "d9", "text": "new"}\n'),
    "gold_import": ("new.csv", "query,document,answer\nq2,d2,relevant\n"),
    "facts_import": ("new.jsonl", '{"query_id": "q1", "fact_id": "new", "text": "New."}\n'),
}
WRONG = "no such thing"
#: What annotators send.
JUDGED = {"judge", "judge_facts", "practice", "message_send", "work_reply", "document_search"}


def good(form: Form, *, chosen: bool) -> dict[str, object]:
    """The form as it is shown; `chosen`: with the first choice where nothing is chosen yet."""
    data: dict[str, object] = {name: values for name, values in form.values.items() if values != [""]}
    first = {name: next(filter(None, choices), "") for name, choices in form.choices.items()}
    data = {**first, **data} if chosen else data
    return {name: PASSWORD if name == "old_password" else value for name, value in data.items()}


def posted(client: Client, form: Form, data: dict[str, object]) -> str:
    """The status; whatever the form changed is as before."""
    before, cookies = transaction.savepoint(), {name: one.value for name, one in client.cookies.items()}
    if form.name in SENT:
        name, text = SENT[form.name]
        data = {**data, "file": SimpleUploadedFile(name, text.encode())}
    answer = client.post(form.address, data)
    if answer.streaming:
        b"".join(answer.streaming_content)
    transaction.savepoint_rollback(before)
    client.cookies = SimpleCookie(cookies)
    return str(answer.status_code)


def all_forms(one_of_each: OneOfEach, people: dict[str, Client]) -> dict[str, Form]:
    """The form of each page that takes a POST, the one with the most fields; those that no page shows now
    have none."""
    forms = {name: Form(name, address_of(ADDRESSES[name], one_of_each), "post") for name in changing_pages()}
    for column, person in ((4, "admin"), (2, "annotator")):
        for address in pages(one_of_each, column):
            for form in forms_of(people[person], address):
                if form.method == "post" and len(form.choices) > len(forms[form.name].choices):
                    forms[form.name] = form
    return forms


@pytest.mark.slow
def test_every_form_takes_what_is_good_and_refuses_what_is_not(
    one_of_each: OneOfEach, people: dict[str, Client]
) -> None:
    found = []
    for name, form in sorted(all_forms(one_of_each, people).items()):
        client = people["annotator" if name in JUDGED else "admin"]
        taken = posted(client, form, good(form, chosen=False))
        taken = taken if taken == "302" else posted(client, form, good(form, chosen=True))
        wrong: dict[str, object] = dict.fromkeys(form.choices, WRONG)
        found.append(f"{name:28} {taken:4} {posted(client, form, wrong)}")
    assert found == TABLE.read_text().splitlines(), "\n".join(["Found:", *found])
    assert not [line for line in found if " 5" in line]


def test_every_form_has_its_row() -> None:
    assert {line.split()[0] for line in TABLE.read_text().splitlines()} == changing_pages()
