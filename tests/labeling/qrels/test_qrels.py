"""Labels: from verdicts and imports to a frozen file that other tools read."""

from __future__ import annotations

import hashlib
import json
import warnings
from io import StringIO
from pathlib import Path

import ir_datasets
import ir_measures
import pytest
import pytrec_eval
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client

from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import claim
from labeling.models import ImportedLabel, QrelsRelease
from labeling.qrels.downloads import export_file
from labeling.qrels.imported import QrelsImport, import_qrels
from labeling.qrels.labels import current_labels
from labeling.qrels.releases import export_release, read_release, release_named, release_qrels
from labeling.queues.opening import change_state, open_queue
from pooling.formats import FormatError, read_qrels
from pooling.interface.problems import InputError
from pooling.models import Document
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import RELEVANT, World, qrels_text

LABELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}, "q3": {"d1": 0, "d2": 0}}


def import_text(world: World, text: str, name: str = "old.qrels") -> QrelsImport:
    path = world.folder / name
    path.write_text(text)
    return import_qrels(world.collection, path, user=world.ada)


def judged_release(world: World, name: str = "first") -> QrelsRelease:
    """Both documents of all queries judged as `RELEVANT` says, and released."""
    queue = make_queue(world, pairs=6)
    for lease in claim(queue, world.ben, 6).leases:
        pair = (lease.item.query.external_id, lease.item.document.external_id)
        judge(queue, world.ben, lease.item_id, "relevant" if pair in RELEVANT else "not_relevant")
    return release_qrels(world.collection, name=name, user=world.ada)


def nested(rows: object) -> dict[str, dict[str, int]]:
    labels: dict[str, dict[str, int]] = {}
    for query, document, relevance in rows:  # type: ignore[attr-defined]
        labels.setdefault(query, {})[document] = relevance
    return labels


def test_a_release_holds_every_judged_pair_sorted_with_its_label(world: World) -> None:
    release = judged_release(world)
    text = export_release(release).decode()
    assert text == "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 0\nq2 0 d2 1\nq3 0 d1 0\nq3 0 d2 0\n"
    assert (release.pair_count, release.relevant_count, release.query_count) == (6, 2, 3)
    assert release.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert nested(read_release(release).iter_rows()) == LABELS


