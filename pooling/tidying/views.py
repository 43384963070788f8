from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pooling.formats.wording import counted
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for, deleted_collections_of, fetch
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table
from pooling.tidying.doing import (
    archive,
    delete,
    free_name_like,
    refuse_needed,
    rename,
    restorable_until,
    restore,
)
from pooling.tidying.kept import Kept
from pooling.tidying.kinds import KINDS, Kind, beneath, dependants_of, kind_of
from pooling.tidying.page import TidiedThing, archived_in, deleted_in, say_archived, say_deleted


def _key(row: TidiedThing) -> str:
    return f"{row.kind.name}:{row.thing.pk}"


NAME = Column("name", "Name", natural=True, template="pooling/_tidied_name.html", style="id")
WHAT = Column("what", "What", "kind.noun")
BY = Column("by", "By", lambda row: row.by or None, style="quiet")
BACK = Column("back", "Take back", _key, sort=False, fixed=True, template="pooling/_tidied_back.html")

DELETED = Table(
    "deleted",
    "deleted thing",
    columns=(
        NAME,
        WHAT,
        Column("until", "Restorable until", "until"),
        Column("at", "Deleted", to_the_minute=True, style="quiet"),
        BY,
        BACK,
    ),
    search=("name", "what"),
    search_hint="Name or kind",
    prefix="deleted-",
    anchor="deleted",
    key=_key,
    empty=Empty("Nothing. What is deleted can be restored here for thirty days."),
)
ARCHIVED = Table(
    "archived",
    "archived thing",
    columns=(NAME, WHAT, Column("at", "Archived", to_the_minute=True, style="quiet"), BACK),
    search=("name", "what"),
    search_hint="Name or kind",
    prefix="archived-",
    anchor="archived",
    key=_key,
    empty=Empty(
        "Nothing. Archived things are in no list or form, keep their address, and count where they are "
        "evidence."
    ),
)


# Of a list, so many things are archived or deleted at once.
MOST_AT_ONCE = 500


