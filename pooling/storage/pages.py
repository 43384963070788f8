"""Taking in files from a page, at once or after a preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core import signing
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from pooling.formats.wording import counted, plural
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, person, say_done
from pooling.interface.problems import InputError, refusals
from pooling.interface.results import Result
from pooling.interface.uploads import refuse_uploads
from pooling.models import Collection, Job
from pooling.people.access import ADMIN, collection_for
from pooling.storage import uploads
from pooling.storage.imports import SHOWING, PreviewTable, import_later, import_now, take_in, would_import

# Previews of imports on pages: the file is sent once, shown, and then imported or forgotten.


SALT, PAGE_SALT = "previewed upload", "preview on a page"
# Tells pages from the uploads beside them, which nobody reads by the name in an address.
PAGE_ENDING = ".page"
# What happened to more files than this is one sentence.
MOST_NAMED = 3
GONE = "This preview is more than a day old, or its file was imported. Choose the file again."
# Counts of results, in the order and the words in which a preview shows them.
COUNTS = {
    "rows": "rows",
    "queries": "queries",
    "depth": "deep at most",
    "judgments": "judgments that count",
    "pairs": "pairs",
    "created": "new",
    "changed": "changed",
    "unchanged": "the same",
    "left_out": "left out",
    "new_documents": "new documents without text",
}


class Waiting(TypedDict):
    upload: str
    file_name: str
    kind: str
    options: dict[str, Any]
    is_large: bool
    collection: int
    user: int


@dataclass(frozen=True)
class Preview:
    """The result that importing a file would have.

    staged: the signed text with which it is imported. problem: why it cannot be. is_large: it was not read,
    for only the background worker reads files of this size.
    """

    file_name: str
    staged: str
    counts: Sequence[tuple[str, int]] = ()
    notes: Sequence[str] = ()
    tables: Sequence[PreviewTable] = ()
    problem: str = ""
    is_large: bool = False

    @property
    def asks(self) -> bool:
        return bool(self.problem) or self.is_large or any(table.asks for table in self.tables)


def preview(
    collection: Collection,
    kind: str,
    upload: UploadedFile[Any],
    *,
    user: User,
    is_large: bool = False,
    **options: Any,
) -> Preview:
    """Keep an uploaded file and say what importing it would do; the import's refusals, with nothing kept."""
    file_name = upload.name or "upload"
    waiting: Waiting = {
        "upload": uploads.keep(upload, uploads.PREVIEWED),
        "file_name": file_name,
        "kind": kind,
        "options": options,
        "is_large": is_large,
        "collection": collection.pk,
        "user": user.pk,
    }
    staged = signing.dumps(waiting, salt=SALT, compress=True)
    try:
        return (
            Preview(file_name, staged, is_large=True)
            if is_large
            else _read(collection, waiting, staged, user)
        )
    except BaseException:
        uploads.discard(waiting["upload"])
        raise


def _read(collection: Collection, waiting: Waiting, name: str, user: User) -> Preview:
    kind, file_name = waiting["kind"], waiting["file_name"]
    with uploads.kept(waiting["upload"]) as path:
        tables = SHOWING[kind].tables(collection, path, file_name)
        try:
            result = would_import(
                collection, kind, path, file_name=file_name, user=user, **waiting["options"]
            )
        except refusals() as error:
            if not any(table.asks for table in tables):
                raise
            return Preview(file_name, name, tables=tables, problem=str(error))
    counts = [(words, int(result[key])) for key, words in COUNTS.items() if key in result]  # type: ignore[literal-required]
    more = SHOWING[kind].more_tables
    return Preview(file_name, name, counts, _notes(result), [*tables, *(more(result) if more else ())])


def _notes(result: Result) -> Sequence[str]:
    facts: Any = result
    return [*facts.get("notes", ()), *facts.get("preflight", {}).get("notes", ())]


def import_staged(collection: Collection, kind: str, name: str, *, user: User) -> Result | Job:
    """Import a previewed file; `InputError` if done before, of another person or collection, or a day old."""
    try:
        waiting: Waiting = signing.loads(name, salt=SALT, max_age=uploads.IMPORTABLE)
    except signing.BadSignature:
        raise InputError(GONE) from None
    meant = (waiting["kind"], waiting["collection"], waiting["user"])
    if meant != (kind, collection.pk, user.pk) or not default_storage.exists(waiting["upload"]):
        raise InputError(GONE)
    file_name, options = waiting["file_name"], waiting["options"]
    try:
        if waiting["is_large"]:
            with default_storage.open(waiting["upload"]) as file:
                kept = uploads.keep(File(file))
            return import_later(collection, kind, kept, file_name=file_name, user=user, **options)
        with uploads.kept(waiting["upload"]) as path:
            return import_now(collection, kind, path, file_name=file_name, user=user, **options)
    finally:
        uploads.discard(waiting["upload"])