@pytest.mark.anywhere
@pytest.mark.slow  # ranx compiles its dicts
def test_ranx_reads_the_same_labels(world: World, tmp_path: Path) -> None:
    path = tmp_path / "first.qrels"
    export_file(judged_release(world), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own source has some
        import ranx

        assert ranx.Qrels.from_file(str(path), kind="trec").to_dict() == LABELS


def test_three_other_tools_read_the_same_labels(world: World, tmp_path: Path) -> None:
    path = tmp_path / "first.qrels"
    export_file(judged_release(world), path)
    with path.open() as file:
        assert pytrec_eval.parse_qrel(file) == LABELS
    assert (
        nested((q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(str(path))) == LABELS
    )
    qrels = ir_datasets.formats.TrecQrels(ir_datasets.util.LocalDownload(path), {0: "no", 1: "yes"})
    assert nested((q.query_id, q.doc_id, q.relevance) for q in qrels.qrels_iter()) == LABELS


@pytest.mark.parametrize("format", ["trec", "beir", "csv", "tsv", "jsonl", "json", "parquet"])
def test_every_export_reads_back_the_same(world: World, tmp_path: Path, format: str) -> None:
    suffix = {"trec": "qrels", "beir": "tsv"}.get(format, format)
    path = tmp_path / f"export.{suffix}"
    path.write_bytes(export_release(judged_release(world), format))
    assert nested(read_qrels(path).frame.iter_rows()) == LABELS


def test_the_beir_export_has_its_header(world: World) -> None:
    assert export_release(judged_release(world), "beir").startswith(
        b"query-id\tcorpus-id\tscore\nq1\td1\t1\n"
    )


def test_the_sidecar_tells_where_the_labels_come_from(world: World) -> None:
    release = judged_release(world)
    sidecar = json.loads(export_release(release, "sidecar"))
    assert (sidecar["release"], sidecar["rule"], sidecar["sha256"]) == ("first", "majority", release.sha256)
    assert sidecar["counts"] == {
        "pairs": 6,
        "relevant": 2,
        "not_relevant": 4,
        "pooled_not_judged": 0,
        "queries": 3,
        "human": 6,
        "adjudicated": 0,
        "gold": 0,
        "imported": 0,
        "tie": 0,
        "conflict": 0,
        "not_final": 0,
        "cannot_judge": 0,
        "not_counted": 0,
        "contradictions": 0,
        "grades_unused": 0,
        "waiting": 0,
    }
    assert sidecar["annotators"] == {"ben": 6}
    assert [(queue["judgments_per_item"], queue["items"]) for queue in sidecar["queues"]] == [(1, 6)]
    assert sidecar["released_by"] == "ada"


def test_ties_and_pairs_with_too_few_verdicts_have_no_label(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=6)
    first, second, third, fourth, *_ = claim(queue, world.ben, 6).leases
    for lease, verdicts in [(first, "rr"), (second, "rn"), (third, "r"), (fourth, "cc")]:
        for person, letter in zip((world.ben, world.cleo), verdicts, strict=False):
            word = {"r": "relevant", "n": "not_relevant", "c": "cannot_judge"}[letter]
            judge(queue, person, lease.item_id, word, reason="other")
    labels = current_labels(world.collection)
    assert labels.frame.height == 1
    counts = ("pairs", "tie", "not_final", "cannot_judge", "waiting")
    assert [labels.counts[name] for name in counts] == [1, 1, 1, 1, 2]
    assert sorted(labels.undecided["outcome"]) == ["cannot_judge", "not_final", "tie"]


def test_a_closed_queue_does_not_ask_for_more_than_the_open_one(world: World) -> None:
    thrice = make_queue(world, needed=3, pairs=2)
    for lease in claim(thrice, world.ben, 2).leases:
        judge(thrice, world.ben, lease.item_id)
    assert current_labels(world.collection).counts["not_final"] == 2
    change_state(thrice, "closed")
    make_queue(world, needed=1, pairs=2)
    assert current_labels(world.collection).counts["human"] == 2


def test_imported_labels_count_where_nobody_judged_and_lose_where_somebody_did(world: World) -> None:
    queue = make_queue(world, pairs=2)
    import_text(world, "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 -1\nq2 0 d2 2\n")
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id, "relevant")
    labels = current_labels(world.collection)
    assert labels.frame.rows() == [
        ("q1", "d1", 1, "human"),
        ("q1", "d2", 1, "human"),
        ("q2", "d1", -1, "imported"),
        ("q2", "d2", 2, "imported"),
    ]
    counts = ("contradictions", "human", "imported", "pooled_not_judged", "relevant")
    assert [labels.counts[name] for name in counts] == [1, 2, 2, 1, 3]


def test_a_file_contradicts_the_answer_of_a_gold_question_that_nobody_judged(world: World) -> None:
    make_pool(world)
    add_question(world.collection, NewQuestion("q1", "d1", "relevant"))
    done = import_text(world, "q1 0 d1 0\n")
    assert "1 label contradicts labels made here, which stay and count (query q1, document d1)." in done.notes


def test_where_nobody_made_a_label_an_import_reduces_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("labeling.qrels.imported.current_labels")
    assert not any("made here" in note for note in import_text(world, "q1 0 d1 2\n").notes)


def test_labels_that_people_s_labels_replace_are_counted_by_import_and_release(
    world: World, client: Client
) -> None:
    queue = make_queue(world, pairs=2)
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id, "relevant")
    done = import_text(world, "q1 0 d1 3\nq1 0 d2 0\nq2 0 d1 2\n")
    assert "1 label contradicts labels made here, which stay and count (query q1, document d2)." in done.notes
    assert [note for note in done.notes if note.startswith("The grade above 1 of 1 label is not used")]
    said = StringIO()
    call_command("release_qrels", "harbour", "--name", "r", stdout=said)
    assert "1 imported grade above 1" in said.getvalue()
    client.force_login(world.ada)
    page = client.get(world.collection.releases.get().get_absolute_url()).content.decode()
    assert "The grade above 1 of 1 imported label is not used" in page


def test_imported_negatives_are_kept_in_a_release(world: World) -> None:
    import_text(world, "q1 0 d1 1\nq1 0 d2 -2\n")
    release = release_qrels(world.collection, name="imported")
    assert export_release(release) == b"q1 0 d1 1\nq1 0 d2 -2\n"


def test_ids_are_sorted_by_their_bytes(world: World) -> None:
    import_text(world, "q1 0 é 1\nq1 0 z 1\nq1 0 Z 1\nq1 0 d10 1\nq1 0 d9 1\n")
    release = release_qrels(world.collection, name="r")
    assert read_release(release)["document_id"].to_list() == ["Z", "d10", "d9", "z", "é"]


def test_ids_that_trec_cannot_write_are_frozen_as_json_lines(world: World) -> None:
    path = world.folder / "old.jsonl"
    path.write_text('{"query_id": "q1", "document_id": "two words", "relevance": 1}\n')
    import_qrels(world.collection, path)
    release = release_qrels(world.collection, name="r")
    assert release.sidecar["format"] == "jsonl"
    assert read_release(release).rows() == [("q1", "two words", 1)]
    with pytest.raises(
        FormatError, match=r"^harbour-r.qrels: the id 'two words' is empty or contains a space"
    ):
        export_release(release, "trec")