@login_required
@require_http_methods(["GET", "POST"])
def tidied(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Archived and deleted things; posting puts `things` (`run:3,run:4`) away, or takes them out again."""
    collection = collection_for(request.user, slug, ADMIN)
    if request.method == "POST":
        return _many(request, collection)
    archived, deleted = archived_in(collection), deleted_in(collection)
    context = {
        "collection": collection,
        "section": "tidied",
        "archived": ARCHIVED.shown(request, archived.rows, collection),
        "more_archived": archived.more,
        "deleted": DELETED.shown(request, deleted.rows, collection),
        "more_deleted": deleted.more,
    }
    return answer(request, "pooling/tidied.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def tidy(request: HttpRequest, slug: str, kind: str, thing_id: int) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    its_kind = _kind(kind)
    thing = fetch(its_kind.rows_of(collection).filter(erased_at=None), pk=thing_id)
    problem: InputError | None = None
    if request.method == "POST":
        try:
            return _done(request, collection, its_kind, thing)
        except InputError as error:
            problem = error
    context = {
        "collection": collection,
        "section": "tidied" if its_kind.name == "collection" else its_kind.section_of(thing),
        "kind": its_kind,
        "thing": thing,
        "name": its_kind.name_of(thing),
        "problem": problem,
        "until": restorable_until(thing) if thing.deleted_at else None,
    }
    if thing.deleted_at:
        context["proposed"] = free_name_like(thing)
    else:
        dependants = dependants_of(thing)
        context |= {
            "blocking": [one for one in dependants if one.blocks],
            "dependants": [one for one in dependants if not one.blocks],
            "beneath": [(kind_of(one), one, kind_of(one).name_of(one)) for one in beneath(thing)],
        }
    status = 200 if problem is None else int(problem.status)
    return render(request, "pooling/tidy.html", context, status=status)


@login_required
@require_safe
def tidy_chosen(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    keys = [key for name in request.GET for key in request.GET.getlist(name)]
    chosen = [f"{kind}:{key}" for key in dict.fromkeys(keys)]
    if not chosen:
        messages.error(request, f"Choose at least one {_kind(kind).noun} first.")
        return redirect(_kind(kind).list_url(collection))
    return _question(request, collection, chosen)


@login_required
@require_POST
def collection_restore(request: HttpRequest, collection_id: int) -> HttpResponse:
    collection = fetch(deleted_collections_of(request.user), pk=collection_id)
    try:
        restore(collection, name=request.POST.get("name") or None, by=person(request))
    except InputError as error:
        messages.error(request, str(error))
        return redirect("home")
    messages.success(request, f"Restored the collection “{collection.name}”.")
    return redirect(collection)


def _done(request: HttpRequest, collection: Collection, kind: Kind, thing: Kept) -> HttpResponse:
    action, by = request.POST.get("action", ""), person(request)
    if action == "rename":
        rename(thing, request.POST.get("name", ""), by=by)
        messages.success(request, f"Renamed to “{kind.name_of(thing)}”.")
    elif action == "archive":
        archive(thing, by=by)
        say_archived(request, [thing])
        return redirect(kind.list_url(collection, thing))
    elif action == "unarchive":
        archive(thing, archived=False, by=by)
        messages.success(request, f"“{kind.name_of(thing)}” is in lists and forms again.")
    elif action == "delete":
        also = set(request.POST.getlist("also"))
        gone = [thing, *(one for one in beneath(thing) if f"{kind_of(one).name}:{one.pk}" in also)]
        with transaction.atomic():
            for one in gone:
                delete(one, by=by)
        say_deleted(request, gone)
        return redirect(kind.list_url(collection, thing))
    elif action == "restore":
        restore(thing, name=request.POST.get("name") or None, by=by)
        messages.success(request, f"Restored the {kind.noun} “{kind.name_of(thing)}”.")
    else:
        raise InputError("Choose what to do: rename, archive, delete or restore.")
    return _to(thing, kind, collection)


def _many(request: HttpRequest, collection: Collection) -> HttpResponse:
    action, by = request.POST.get("action", ""), person(request)
    # From the buttons of a list, or from the one of a message.
    chosen = request.POST.getlist("things") or request.GET.get("things", "").split(",")
    things = _things(collection, chosen)
    kind = kind_of(things[0])
    try:
        if action == "delete" and "sure" not in request.POST and any(map(dependants_of, things)):
            return _question(request, collection, chosen)
        with transaction.atomic():
            for one in things:
                _do(action, one, by)
    except InputError as error:
        messages.error(request, str(error))
        if action == "restore" and len(things) == 1:
            return redirect("tidy", collection.slug, kind.name, things[0].pk)
        return redirect(kind.list_url(collection, things[0]))
    if action == "delete":
        say_deleted(request, things)
    elif action == "archive":
        say_archived(request, things)
    else:
        done = "Restored" if action == "restore" else "Unarchived"
        messages.success(request, f"{done} {_counted(things)}.")
        return _to(things[-1], kind_of(things[-1]), collection)
    return redirect(kind.list_url(collection, things[0]))


def _question(request: HttpRequest, collection: Collection, names: Sequence[str]) -> HttpResponse:
    things = _things(collection, names)
    kind = kind_of(things[0])
    context = {
        "collection": collection,
        "section": kind.section_of(things[0]),
        "kind": kind,
        "chosen": names,
        "things": [(kind.name_of(one), dependants_of(one)) for one in things],
        "back": kind.list_url(collection, things[0]),
    }
    return render(request, "pooling/tidy_many.html", context)


def _do(action: str, thing: Kept, by: User) -> None:
    if action == "delete":
        refuse_needed(thing)
        delete(thing, by=by)
    elif action == "restore":
        restore(thing, by=by)
    elif action in ("archive", "unarchive"):
        archive(thing, archived=action == "archive", by=by)
    else:
        raise InputError("Choose what to do: archive, delete or restore.")


def _counted(things: Sequence[Kept]) -> str:
    kind = kind_of(things[-1])
    if len(things) == 1:
        return f"the {kind.noun} “{kind.name_of(things[0])}”"
    if all(isinstance(one, kind.model) for one in things):
        return counted(len(things), kind.noun, kind.plural)
    return f"the {kind.noun} “{kind.name_of(things[-1])}” and what it rests on"


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise Http404
    return KINDS[name]


def _things(collection: Collection, names: Sequence[str]) -> list[Kept]:
    """The rows of `kind:key` names, in their order; 404 for what is not the collection's."""
    kinds_and_keys: list[tuple[Kind, int]] = []
    for one in names[:MOST_AT_ONCE]:
        name, _, key = one.partition(":")
        if not (key.isascii() and key.isdigit() and len(key) <= 18):
            raise Http404
        kinds_and_keys.append((_kind(name), int(key)))
    by_name: dict[tuple[str, int], Kept] = {}
    for kind in dict.fromkeys(kind for kind, _ in kinds_and_keys):
        keys = [key for one, key in kinds_and_keys if one is kind]
        rows = kind.rows_of(collection).filter(pk__in=keys, erased_at=None)
        by_name |= {(kind.name, row.pk): row for row in rows}
    if not kinds_and_keys or any((kind.name, key) not in by_name for kind, key in kinds_and_keys):
        raise Http404
    return [by_name[kind.name, key] for kind, key in kinds_and_keys]


def _to(thing: Kept, kind: Kind, collection: Collection) -> HttpResponse:
    if hasattr(thing, "get_absolute_url"):
        return redirect(thing.get_absolute_url())
    return redirect(kind.list_url(collection, thing))