# Says whether an import should be shown before it is done, though nobody asked for a preview.
Asks = Callable[[Collection], bool]


def upload(
    request: HttpRequest,
    collection: Collection,
    kind: str,
    form: forms.Form,
    *,
    section: str,
    asks: Asks | None = None,
) -> HttpResponse | None:
    """Import the form's files as `kind`, or show what that would do, and say where to go on; None when there
    is no file, or the form has errors to show. Several files are all read before the first is imported, and
    none is where one is refused; those too large for that are imported in the background, each by itself.
    Where names of some are taken, the page that shows the others offers to import them.

    section: to which page the preview belongs. asks: whether the collection has what a file can contradict;
    a file that does is shown first.
    """
    if not form.is_bound:
        return _previewed(request, collection, kind, section) if "preview" in request.GET else None
    if staged := request.POST.getlist("staged"):
        return _import_previewed(request, collection, kind, staged)
    try:
        refuse_uploads(request)
        if not form.is_valid():
            return None
        user, files = person(request), files_of(form)
        options = {name: value for name, value in form.cleaned_data.items() if name != "file"}
        wants_preview = "preview" in request.POST and kind in SHOWING
        can_contradict = asks is not None and asks(collection)
        if not (wants_preview or can_contradict or len(files) > 1):
            return go_on(request, take_in(collection, kind, files[0], user=user, **options))
        large = uploads.are_large(files)
    except refusals() as error:
        show_problem(form, error)
        return None
    previews: list[Preview] = []
    problems: list[Exception] = []
    unread: list[UploadedFile[Any]] = []
    has_preview = wants_preview or can_contradict
    for file, is_large in zip(files, large, strict=True):
        if is_large and not has_preview:
            unread.append(file)
            continue
        try:
            previews.append(preview(collection, kind, file, user=user, is_large=is_large, **options))
        except refusals() as error:
            problems.append(error)
    taken = [str(one) for one in problems if isinstance(one, InputError) and one.conflict]
    try:
        if taken and len(taken) == len(problems) < len(files):
            for file in unread:
                previews.append(preview(collection, kind, file, user=user, is_large=True, **options))
            return _to_preview(request, collection, kind, previews, taken=taken)
        if not problems and (wants_preview or (can_contradict and any(one.asks for one in previews))):
            return _to_preview(request, collection, kind, previews)
    except refusals() as error:
        problems.append(error)
    if problems:
        _show_problems(form, problems, previews, len(files))
        return None
    names = [one.staged for one in previews]
    return _import_previewed(request, collection, kind, names, unread=unread, options=options)


def _show_problems(
    form: forms.Form, problems: Sequence[Exception], previews: Sequence[Preview], count: int
) -> None:
    """Refuse `count` files because of some of them; no other is imported or kept."""
    for one in previews:
        uploads.discard(signing.loads(one.staged, salt=SALT)["upload"])
    for problem in problems[:MOST_NAMED]:
        if count > 1 and "name" in getattr(problem, "fields", ()):  # a field that works for one file only
            problem = InputError(str(problem), field="file")
        show_problem(form, problem)
    if (more := len(problems) - MOST_NAMED) > 0:
        form.add_error("file", f"{more:,} more of these files {plural(more, 'has', 'have')} errors.")
    if count > 1:
        form.add_error("file", f"None of these {count:,} files was imported.")


def import_page(
    kind: str,
    form_class: type[forms.Form],
    template: str,
    *,
    section: str,
    asks: Asks | None = None,
    more: Callable[[Collection], dict[str, Any]] | None = None,
) -> Callable[..., HttpResponse]:
    """The page that imports files of `kind`; `upload` says the rest. more: what else its template shows."""

    @login_required
    @require_http_methods(["GET", "POST"])
    def page(request: HttpRequest, slug: str) -> HttpResponse:
        collection = collection_for(request.user, slug, ADMIN)
        # What arrived of a file that is too large is nothing at all, and refused all the same.
        form = form_class(request.POST, request.FILES) if request.method == "POST" else form_class()
        if response := upload(request, collection, kind, form, section=section, asks=asks):
            return response
        context = {"form": form, "collection": collection, "section": section}
        return render(request, template, context | (more(collection) if more else {}))

    return page


def files_of(form: forms.Form) -> list[UploadedFile[Any]]:
    files = form.cleaned_data["file"]
    return list(files) if isinstance(files, list) else [files]


