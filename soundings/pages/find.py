"""Finding anything by name or id: the page, the part of it in the palette of every page, and the call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.judging.blind_counts import own_queues
from pooling.interface.api import PROBLEM, answers
from pooling.interface.api import person as signed_in
from pooling.interface.pages import parameter, person, speak
from pooling.interface.problems import InputError
from pooling.interface.results import PAGE_ONLY
from pooling.interface.shapes import shape
from pooling.models import Collection, Document, Query, Role
from pooling.people.access import MEMBERS, collection_for, collections_of, may_create_collections
from pooling.search_models import TextIndex
from pooling.texts.search import search_documents
from soundings.pages.guide import PAGES, Section, sections
from soundings.pages.navigation import actions_of, pages_of

# So many rows of a kind are shown, and so much of what is asked for is read.
ROWS, LONGEST, MOST_WORDS = 6, 200, 8
# Ids that are compared with what was typed; without an index of texts, documents whose titles are.
NEXT_IDS, TITLES_READ = 200, 20_000
# Letters from which on the text of the guide is read, and so many of it are shown.
SHORTEST_IN_TEXT, EXCERPT = 3, 90
EXACT, BEGINS, WITHIN = range(3)


@dataclass(frozen=True)
class Destination:
    """Something to go to."""

    name: str
    url: Annotated[str, "Its page, from the address of the site."]
    about: Annotated[str, "What it says; empty where the name is all."] = ""
    # How well: 0 is exactly.
    fit: Annotated[int, PAGE_ONLY] = WITHIN


@dataclass(frozen=True)
class Kind:
    label: str
    rows: list[Destination]
    # Of the rows, where it is not that of the page.
    language: str = ""

    @property
    def fit(self) -> int:
        return min(row.fit for row in self.rows)


def find(user: User, collection: Collection | None, text: str) -> list[Kind]:
    """Things for `user` with `text` in their name or id, the best kind first; without it, where one can go.

    Of a collection, annotators find their pages and queues. `collection.role` is what `admit` left there.
    """
    search = " ".join(text[:LONGEST].split())
    kinds = [kind for kind in _kinds(user, collection, search) if kind.rows]
    return sorted(kinds, key=lambda kind: kind.fit) if search else kinds


def _kinds(user: User, collection: Collection | None, search: str) -> Iterator[Kind]:
    if collection is not None:
        role = Role(collection.role)  # type: ignore[attr-defined]
        yield Kind(_("Pages"), _pages(collection, role, search))
        if search and role != Role.ANNOTATOR:
            yield from _rows(collection, search)
        elif search:
            queues = own_queues(collection, user).filter(public_name__icontains=search)[:ROWS]
            yield Kind(_("Queues"), [_named(queue, search, queue.public_name) for queue in queues])
        yield Kind(_("Actions"), _actions(collection, role, search))
    yield Kind(_("Collections"), _collections(user, collection, search))
    yield Kind(_("Site"), _of_the_site(user, search))
    if search:
        yield Kind(_("Guide"), _of_the_guide(search), "en")


def _pages(collection: Collection, role: Role, search: str) -> list[Destination]:
    return [
        Destination(_(page.label), url, _(group.label), _fit(search, _(page.label)))
        for group, page, url in pages_of(collection, role)
        if _goes_by(search, f"{_(page.label)} {page.label} {_(group.label)} {group.label} {page.words}")
    ]


def _actions(collection: Collection, role: Role, search: str) -> list[Destination]:
    return [
        Destination(action.label, url, "", _fit(search, action.label))
        for action, url in actions_of(collection, role)
        if _goes_by(search, f"{action.label} {action.words}")
    ]


def _collections(user: User, here: Collection | None, search: str) -> list[Destination]:
    rows = collections_of(user).filter(Q(name__icontains=search) | Q(slug__startswith=search))
    if here is not None:
        rows = rows.exclude(pk=here.pk)
    return [Destination(row.name, row.get_absolute_url(), "", _fit(search, row.name)) for row in rows[:ROWS]]


def _of_the_site(user: User, search: str) -> list[Destination]:
    own = [
        (_("Your collections"), reverse("home"), "home"),
        *([(_("New collection"), reverse("collection_new"), "")] if may_create_collections(user) else []),
        (_("Your account"), reverse("account"), "token password language"),
        (_("Guide"), reverse("guide"), "help"),
    ]
    return [
        Destination(label, url, "", _fit(search, label))
        for label, url, words in own
        if _goes_by(search, f"{label} {words}")
    ][:ROWS]


def _of_the_guide(search: str) -> list[Destination]:
    """Sections of the guide with all words in their headings, then those that say them most often."""
    wanted = search.casefold().split()
    headings = [section for section in sections() if _goes_by(search, section.heading)]
    texts = [
        section
        for section in (sections() if len(search) >= SHORTEST_IN_TEXT else ())
        if section not in headings and _goes_by(search, section.text)
    ]
    texts.sort(key=lambda section: -section.text.casefold().count(search.casefold()))
    return [_in_guide(section, search, wanted) for section in (headings + texts)[:ROWS]]


def _in_guide(section: Section, search: str, wanted: list[str]) -> Destination:
    url = reverse("guide_page", args=[section.page]) + (f"#{section.anchor}" if section.anchor else "")
    page = f"{PAGES[section.page]}: " if section.anchor else ""
    about = page + section.excerpt(wanted, EXCERPT)
    return Destination(section.heading, url, about, _fit(search, section.heading))


def _rows(collection: Collection, search: str) -> Iterator[Kind]:
    yield Kind("Pairs", _pairs(collection, search))
    yield Kind("Queries", _queries(collection, search))
    yield Kind("Documents", _documents(collection, search))
    named: dict[str, QuerySet[Any]] = {
        "Runs": collection.runs.all(),
        "Pools": collection.pools.defer("diagnostics"),
        "Queues": collection.queues.all(),
        "Qrels": collection.releases.all(),
        "Reports": collection.reports.defer("result"),
        "Replays": collection.replays.defer("result"),
        "Canaries": collection.canaries.all(),
        "Indexes": collection.latency_reports.defer("result"),
    }
    for label, rows in named.items():
        best = _best_first(rows.filter(name__icontains=search), "name", search)[:ROWS]
        yield Kind(label, [_named(row, search) for row in best])


def _named(row: Any, search: str, name: str = "") -> Destination:
    name = name or row.name
    return Destination(name, row.get_absolute_url(), "", _fit(search, name))


def _queries(collection: Collection, search: str) -> list[Destination]:
    rows = Query.objects.filter(collection=collection).defer("metadata")
    rows = rows.filter(Q(external_id__icontains=search) | Q(text__icontains=search))
    return [
        Destination(
            row.external_id, _listed("queries", collection, row), row.text, _fit(search, row.external_id)
        )
        for row in _best_first(rows, "external_id", search)[:ROWS]
    ]


def _documents(collection: Collection, search: str) -> list[Destination]:
    """Those whose id begins with what is asked for, then those that have its words."""
    every = Document.objects.filter(collection=collection)
    following = every.filter(external_id__gte=search).order_by("external_id").values_list("pk", "external_id")
    ids = [pk for pk, external_id in following[:NEXT_IDS] if external_id.startswith(search)][:ROWS]
    ids += [pk for pk in _with_words(collection, every, search) if pk not in ids][: ROWS - len(ids)]
    rows = {row.pk: row for row in every.filter(pk__in=ids).only("external_id", "title", "collection")}
    return [
        Destination(
            row.external_id, _listed("documents", collection, row), row.title, _fit(search, row.external_id)
        )
        for row in (rows[pk] for pk in ids)
    ]


def _with_words(collection: Collection, documents: QuerySet[Document], search: str) -> list[int]:
    if TextIndex.objects.filter(collection=collection, is_behind=False).exists():
        try:
            return search_documents(collection, search, limit=ROWS).documents
        except InputError:  # nothing but signs, or too many words
            return []
    # Up to a key: of a list of keys PostgreSQL supposes that reading every title is quicker.
    last = list(documents.order_by("pk").values_list("pk", flat=True)[TITLES_READ - 1 : TITLES_READ])
    first = documents.filter(pk__lte=last[0]) if last else documents
    return list(first.filter(title__icontains=search).order_by("pk").values_list("pk", flat=True)[:ROWS])


def _pairs(collection: Collection, search: str) -> list[Destination]:
    """The pair whose query id and document id stand one after the other; ids may contain spaces."""
    words = [word for word in search.split(" ") if word not in ("×", "x", "/", "·")]
    if not 1 < len(words) <= MOST_WORDS:
        return []
    ways = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    queries = _existing(Query, collection, (query for query, _ in ways))
    documents = _existing(Document, collection, (document for _, document in ways))
    label = reverse("label", args=[collection.slug])
    return [
        Destination(
            f"{query} × {document}",
            f"{label}?{urlencode({'query': query, 'document': document})}",
            "why it has its label",
            EXACT,
        )
        for query, document in ways
        if query in queries and document in documents
    ]


def _existing(model: Any, collection: Collection, ids: Iterable[str]) -> set[str]:
    rows = model.objects.filter(collection=collection, external_id__in=list(ids))
    return set(rows.values_list("external_id", flat=True))


def _listed(address: str, collection: Collection, row: Query | Document) -> str:
    return f"{reverse(address, args=[collection.slug])}?{urlencode({'q': row.external_id})}"


def _best_first(rows: QuerySet[Any], field: str, search: str) -> QuerySet[Any]:
    fit = Case(
        When(**{f"{field}__iexact": search}, then=Value(EXACT)),
        When(**{f"{field}__istartswith": search}, then=Value(BEGINS)),
        default=Value(WITHIN),
        output_field=IntegerField(),
    )
    return rows.order_by(fit, "pk")


def _fit(search: str, name: str) -> int:
    wanted, given = search.casefold(), name.casefold()
    return EXACT if wanted == given else BEGINS if given.startswith(wanted) else WITHIN


def _goes_by(search: str, words: str) -> bool:
    """Each word of `search` begins one of `words`."""
    all_words = words.casefold().replace("-", " ").split() + words.casefold().split()
    return all(any(word.startswith(part) for word in all_words) for part in search.casefold().split())


@require_safe
@login_required
def find_anything(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Things with `q` in their name or id, in one collection or in all of one's own, whole or as a part."""
    collection = collection_for(request.user, slug, MEMBERS) if slug else None
    if collection is None or collection.role == Role.ANNOTATOR:  # type: ignore[attr-defined]
        speak(request)
    text = parameter(request, "q")[:LONGEST]
    context = {"kinds": find(person(request), collection, text), "search": text.strip()}
    if request.headers.get("HX-Request"):
        return render(request, "soundings/_found.html", context)
    return render(
        request, "soundings/find.html", {**context, "collection": collection, "section": "overview"}
    )


class FoundKindSerializer(serializers.Serializer[Any]):
    """What was found of one kind, at most six of it."""

    kind = serializers.CharField(source="label")
    found = shape(Destination, "Found")(source="rows", many=True)


class Find(APIView):
    @answers(
        FoundKindSerializer(many=True),
        also={404: PROBLEM},
        operation_id="find_list",
        parameters=[
            OpenApiParameter("q", str, description=f"Part of a name or id, at most {LONGEST} characters."),
            OpenApiParameter("collection", str, description="Only in this collection, by its short name."),
        ],
    )
    def get(self, request: Request) -> object:
        """What you may see with `q` in its name or id, the best kind first; without `q`, where you can go."""
        slug = request.query_params.get("collection", "")
        collection = collection_for(request.user, slug, MEMBERS) if slug else None
        text = parameter(request._request, "q")[:LONGEST]
        return find(signed_in(request), collection, text)
