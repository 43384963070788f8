"""Import of queries and documents."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from pooling.interface.problems import InputError
from pooling.models import Document
from pooling.texts import importing as texts
from pooling.texts.importing import ImportSummary, import_documents, import_queries
from tests.world import World


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_queries_come_with_narrative_and_tags(world: World, tmp_path: Path) -> None:
    metadata = {"narrative": "Times and lines.", "tags": ["transport"]}
    path = lines(tmp_path / "queries.jsonl", {"_id": "q9", "text": "tram", "metadata": metadata})
    assert import_queries(world.collection, path) == ImportSummary(created=1)
    query = world.collection.queries.get(external_id="q9")
    assert (query.text, query.narrative, query.tags) == ("tram", "Times and lines.", ["transport"])
    table = tmp_path / "queries.csv"
    table.write_text("id,text,tags\nq8,bus,night\n")
    import_queries(world.collection, table)
    assert world.collection.queries.get(external_id="q8").tags == ["night"]


def test_importing_the_same_queries_again_changes_nothing(world: World, tmp_path: Path) -> None:
    path = lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "night bus"})
    summary = import_queries(world.collection, path)
    assert (summary.created, summary.changed, summary.unchanged) == (0, 0, 1)


def test_a_query_may_be_reworded_until_a_pool_contains_it(world: World, tmp_path: Path) -> None:
    path = lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "bus at night"})
    assert import_queries(world.collection, path).changed == 1
    world.build_pool()
    path = lines(tmp_path / "again.jsonl", {"_id": "q8", "text": "new"}, {"_id": "q1", "text": "night bus"})
    with pytest.raises(InputError, match=r"again.jsonl: the text of query “q1” differs"):
        import_queries(world.collection, path)
    assert world.collection.queries.get(external_id="q1").text == "bus at night"
    assert not world.collection.queries.filter(external_id="q8").exists()


def test_a_pooled_query_may_get_tags(world: World, tmp_path: Path) -> None:
    world.build_pool()
    record = {"_id": "q1", "text": "night bus", "metadata": {"tags": ["transport"]}}
    import_queries(world.collection, lines(tmp_path / "queries.jsonl", record))
    assert world.collection.queries.get(external_id="q1").tags == ["transport"]


def test_a_second_corpus_adds_missing_texts_and_counts_versions(world: World, tmp_path: Path) -> None:
    Document.objects.create(collection=world.collection, external_id="d7")
    path = lines(
        tmp_path / "corpus.jsonl",
        {"_id": "d7", "title": "Trams", "text": "Line 4 stops at the pier."},
        {"_id": "d1", "title": "Night buses", "text": "Buses run all night."},
        {
            "_id": "d2",
            "title": "Lost property",
            "text": world.collection.documents.get(external_id="d2").text,
        },
    )
    summary = import_documents(world.collection, path)
    assert (summary.created, summary.changed, summary.unchanged) == (0, 2, 1)
    found = {d.external_id: d for d in world.collection.documents.all()}
    assert found["d7"].text == "Line 4 stops at the pier."
    assert [found[name].version for name in ("d1", "d2", "d7")] == [2, 1, 2]


def test_metadata_alone_change_no_version_and_their_order_changes_nothing(
    world: World, tmp_path: Path
) -> None:
    def imported(**metadata: Any) -> tuple[int, int]:
        record = {"_id": "d8", "title": "", "text": "x", "metadata": metadata}
        import_documents(world.collection, lines(tmp_path / "corpus.jsonl", record))
        summary = import_documents(world.collection, lines(tmp_path / "corpus.jsonl", record))
        reordered = {**record, "metadata": dict(reversed(metadata.items()))}
        again = import_documents(world.collection, lines(tmp_path / "corpus.jsonl", reordered))
        return summary.changed + again.changed, world.collection.documents.get(external_id="d8").version

    assert imported(source="web", year=2024) == (0, 1)
    assert imported(source="web", year=2025) == (0, 1)
    assert world.collection.documents.get(external_id="d8").metadata == {"source": "web", "year": 2025}


def test_the_first_repeat_of_several_is_named(world: World, tmp_path: Path) -> None:
    records = [{"_id": id, "text": "x"} for id in ("d8", "d9", "d9", "d8", "d9")]
    with pytest.raises(InputError, match="line 3: document “d9” is in the file twice"):
        import_documents(world.collection, lines(tmp_path / "corpus.jsonl", *records))


def test_a_refused_import_can_be_followed_by_another(world: World, tmp_path: Path) -> None:
    bad, good = {"_id": "d8", "text": "\x00"}, {"_id": "d8", "text": "x"}
    with pytest.raises(InputError):
        import_documents(world.collection, lines(tmp_path / "corpus.jsonl", bad))
    assert import_documents(world.collection, lines(tmp_path / "corpus.jsonl", good)).created == 1


def test_only_pooled_leaves_the_rest_of_the_corpus_out(world: World, tmp_path: Path) -> None:
    world.build_pool()
    path = lines(
        tmp_path / "corpus.jsonl",
        {"_id": "d1", "title": "", "text": "Pooled."},
        {"_id": "d99", "title": "", "text": "In no pool."},
    )
    summary = import_documents(world.collection, path, only_pooled=True)
    assert (summary.changed, summary.left_out) == (1, 1)
    assert not world.collection.documents.filter(external_id="d99").exists()


def test_a_corpus_that_meets_no_pooled_document_is_told_with_both_sides_ids(
    world: World, tmp_path: Path
) -> None:
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"P{at}") for at in range(4)
    )
    other = import_documents(world.collection, lines(tmp_path / "a.jsonl", {"_id": "x1", "text": "Other."}))
    told = "4 pooled documents still have no text, such as “P0”, “P1”, “P2”; the file has “x1”."
    assert other.detail.endswith(told)
    corpus = [{"_id": f"p{at}", "text": "Its text."} for at in range(4)]
    lower = import_documents(world.collection, lines(tmp_path / "b.jsonl", *corpus), only_pooled=True)
    assert lower.left_out == 4
    assert lower.detail.endswith("Ignoring upper and lower case, 100 % would match.")


def test_a_document_twice_on_one_line_of_json_is_refused_too(world: World, tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_text('[{"_id": "d8", "text": "x"}, {"_id": "d9"}, {"_id": "d9"}]')
    with pytest.raises(InputError, match="line 1: document “d9” is in the file twice"):
        import_documents(world.collection, path)
    assert not world.collection.documents.filter(external_id__in=["d8", "d9"]).exists()


def test_what_fields_were_read_as_and_what_has_no_text_is_told(world: World, tmp_path: Path) -> None:
    records = [{"docid": "d8", "segment": "It runs.", "url": "u"}, {"docid": "d9", "segment": ""}]
    summary = import_documents(world.collection, lines(tmp_path / "corpus.jsonl", *records))
    assert summary.detail == (
        "Documents: 2 new, 0 changed, 0 as before, 1 without a text, such as “d9”. "
        "Read as id: docid. Read as text: segment. Kept as metadata: url."
    )


def test_texts_of_blanks_alone_are_told_by_call_page_and_command(world: World, tmp_path: Path) -> None:
    records = [
        {"_id": f"q{at}", "text": text} for at, text in enumerate(("", " \t", "\u00a0", "", "tram"), 8)
    ]
    path = lines(tmp_path / "queries.jsonl", *records)
    told = "5 new, 0 changed, 0 as before, 4 without a text, such as “q8”, “q9”, “q10”."
    output = io.StringIO()
    call_command("import_collection", "other", "--queries", str(path), stdout=output)
    assert f"Queries: {told}" in output.getvalue()
    (ada := Client()).force_login(world.ada)
    file = SimpleUploadedFile("queries.jsonl", path.read_bytes())
    answer = ada.post("/api/collections/harbour/queries/", {"file": file}).json()
    assert answer["detail"].startswith(f"Queries: {told}")
    again = SimpleUploadedFile("queries.jsonl", path.read_bytes())
    page = ada.post("/collections/harbour/queries/", {"file": again}, follow=True)
    assert "4 without a text, such as “q8”, “q9”, “q10”" in page.content.decode()


def test_documents_of_blanks_alone_are_counted_among_those_that_are_kept(
    world: World, tmp_path: Path
) -> None:
    records = [{"_id": "d1", "text": " "}, {"_id": "d8", "text": ""}, {"_id": "d9", "text": "It runs."}]
    path = lines(tmp_path / "corpus.jsonl", *records)
    world.build_pool()
    pooled, every = (
        import_documents(world.collection, path, only_pooled=one).detail for one in (True, False)
    )
    assert ", 1 without a text, such as “d1”." in pooled
    assert ", 2 without a text, such as “d1”, “d8”." in every


def test_a_corpus_without_a_text_stores_nothing(world: World, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no document has a text"):
        import_documents(
            world.collection, lines(tmp_path / "corpus.jsonl", {"_id": "d8", "para": "It runs."})
        )
    assert world.collection.documents.count() == 6


def test_an_error_in_the_last_line_stores_nothing(world: World, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "d8", "title": "", "text": "fine"}\n{"_id": "d9", "title": ')
    with pytest.raises(ValueError, match=r"corpus.jsonl, line 2"):
        import_documents(world.collection, path)
    assert world.collection.documents.count() == 6


@pytest.mark.parametrize("batch", [1000, 1])
@pytest.mark.parametrize("twice", ["d1", "d8"])
def test_a_document_twice_in_the_file_stores_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, twice: str, batch: int
) -> None:
    monkeypatch.setattr(texts, "BATCH", batch)
    record = {"_id": twice, "title": "", "text": "One."}
    with pytest.raises(ValueError, match=f"line 2: .*{twice}"):
        import_documents(
            world.collection, lines(tmp_path / "corpus.jsonl", record, {**record, "text": "Two."})
        )
    assert world.collection.documents.count() == 6
    assert world.collection.documents.get(external_id="d1").version == 1


@pytest.mark.parametrize(
    "record",
    [
        {"_id": "x" * 501, "title": "", "text": "long id"},
        {"_id": "d\x00", "title": "", "text": "NUL in the id"},
        {"_id": "d8", "title": "", "text": "NUL \x00 in the text"},
        {"_id": "d8", "title": "", "text": "half a character \ud800"},
        {"_id": "d8", "title": "", "text": "x", "metadata": {"note": "\x00"}},
        {"_id": "d8", "title": "", "text": "x", "metadata": {"length": float("nan")}},
        {"_id": "d8", "title": "", "text": "x", "metadata": {"length": float("inf")}},
    ],
)
def test_what_no_database_keeps_is_refused_with_its_line(
    world: World, tmp_path: Path, record: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"corpus.jsonl, line 1"):
        import_documents(world.collection, lines(tmp_path / "corpus.jsonl", record))
    assert world.collection.documents.count() == 6


def test_odd_ids_are_kept_as_they_are(world: World, tmp_path: Path) -> None:
    odd = ["007", " d", "Ä", "A\u0308", "#d", "d/1?x=%20&", "ﬁ", "d\u2028e"]
    records = [{"_id": id, "title": "", "text": "x"} for id in odd]
    import_documents(world.collection, lines(tmp_path / "corpus.jsonl", *records))
    stored = set(world.collection.documents.values_list("external_id", flat=True))
    assert set(odd) <= stored
