"""Imports shown before they are done: the file is sent once, for one person and one collection."""

from __future__ import annotations

from datetime import timedelta
from errno import ENOSPC

import pytest
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from pooling.models import Collection, Document, Membership, Query, Role, Run
from pooling.storage.uploads import PREVIEWED, erase_previewed
from tests.soundings.everywhere.test_who_may import skipped_levels
from tests.world import ALPHA, BETA, World, run_text

FILES = {
    "queries": ("q.tsv", "id\ttext\nq9\t<b>tram</b>\nq1\tnight bus\n"),
    "documents": ("c.jsonl", '{"_id": "d9", "text": "Tram."}\n{"_id": "d1", "text": "Other."}\n'),
    "run_import": ("alpha.run", run_text(ALPHA)),
    "qrels_import": ("old.qrels", "q1 0 d1 1\nq1 0 d99 0\n"),
}


def upload(page: str) -> SimpleUploadedFile:
    name, text = FILES[page]
    return SimpleUploadedFile(name, text.encode())


def stored() -> list[int]:
    return [rows.count() for rows in (Query.objects, Document.objects, Run.objects)]


def waiting_files() -> list[str]:
    return list(default_storage.listdir(PREVIEWED)[1]) if default_storage.exists(PREVIEWED) else []


@pytest.fixture
def ada(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


@pytest.mark.parametrize(
    ("page", "counts", "done"),
    [
        ("queries", {"new": 1, "changed": 0, "the same": 1}, "Queries: 1 new"),
        ("documents", {"new": 1, "changed": 1}, "Documents: 1 new, 1 changed"),
        ("run_import", {"rows": 9, "queries": 3, "deep at most": 3}, "Run “alpha”: 9 rows"),
        ("qrels_import", {"new": 2, "new documents without text": 1}, "Labels: 2 new"),
    ],
)
def test_a_file_is_shown_then_imported_without_being_sent_again(
    world: World, ada: Client, page: str, counts: dict[str, int], done: str
) -> None:
    address, before, files = reverse(page, args=["harbour"]), stored(), set(waiting_files())
    answer = ada.post(address, {"file": upload(page), "preview": "1"}, follow=True)
    [shown] = answer.context["previews"]
    assert counts.items() <= dict(shown.counts).items()
    assert "<b>tram" not in answer.content.decode()
    assert stored() == before
    assert len(set(waiting_files()) - files) == 2  # the file and its preview
    assert (
        done in ada.post(answer.redirect_chain[-1][0], {"staged": shown.staged}, follow=True).content.decode()
    )
    assert stored() != before or page == "documents"
    assert set(waiting_files()) == files
    again = ada.post(address, {"staged": shown.staged}, follow=True).content.decode()
    assert "Choose the file again." in again


def test_what_was_asked_for_with_the_file_is_asked_for_in_the_import(world: World, ada: Client) -> None:
    address = reverse("run_import", args=["harbour"])
    answer = ada.post(address, {"file": upload("run_import"), "name": "first", "preview": "1"}, follow=True)
    ada.post(address, {"staged": answer.context["previews"][0].staged, "name": "other"})
    assert world.collection.runs.get().name == "first"


def test_several_runs_are_shown_and_imported_together(world: World, ada: Client) -> None:
    address = reverse("run_import", args=["harbour"])
    files = [upload("run_import"), SimpleUploadedFile("beta.run", run_text(BETA).encode())]
    shown = ada.post(address, {"file": files, "preview": "1"}, follow=True).context["previews"]
    ada.post(address, {"staged": [one.staged for one in shown]})
    assert {run.name for run in world.collection.runs.all()} == {"alpha", "beta"}


def test_a_preview_of_several_runs_has_a_line_for_each_and_the_decision_above_them(
    world: World, ada: Client
) -> None:
    strange = run_text(BETA).replace(" d", " other-d").encode()
    files = [upload("run_import"), SimpleUploadedFile("strange.run", strange)]
    address = reverse("run_import", args=["harbour"])
    page = " ".join(ada.post(address, {"file": files, "preview": "1"}, follow=True).content.decode().split())
    assert '<details><summary><h2 class="id">alpha.run</h2> <span class="quiet">9 rows, 3 queries,' in page
    assert page.count("<details open") == 0
    assert skipped_levels(page) == []
    assert page.count("1 note</span>") == 1
    assert page.index("Import 2 files") < page.index("alpha.run")


@pytest.mark.parametrize("preview", [{}, {"preview": "1"}])
def test_of_several_files_none_is_imported_where_one_is_refused(
    world: World, ada: Client, preview: dict[str, str]
) -> None:
    files, texts = waiting_files(), ["q1 Q0 d1 1 x t", "q1 d1", "q9 Q0 d1 1 2 t", "q1"]
    wrong = [SimpleUploadedFile(f"{number}.run", text.encode()) for number, text in enumerate(texts)]
    sent = {"file": [upload("run_import"), *wrong], **preview}
    page = ada.post(reverse("run_import", args=["harbour"]), sent)
    problems = list(page.context["form"].errors["file"])
    assert [one[:5] for one in problems[:3]] == ["0.run", "1.run", "2.run"]
    assert problems[3:] == ["1 more of these files has errors.", "None of these 5 files was imported."]
    assert not world.collection.runs.exists()
    assert waiting_files() == files


def test_two_files_of_one_name_are_refused_together(world: World, ada: Client) -> None:
    files = [upload("run_import"), SimpleUploadedFile("alpha.txt", run_text(BETA).encode())]
    page = ada.post(reverse("run_import", args=["harbour"]), {"file": files})
    problem = "alpha.run and alpha.txt would both be the run “alpha”. Rename one."
    assert page.context["form"].errors["file"] == [problem]
    assert not world.collection.runs.exists()


@pytest.mark.parametrize("bound", [1 << 20, len(run_text(ALPHA) + run_text(BETA))])
def test_of_several_files_those_whose_names_are_taken_are_left_out_and_the_others_offered(
    bound: int, world: World, ada: Client, settings: Settings
) -> None:
    address, files = reverse("run_import", args=["harbour"]), waiting_files()
    ada.post(address, {"file": upload("run_import")})
    settings.BACKGROUND_UPLOAD_BYTES = bound
    others = [SimpleUploadedFile(f"{name}.run", run_text(BETA).encode()) for name in "bc"]
    page = ada.post(address, {"file": [upload("run_import"), *others]}, follow=True)
    text = " ".join(page.content.decode().split())
    assert "1 of the files is left out:" in text
    assert "Run “alpha” already exists, and runs do not change." in text
    assert "Import the 2 others" in text
    assert {run.name for run in world.collection.runs.all()} == {"alpha"}
    staged = [one.staged for one in page.context["previews"]]
    done = ada.post(page.redirect_chain[-1][0], {"staged": staged}, follow=True).content.decode()
    assert "“b”" in done or "b.run is imported in the background" in done
    assert waiting_files() == files


@pytest.mark.parametrize("text", [run_text(ALPHA), "q1 d1"])
def test_where_every_file_is_refused_nothing_is_offered(text: str, world: World, ada: Client) -> None:
    address, files = reverse("run_import", args=["harbour"]), waiting_files()
    for name in ("alpha.run", "b.run"):
        ada.post(address, {"file": SimpleUploadedFile(name, run_text(ALPHA).encode())})
    sent = [upload("run_import"), SimpleUploadedFile("b.run" if "Q0" in text else "c.run", text.encode())]
    page = ada.post(address, {"file": sent})
    assert page.context["form"].errors["file"][0].startswith("Run “alpha” already exists")
    assert "None of these 2 files was imported." in page.context["form"].errors["file"]
    assert waiting_files() == files


def test_an_upload_is_not_opened_as_the_page_of_a_preview(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, opened = reverse("queries", args=["harbour"]), list[str]()
    ada.post(address, {"file": upload("queries"), "preview": "1"})
    (sent,) = (name for name in waiting_files() if name.isalnum())

    def no_file(storage: FileSystemStorage, name: str, mode: str = "rb") -> File[bytes]:
        opened.append(name)
        raise FileNotFoundError(name)

    monkeypatch.setattr(FileSystemStorage, "_open", no_file)
    assert "Choose the file again." in ada.get(f"{address}?preview={sent}", follow=True).content.decode()
    assert opened
    assert f"{PREVIEWED}/{sent}" not in opened


def test_a_preview_has_an_address_until_its_file_is_imported(
    world: World, ada: Client, client: Client
) -> None:
    address = reverse("queries", args=["harbour"])
    answer = ada.post(address, {"file": upload("queries"), "preview": "1"})
    assert answer.status_code == 302
    shown = ada.get(answer.url)
    assert shown.context["previews"][0].file_name == "q.tsv"
    for wrong in (
        f"{address}?preview=../x",
        f"{address}?preview=",
        answer.url.replace("queries", "documents"),
    ):
        assert "Choose the file again." in ada.get(wrong, follow=True).content.decode()
    client.force_login(world.vera)
    assert "Choose the file again." in client.get(answer.url, follow=True).content.decode()
    client.force_login(world.ada)
    ada.post(answer.url, {"staged": shown.context["previews"][0].staged})
    assert "Choose the file again." in ada.get(answer.url, follow=True).content.decode()


@pytest.mark.parametrize(
    ("names", "left"), [("abcd", "2 files after that were"), ("abc", "1 file after that was")]
)
def test_where_one_is_refused_after_its_preview_those_left_are_counted(
    names: str, left: str, world: World, ada: Client
) -> None:
    files = [SimpleUploadedFile(f"{name}.run", run_text(ALPHA).encode()) for name in names]
    address = reverse("run_import", args=["harbour"])
    shown = ada.post(address, {"file": files, "preview": "1"}, follow=True).context["previews"]
    ada.post(address, {"file": SimpleUploadedFile("b.run", run_text(BETA).encode())})
    page = ada.post(address, {"staged": [one.staged for one in shown]}, follow=True)
    listed = [str(message) for message in page.context["messages"]]
    assert any("Run “a”" in one for one in listed)
    assert any("Run “b” already exists" in one for one in listed)
    assert f"{left} not imported." in listed


@pytest.mark.parametrize("count", [1, 2])
def test_large_files_that_find_no_room_are_refused_with_the_reason(
    count: int, world: World, ada: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(name: str, content: object) -> str:
        raise OSError(ENOSPC, "No space left on device")

    settings.BACKGROUND_UPLOAD_BYTES = 10
    monkeypatch.setattr(default_storage, "save", full)
    files = [SimpleUploadedFile(f"{number}.run", run_text(ALPHA).encode()) for number in range(count)]
    page = ada.post(reverse("run_import", args=["harbour"]), {"file": files}, follow=True)
    assert page.status_code == 200
    assert "The server&#x27;s disk is full." in page.content.decode()


def test_files_that_are_large_together_are_read_up_to_the_bound(
    world: World, ada: Client, settings: Settings
) -> None:
    size = len(run_text(ALPHA))
    settings.BACKGROUND_UPLOAD_BYTES = 2 * size
    address = reverse("run_import", args=["harbour"])
    names = ("a", "b", "c", "d")

    def files() -> list[SimpleUploadedFile]:
        return [SimpleUploadedFile(f"{name}.run", run_text(ALPHA).encode()) for name in names]

    page = ada.post(address, {"file": files(), "preview": "1"}, follow=True)
    assert [one.is_large for one in page.context["previews"]] == [False, False, True, True]
    assert "2 of these files are too large to be read while you wait" in page.content.decode()
    page = ada.post(address, {"file": files()}, follow=True)
    assert {run.name for run in world.collection.runs.all()} == {"a", "b"}
    assert [job.arguments["file_name"] for job in world.collection.jobs.order_by("pk")] == ["c.run", "d.run"]
    assert "2 files are imported in the background" in page.content.decode()


def test_notes_on_runs_that_come_together_are_told_with_their_names(world: World, ada: Client) -> None:
    strange = run_text(BETA).replace(" d", " other-d").encode()
    files = [upload("run_import"), SimpleUploadedFile("strange.run", strange)]
    page = ada.post(reverse("run_import", args=["harbour"]), {"file": files}, follow=True)
    told = [str(message) for message in page.context["messages"]]
    assert any("“strange”: " in one and "are not in the collection" in one for one in told)
    assert not any("“alpha”: " in one and "are not in" in one for one in told)


def test_a_file_with_an_error_is_told_with_its_line_and_not_kept(world: World, ada: Client) -> None:
    files = waiting_files()
    wrong = SimpleUploadedFile("q.tsv", b"id\ttext\nq9")
    page = ada.post(reverse("queries", args=["harbour"]), {"file": wrong, "preview": "1"}, follow=True)
    assert "q.tsv, line 2" in page.context["form"].errors["file"][0]
    assert waiting_files() == files


def test_a_preview_is_of_one_person_and_one_collection(world: World, ada: Client, client: Client) -> None:
    other = Collection.objects.create(name="Tides", slug="tides")
    for user, collection in ((world.ada, other), (world.vera, world.collection)):
        Membership.objects.update_or_create(user=user, collection=collection, defaults={"role": Role.ADMIN})
    answer = ada.post(
        reverse("queries", args=["harbour"]), {"file": upload("queries"), "preview": "1"}, follow=True
    )
    staged = answer.context["previews"][0].staged
    before = stored()
    for user, slug, sent in (
        (world.ada, "tides", staged),
        (world.vera, "harbour", staged),
        (world.ada, "harbour", staged[:-1]),
    ):
        client.force_login(user)
        page = client.post(reverse("queries", args=[slug]), {"staged": sent}, follow=True)
        assert "Choose the file again." in page.content.decode()
    page = client.post(reverse("documents", args=["harbour"]), {"staged": staged}, follow=True)
    assert "Choose the file again." in page.content.decode()
    assert stored() == before


def test_a_large_file_is_not_read_while_one_waits(world: World, ada: Client, settings: Settings) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    address = reverse("run_import", args=["harbour"])
    answer = ada.post(address, {"file": upload("run_import"), "preview": "1"}, follow=True)
    [shown] = answer.context["previews"]
    assert shown.is_large
    assert ada.post(address, {"staged": shown.staged}).url.startswith("/jobs/")


def test_what_nobody_imports_is_erased_after_a_day(world: World, ada: Client) -> None:
    answer = ada.post(
        reverse("queries", args=["harbour"]), {"file": upload("queries"), "preview": "1"}, follow=True
    )
    erase_previewed()
    assert waiting_files()
    erase_previewed(timezone.now() + timedelta(days=1, minutes=1))
    assert not waiting_files()
    staged = {"staged": answer.context["previews"][0].staged}
    page = ada.post(reverse("queries", args=["harbour"]), staged, follow=True)
    assert "Choose the file again." in page.content.decode()


def test_a_run_is_previewed_over_http_and_nothing_stays(world: World, ada: Client) -> None:
    address = "/api/collections/harbour/runs/?preview=true"
    answer = ada.post(address, {"file": upload("run_import")})
    assert (answer.status_code, answer.json()["id"], answer.json()["rows"]) == (200, None, 9)
    assert "preflight" in answer.json()
    assert answer.json()["url"] is None
    assert answer.json()["detail"].startswith("Would import run “")
    assert not Run.objects.exists()
    world.import_runs()
    assert ada.post(address, {"file": upload("run_import")}).status_code == 409


def test_a_preview_over_http_names_no_import(world: World, ada: Client) -> None:
    file = SimpleUploadedFile("more.jsonl", b'{"id": "q9", "text": "last bus"}')
    answer = ada.post("/api/collections/harbour/queries/?preview=true", {"file": file}).json()
    assert [answer[key] for key in ("import_id", "url", "undo")] == [None] * 3
    assert answer["detail"] == "Would import queries: 1 new, 0 changed, 0 as before."