def _to_preview(
    request: HttpRequest,
    collection: Collection,
    kind: str,
    previews: Sequence[Preview],
    *,
    taken: Sequence[str] = (),
) -> HttpResponse:
    """Keep for a day what was read and go to the page that shows it, so that “Back” sends no file again.
    taken: why files that came along are left out."""
    kept = [kind, collection.pk, person(request).pk], [asdict(one) for one in previews], taken
    text = signing.dumps(kept, salt=PAGE_SALT, compress=True)
    name = uploads.keep(ContentFile(text.encode()), uploads.PREVIEWED, PAGE_ENDING)
    return redirect(f"{request.path}?preview={Path(name).stem}")


def _kept_name(request: HttpRequest) -> str:
    name = request.GET.get("preview", "")
    is_name = name.isalnum() and len(name) < 100
    return f"{uploads.PREVIEWED}/{name}{PAGE_ENDING}" if is_name else ""


def _previewed(request: HttpRequest, collection: Collection, kind: str, section: str) -> HttpResponse:
    """What `_to_preview` kept. Of several files, those that nobody reads now are named in one sentence."""
    owner = None
    if name := _kept_name(request):
        with suppress(FileNotFoundError, signing.BadSignature), default_storage.open(name) as file:
            owner, rows, taken = signing.loads(
                file.read().decode(), salt=PAGE_SALT, max_age=uploads.IMPORTABLE
            )
    if owner != [kind, collection.pk, person(request).pk]:
        messages.error(request, GONE)
        return redirect(request.path)
    previews = [
        Preview(**{**row, "tables": [PreviewTable(**table) for table in row["tables"]]}) for row in rows
    ]
    unread = [one.file_name for one in previews if one.is_large] if len(previews) > 1 else []
    context = {
        "taken": taken[:MOST_NAMED],
        "more_taken": max(0, len(taken) - MOST_NAMED),
        "previews": previews,
        "unread": len(unread),
        "unread_names": _listed(unread),
        "can_import": not any(one.problem for one in previews),
        "collection": collection,
        "section": section,
    }
    return render(request, "pooling/import_preview.html", context)


def _import_previewed(
    request: HttpRequest,
    collection: Collection,
    kind: str,
    names: Sequence[str],
    *,
    unread: Sequence[UploadedFile[Any]] = (),
    options: Mapping[str, Any] = {},
) -> HttpResponse:
    """unread: files that came with them, for the background, and their options."""
    user, outcomes = person(request), list[Result | Job]()
    if kept_name := _kept_name(request):
        uploads.discard(kept_name)
    try:
        for one in names:
            outcomes.append(import_staged(collection, kind, one, user=user))
        for file in unread:
            kept, name = uploads.keep(file), file.name or "upload"
            outcomes.append(import_later(collection, kind, kept, file_name=name, user=user, **options))
    except refusals() as error:
        _say(request, outcomes)
        messages.error(request, str(error))
        if later := len(names) + len(unread) - len(outcomes) - 1:
            were = plural(later, "was", "were")
            messages.error(request, f"{counted(later, 'file')} after that {were} not imported.")
        return redirect(request.path)
    return _done(request, collection, outcomes)


def _done(request: HttpRequest, collection: Collection, outcomes: Sequence[Result | Job]) -> HttpResponse:
    if len(outcomes) == 1:
        return go_on(request, outcomes[0])
    _say(request, outcomes)
    return redirect("runs", collection.slug)


def _say(request: HttpRequest, outcomes: Sequence[Result | Job]) -> None:
    """What became of several runs; a job's page says the rest of it."""
    done = [one for one in outcomes if not isinstance(one, Job)]
    noted = {one["detail"].partition(":")[0]: notes for one in done if (notes := _notes(one))}
    for name, notes in list(noted.items())[:MOST_NAMED]:
        messages.warning(request, f"{name}: {' '.join(notes)}")
    if len(noted) > MOST_NAMED:
        messages.warning(request, f"{len(noted):,} of these files have such notes, each on its page.")
    if len(outcomes) > MOST_NAMED:
        jobs = [one.arguments["file_name"] for one in outcomes if isinstance(one, Job)]
        results = [one["detail"].partition(":")[0] for one in outcomes if not isinstance(one, Job)]
        were, are = plural(len(results), "was", "were"), plural(len(jobs), "is", "are")
        background = f"{are} imported in the background, each as a job of this collection"
        for names, what in ((results, f"{were} imported"), (jobs, background)):
            if names:
                messages.success(request, f"{counted(len(names), 'file')} {what}: {_listed(names)}.")
        return
    for outcome in outcomes:
        if isinstance(outcome, Job):
            name = outcome.arguments["file_name"]
            messages.success(request, f"{name} is imported in the background as job {outcome.pk}.")
        else:
            say_done(request, outcome)


def _listed(names: Sequence[str]) -> str:
    left_out = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {left_out:,} more" if left_out > 0 else "")
