"""Secrets in the database, and texts of others that may hold one."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from pooling.interface.problems import InputError
from pooling.storage.secrets import redacted, seal, unseal


def test_a_secret_comes_back_and_its_sealed_form_tells_nothing() -> None:
    sealed = seal("sk-very-secret")
    assert "secret" not in sealed
    assert sealed != seal("sk-very-secret")
    assert unseal(sealed) == "sk-very-secret"


def test_another_secret_key_reads_nothing_unless_it_knows_the_one_before(settings: Settings) -> None:
    before, sealed = settings.SECRET_KEY, seal("sk-very-secret")
    settings.SECRET_KEY = "another one"
    with pytest.raises(InputError, match="Save the key again"):
        unseal(sealed)
    settings.SECRET_KEY_FALLBACKS = [before]
    assert unseal(sealed) == "sk-very-secret"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Incorrect API key provided: sk-abcd****wxyz. Try", "Incorrect API key provided: [hidden] Try"),
        ("sent Authorization: Bearer abc.def-1", "sent Authorization: [hidden]"),
        ("the key plain-key-7 is old", "the key [hidden] is old"),
        ("a task-force of the risk-averse", "a task-force of the risk-averse"),
    ],
)
def test_texts_lose_their_credentials(text: str, kept: str) -> None:
    assert redacted(text, "plain-key-7", "") == kept
