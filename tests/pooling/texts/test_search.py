"""Searching documents: what matches, and an index that follows the texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection

from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Job
from pooling.search_models import IndexedText
from pooling.texts import search
from pooling.texts.importing import import_documents
from pooling.texts.search import index_texts, job_that_indexes, search_documents
from tests.world import World


def found(collection: Collection, words: str, **options: Any) -> set[str]:
    keys = search_documents(collection, words, **options).documents
    return set(Document.objects.filter(pk__in=keys).values_list("external_id", flat=True))


def import_texts(world: World, **texts: str) -> None:
    path = world.folder / "corpus.jsonl"
    path.write_text("".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in texts.items()))
    import_documents(world.collection, path)


@pytest.mark.parametrize(
    ("words", "documents", "any_word"),
    [
        ("umbrella", {"d2", "d6"}, False),
        ("FERRY bicycle", {"d3"}, False),
        ("umbrella zeppelin", {"d2", "d6"}, True),
        ('"the ferry"', {"d5"}, False),
        ("ferry -bicycle", {"d5"}, False),
        ("zeppelin", set(), False),
        ('say "or" AND NOT (tickets* ^', {"d5", "d2"}, True),
    ],
)
def test_words_phrases_and_what_is_not_there(
    world: World, words: str, documents: set[str], any_word: bool
) -> None:
    index_texts(world.collection)
    assert documents <= found(world.collection, words)
    assert any_word or found(world.collection, words) == documents
    assert search_documents(world.collection, words).any_word is any_word


@pytest.mark.parametrize(
    ("words", "documents", "any_word"),
    [
        ("夜班", {"zh"}, False),
        ("夜班 轮渡", {"zh"}, True),
        ("バス", {"ja"}, False),
        ("รถเมล์", {"th"}, False),
        ("버스", {"ko"}, False),
        ("버스 -정류장", set(), False),
        ("公共汽车", set(), False),
    ],
)
def test_words_without_spaces_between_them_are_found(
    world: World, words: str, documents: set[str], any_word: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_texts(
        world,
        zh="公交夜班时刻表",
        ja="夜間のバス時刻",
        th="ตารางเวลารถเมล์กลางคืน",
        ko="밤버스가 정류장에서 떠난다",
    )
    index_texts(world.collection)
    assert found(world.collection, words) == documents
    assert search_documents(world.collection, words).any_word is any_word
    monkeypatch.setattr(search, "MOST_READ", 3)
    with pytest.raises(InputError, match="cannot be searched for in more than 3 documents"):
        search_documents(world.collection, words)


def test_the_best_comes_first_and_other_collections_are_not_searched(world: World) -> None:
    elsewhere = Collection.objects.create(slug="elsewhere", name="Elsewhere")
    Document.objects.create(collection=elsewhere, external_id="x", text="umbrella umbrella umbrella")
    index_texts(world.collection)
    index_texts(elsewhere)
    keys = search_documents(world.collection, "umbrella").documents
    assert Document.objects.get(pk=keys[0]).external_id == "d6"  # in its title as well
    assert found(world.collection, "umbrella", limit=1) == {"d6"}
    assert found(elsewhere, "umbrella") == {"x"}


def test_an_import_leaves_new_and_changed_texts_to_the_next_search(world: World) -> None:
    assert job_that_indexes(world.collection) is None
    assert IndexedText.objects.count() == 6
    import_texts(world, d1="A zeppelin at night.", d9="Nothing but zeppelins and a zeppelin.")
    assert found(world.collection, "zeppelin") == set()
    assert job_that_indexes(world.collection) is None
    assert found(world.collection, "zeppelin") == {"d1", "d9"}
    assert found(world.collection, "minutes") == set()
    # Nothing is left to do, and what is deleted is gone from the index.
    assert index_texts(world.collection) == 0
    Document.objects.filter(external_id="d9").delete()
    assert found(world.collection, "zeppelin") == {"d1"}
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM pooling_textsearch")
            assert cursor.fetchone() == (6,)


def test_many_texts_are_indexed_by_a_job(
    world: World, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(search, "AT_ONCE", 2)
    monkeypatch.setattr(search, "BATCH", 4)
    waiting = job_that_indexes(world.collection)
    assert waiting is not None
    assert job_that_indexes(world.collection) == waiting
    from pooling.jobs.running import run_job

    run_job.func(waiting.pk)
    done = Job.objects.get()
    assert (done.state, (done.result or {})["texts"]) == ("done", 6)
    assert job_that_indexes(world.collection) is None
    assert found(world.collection, "umbrella") == {"d2", "d6"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "Write a word to look for."),
        ("-umbrella !", "Write a word to look for."),
        ("x" * 301, "Search for at most 300 characters; these are 301."),
        ("a " * 21, "Search for at most 20 words; these are 21."),
    ],
)
def test_what_cannot_be_searched_for_is_said(world: World, words: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        search_documents(world.collection, words)
