"""Imports of labels: taken back without being erased, and declared complete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from labeling.judging.leases import claim
from labeling.models import ImportedLabel, LabelFile, WithdrawnLabel
from labeling.qrels.imported import import_qrels, withdraw_labels
from labeling.qrels.labels import current_labels, state_of_labels
from labeling.qrels.releases import complete_files, release_qrels
from pooling.interface.problems import InputError
from tests.labeling.helpers import judge, make_queue
from tests.world import World


def imported(world: World, text: str, name: str = "old.qrels", *, complete: bool = False) -> LabelFile:
    path = world.folder / name
    path.write_text(text)
    import_qrels(world.collection, path, user=world.ada, complete=complete)
    return world.collection.label_files.first()


def relevances(world: World) -> list[tuple[str, str, int]]:
    return list(current_labels(world.collection).frame.drop("source").iter_rows())


def test_an_import_that_is_taken_back_counts_no_longer_and_is_kept(world: World) -> None:
    imported(world, "q1 0 d1 1\n", "first.qrels")
    later = imported(world, "q1 0 d1 1\nq2 0 d2 0\n", "second.qrels")
    before = state_of_labels(world.collection)
    assert withdraw_labels(later, by=world.ada) == 1
    assert relevances(world) == [("q1", "d1", 1)]
    assert state_of_labels(world.collection) != before
    assert [label.relevance for label in WithdrawnLabel.objects.filter(file=later)] == [0]
    with pytest.raises(InputError, match="taken back before"):
        withdraw_labels(later)
    # The same file can be imported again.
    imported(world, "q2 0 d2 1\n", "third.qrels")
    assert relevances(world) == [("q1", "d1", 1), ("q2", "d2", 1)]


def test_what_was_only_pooled_before_is_so_again(world: World) -> None:
    first = imported(world, "q1 0 d1 -1\nq1 0 d2 1\n", "pooled.qrels")
    second = imported(world, "q1 0 d1 1\n", "judged.qrels")
    before = state_of_labels(world.collection)
    withdraw_labels(second, by=world.ada)
    assert relevances(world) == [("q1", "d1", -1), ("q1", "d2", 1)]
    assert state_of_labels(world.collection) != before
    label = ImportedLabel.objects.get(document__external_id="d1")
    assert (label.file, label.source_name) == (first, "pooled.qrels")


def test_an_import_is_taken_back_on_its_page(world: World, client: Client) -> None:
    file = imported(world, "q1 0 d1 1\n")
    address = reverse("qrels_withdraw", args=["harbour", file.pk])
    client.force_login(world.ada)
    page = client.get(reverse("releases", args=["harbour"])).content.decode()
    assert "Its labels count no longer." in page
    page = client.post(address, follow=True).content.decode()
    assert "Taken back: 1 label of old.qrels." in page
    assert "taken back before" in client.post(address, follow=True).content.decode()


def test_imports_are_listed_and_taken_back_over_http(world: World, client: Client) -> None:
    file = imported(world, "q1 0 d1 1\nq2 0 d2 1\n", complete=True)
    address = reverse("api_label_files", args=["harbour"])
    client.force_login(world.vera)
    [listed] = client.get(address).json()
    assert (listed["name"], listed["labels"], listed["complete"]) == ("old.qrels", 2, True)
    withdraw = reverse("api_label_file_withdraw", args=["harbour", file.pk])
    assert client.post(withdraw).status_code == 403
    client.force_login(world.ada)
    assert client.post(withdraw).json()["withdrawn_at"]
    assert client.post(withdraw).status_code == 409


def test_imports_are_listed_and_taken_back_by_a_command(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("withdraw_labels", "harbour")
    file = imported(world, "q1 0 d1 1\nq2 0 d2 1\n")
    call_command("withdraw_labels", "harbour", str(file.pk))
    call_command("withdraw_labels", "harbour")
    before, taken, listed = capsys.readouterr().out.splitlines()
    assert before == "No labels were imported into “harbour”."
    assert taken == "Taken back: 2 labels of old.qrels."
    assert listed.split("\t") == [str(file.pk), "2 labels", "taken back", "old.qrels"]
    assert relevances(world) == []


def test_a_release_names_the_files_that_are_complete(world: World) -> None:
    imported(world, "q1 0 d1 1\nq9 0 d1 1\n", "whole.qrels", complete=True)
    imported(world, "q2 0 d2 1\n", "part.qrels")
    taken = imported(world, "q3 0 d2 1\n", "wrong.qrels", complete=True)
    withdraw_labels(taken)
    release = release_qrels(world.collection, name="first")
    assert [(file["file"], file["queries"]) for file in complete_files(release)] == [("whole.qrels", ["q1"])]


def test_labels_are_declared_complete_by_page_call_and_command(world: World, client: Client) -> None:
    client.force_login(world.ada)
    path: Path = world.folder / "whole.qrels"
    path.write_text("q1 0 d1 1\n")
    for address in ("qrels_import", "api_qrels"):
        with path.open("rb") as file:
            client.post(reverse(address, args=["harbour"]), {"file": file, "complete": "true"})
    call_command("import_qrels", "harbour", str(path), "--complete")
    assert [file.complete_for for file in world.collection.label_files.all()] == [["q1"]] * 3
    assert json.dumps(release_qrels(world.collection, name="r").sidecar["complete"]).count("whole.qrels") == 3


def test_an_import_says_what_it_declares_and_where_it_changes_nothing(world: World, client: Client) -> None:
    client.force_login(world.ada)
    path: Path = world.folder / "whole.qrels"
    path.write_text("q1 0 d1 1\nq2 0 d1 0\n")

    def detail(**options: str) -> str:
        with path.open("rb") as file:
            answer = client.post(reverse("api_qrels", args=["harbour"]), {"file": file, **options})
        words: str = answer.json()["detail"]
        return words

    nothing = "Nothing in the file is new, so there is nothing to undo."
    assert nothing not in detail()
    assert detail() == f"Labels: 0 new, 2 as before. {nothing}"
    words = detail(complete="true")
    assert words.startswith("Labels: 0 new, 2 as before. Declared complete for 2 queries: documents that no")
    assert words.endswith("no relevant label in the file (q2): a mean that needs one leaves it out.")
    words = detail(complete="true")
    assert nothing in words
    assert "2 queries were declared complete before." in words


def test_an_import_of_labels_is_taken_back_from_its_message(world: World, client: Client) -> None:
    client.force_login(world.ada)
    path: Path = world.folder / "whole.qrels"
    path.write_text("q1 0 d1 1\n")
    with path.open("rb") as file:
        page = client.post(reverse("qrels_import", args=["harbour"]), {"file": file}, follow=True)
    undo = reverse("qrels_withdraw", args=["harbour", world.collection.label_files.get().pk])
    assert f'form="undo" formaction="{undo}"' in page.content.decode()
    client.post(undo, {"action": "delete"})
    assert world.collection.label_files.get().withdrawn_at


def test_an_import_is_previewed_over_http_and_nothing_stays(world: World, client: Client) -> None:
    client.force_login(world.ada)
    files = {"qrels": "q1 0 d1 1\nq1 0 new 0\n", "queries": '{"_id": "q77", "text": "when?"}\n'}
    counts = [world.collection.queries.count(), world.collection.documents.count()]
    for kind, text in files.items():
        path = world.folder / f"{kind}.jsonl" if kind == "queries" else world.folder / "a.qrels"
        path.write_text(text)
        with path.open("rb") as file:
            answer = client.post(f"/api/collections/harbour/{kind}/?preview=true", {"file": file})
        assert (answer.status_code, answer.json()["created"]) == (200, text.count("\n"))
    assert not ImportedLabel.objects.exists()
    assert not LabelFile.objects.exists()
    assert [world.collection.queries.count(), world.collection.documents.count()] == counts


def test_labels_that_conflict_are_shown_before_they_are_imported(world: World, client: Client) -> None:
    client.force_login(world.ada)
    queue = make_queue(world, pairs=2)
    [lease] = claim(queue, world.ben, 1).leases
    judge(queue, world.ben, lease.item_id, active_ms=3000)
    [(query, document, here)] = relevances(world)
    address = reverse("qrels_import", args=["harbour"])
    path = world.folder / "other.qrels"
    path.write_text(f"{query} 0 {document} {1 - here}\nq3 0 d6 0\n")
    with path.open("rb") as file:
        page = client.post(address, {"file": file}, follow=True)
    [shown] = page.context["previews"]
    conflict = shown.tables[0]
    assert (conflict.heading, conflict.count) == ("Contradict labels made here", 1)
    assert conflict.rows == [[query, document, str(1 - here), str(here), "judged here"]]
    assert not ImportedLabel.objects.exists()
    page = client.post(address, {"staged": shown.staged}, follow=True)
    assert "Labels: 2 new" in page.content.decode()
    assert (query, document, here) in relevances(world)


def test_labels_that_contradict_an_earlier_import_are_all_shown_and_refused(
    world: World, client: Client
) -> None:
    client.force_login(world.ada)
    imported(world, "q1 0 d1 1\nq1 0 d2 1\nq2 0 d1 0\n")
    path = world.folder / "new.qrels"
    path.write_text("q1 0 d1 0\nq1 0 d2 0\nq2 0 d1 0\n")
    with path.open("rb") as file:
        page = client.post(reverse("qrels_import", args=["harbour"]), {"file": file}, follow=True)
    [shown] = page.context["previews"]
    assert [row[:2] for row in shown.tables[0].rows] == [["q1", "d1"], ["q1", "d2"]]
    assert shown.tables[0].rows[0][2:] == ["0", "1", "old.qrels"]
    assert "imported before. Keep one of them." in page.content.decode()
    assert 'name="staged"' not in page.content.decode()