def test_a_release_does_not_change_when_judging_goes_on(world: World) -> None:
    release = judged_release(world)
    before = export_release(release)
    queue = open_queue(make_pool(world, "again", documents=3), seed=1)
    for lease in claim(queue, world.cleo, 10).leases:
        judge(queue, world.cleo, lease.item_id)
    assert export_release(QrelsRelease.objects.get()) == before


def test_a_name_is_given_once_and_nothing_stays_behind(world: World) -> None:
    judged_release(world)
    with pytest.raises(InputError, match="Release “first” already exists") as error:
        release_qrels(world.collection, name="first")
    assert error.value.conflict
    assert len(default_storage.listdir("qrels/harbour")[1]) == 1


def test_nothing_is_released_without_labels(world: World) -> None:
    with pytest.raises(InputError, match="has no final labels yet"):
        release_qrels(world.collection, name="empty")
    assert not default_storage.exists("qrels/harbour")


def test_a_changed_file_is_noticed(world: World) -> None:
    release = judged_release(world)
    Path(release.file.path).write_text("q1 0 d1 0\n")
    with pytest.raises(InputError, match="checksum does not match"):
        read_release(release)


def test_an_unknown_release_or_format_is_named(world: World) -> None:
    with pytest.raises(InputError, match="There is no release “second”"):
        release_named(world.collection, "second")
    with pytest.raises(InputError, match="Choose one of trec, beir"):
        export_release(judged_release(world), "xml")


def test_an_import_counts_what_it_did(world: World) -> None:
    done = import_text(world, "q1 0 d1 1\nq9 0 d1 1\nq1 0 d77 0\n")
    assert str(done) == (
        "2 new, 0 as before, 1 of unknown queries left out, 1 unknown document added without text"
    )
    assert done.notes == ["Not in the collection: 1 of the file's queries (q9)."]  # type: ignore[attr-defined]
    assert Document.objects.get(external_id="d77").text is None


def test_an_id_that_no_database_keeps_is_refused_and_stores_nothing(world: World) -> None:
    with pytest.raises(InputError, match="NUL"):
        import_text(world, '{"q1": {"d1": 1, "\\u0000": 1}}')
    assert not world.collection.label_files.exists()


def test_a_file_without_a_known_query_is_refused(world: World) -> None:
    with pytest.raises(InputError, match=r"has none of the 6 queries of this file \(x0, x1, x2, x3, x4, …\)"):
        import_text(world, "".join(f"x{number} 0 d1 1\n" for number in range(6)))


def test_a_label_against_an_earlier_import_is_refused_and_nothing_stored(world: World) -> None:
    import_text(world, "q1 0 d1 1\n")
    with pytest.raises(InputError, match=r"query q1, document d1 has relevance 0 here and 1 in “old\.qrels”"):
        import_text(world, "q2 0 d2 1\nq1 0 d1 0\n", name="new.qrels")
    assert ImportedLabel.objects.count() == 1


def test_the_same_import_again_changes_nothing(world: World) -> None:
    import_text(world, qrels_text())
    done = import_text(world, qrels_text())
    assert (done.created, done.unchanged) == (0, 18)  # type: ignore[attr-defined]


def test_a_pair_that_was_only_pooled_takes_a_label_but_not_the_reverse(world: World) -> None:
    import_text(world, "q1 0 d1 -1\nq1 0 d2 1\n")
    done = import_text(world, "q1 0 d1 1\nq1 0 d2 -1\n", name="new.qrels")
    assert (done.created, done.changed, done.unchanged) == (0, 1, 1)  # type: ignore[attr-defined]
    assert set(ImportedLabel.objects.values_list("relevance", flat=True)) == {1}


def test_labelled_pairs_are_not_queued(world: World) -> None:
    import_text(world, "q1 0 d1 1\nq1 0 d2 -1\n")
    queue = make_queue(world, pairs=2)
    assert list(queue.items.values_list("document__external_id", flat=True)) == ["d2"]


def test_the_rule_decides_what_a_label_is_and_is_named(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    first, second = (lease.item_id for lease in claim(queue, world.ben, 2).leases)
    for item, said in ((first, "relevant"), (second, "not_relevant")):
        judge(queue, world.ben, item, "relevant")
        judge(queue, world.cleo, item, said)
    assert current_labels(world.collection, "unanimous").counts["conflict"] == 1
    assert current_labels(world.collection, "majority").counts["tie"] == 1
    release = release_qrels(world.collection, name="agreed", rule="unanimous", user=world.ada)
    assert (release.rule, release.pair_count, release.sidecar["counts"]["conflict"]) == ("unanimous", 1, 1)


@pytest.mark.parametrize(("rule", "sentence"), [("coin", "Choose one of"), ("dawid-skene", "three people")])
def test_a_rule_that_cannot_be_used_is_refused(world: World, rule: str, sentence: str) -> None:
    judged_release(world)
    with pytest.raises(InputError, match=sentence):
        release_qrels(world.collection, name="second", rule=rule, user=world.ada)
