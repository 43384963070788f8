"""The one component for lists: declare a `Table` once, and every view shows its rows with it.

    RUNS = Table(
        "runs", "run",
        columns=(
            Column("name", "Run", natural=True, link=lambda run: run.get_absolute_url()),
            Column("row_count", "Rows", number=True),
            Column("imported_by", "Imported by", "imported_by.username", hidden=True),
        ),
        sort="name",
        search=("name__icontains", "tag__icontains"),
        actions=(BulkAction("pool", "Pool these", "pool_new"),),
        choose="runs",
        empty=Empty("No runs yet.", "Import runs", "run_import"),
    )

    def runs(request, slug):
        collection = collection_for(request.user, slug)
        table = RUNS.shown(request, Run.objects.filter(collection=collection), collection)
        return answer(request, "pooling/runs.html", {"table": table, "collection": collection})

The template includes `_htmx.html` in its block `head` and `_table.html` where the table is. Rows come from a
query set, which the database narrows down, sorts and cuts into pages with a constant number of queries, from
a list in memory, or from `ArrangedRows`, which narrow and sort themselves. Lists are sorted by the values of
their columns and searched in the columns that `search` names; query sets are searched by the lookups that it
names. `prepare` fills in what the rows of a page need, such as counts. The state is in the address
(`?sort=-depth&q=bm&columns=name,depth&page=2`), after `prefix` where a page has several tables. Actions of
later rooms are added by `add_actions`. `answer` also gives the file that `?format=csv` asks for, and
remembers the columns that a person chose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.context_processors import csrf

from pooling.account_models import Preferences
from pooling.interface.forms import say_instead
from pooling.interface.registering import Registry
from pooling.models import Collection
from pooling.tables.columns import BulkAction, Column, Empty, Filter
from pooling.tables.rows import PER_PAGE, Rows, in_order, narrowed, number_of, only, page_of_rows
from pooling.tables.shown import Look, TableView
from pooling.tables.state import Names, meaningless, read_state

MOST_TABLES = 100


def remembered_columns(request: HttpRequest, table: str) -> list[str]:
    """The columns last chosen; empty for none."""
    kept = getattr(getattr(request, "user", None), "preferences", None)
    return list(kept.columns.get(table, [])) if kept else []


def remember_columns(request: HttpRequest, table: str, columns: Sequence[str]) -> None:
    """Keep a choice; an empty one means the table's own columns again."""
    if isinstance(request.user, AnonymousUser):
        return
    kept, _ = Preferences.objects.get_or_create(user=request.user)
    kept.columns.pop(table, None)
    if columns and len(kept.columns) < MOST_TABLES:
        kept.columns[table] = list(columns)
    kept.save(update_fields=["columns"])


_ADDED: Registry[str, list[BulkAction]] = Registry()


def add_actions(table: str, *actions: BulkAction) -> None:
    """Offer actions at the foot of the table of that name; one that is there already is replaced."""
    names = {action.name for action in actions}
    before = _ADDED.so_far(table, [])
    _ADDED[table] = [one for one in before if one.name not in names] + list(actions)


def _nothing(rows: list[Any]) -> None:
    """Rows that come as they are shown."""


def _key(row: Any) -> object:
    return getattr(row, "pk", "")


NOTHING_YET = Empty("Nothing here yet.")


@dataclass(frozen=True)
class Table:
    """A list as it is declared; see above. `name` is also how a person's choice of columns is remembered."""

    name: str
    noun: str
    columns: tuple[Column, ...]
    #: A column, after a minus from the greatest to the least; nothing keeps the order in which rows come.
    sort: str = ""
    search: tuple[str, ...] = ()
    search_hint: str = "Find"
    filters: tuple[Filter, ...] = ()
    actions: tuple[BulkAction, ...] = ()
    #: What the address of an action calls a chosen row; nothing where rows cannot be chosen.
    choose: str = ""
    empty: Empty = NOTHING_YET
    nouns: str = ""
    #: How many rows there are, in the reader's language; without it, in English by the nouns.
    counts: Callable[[int], str] | None = None
    caption: str = ""
    prefix: str = ""
    #: Id of the heading to which links to the next page return.
    anchor: str = ""
    prepare: Callable[[list[Any]], None] = _nothing
    key: Callable[[Any], object] = _key
    per_page: int = PER_PAGE

    def shown(self, request: HttpRequest, rows: Rows, collection: Collection | None = None) -> TableView:
        """The rows as the address asks for them; `collection.role` says whose actions are offered."""
        is_stored = isinstance(rows, QuerySet)
        is_admin = getattr(collection, "role", None) == "admin"
        columns = tuple(column for column in self.columns if is_admin or not column.admin_only)
        names = Names(columns, self.filters, self.sort, self.prefix, self.choose, is_stored)
        state = read_state(request.GET, names)
        keys = (
            state.columns or names.columns_among(remembered_columns(request, self.name)) or names.by_default
        )
        matches = narrowed(rows, state, self.search)
        if state.wants_file and (chosen := request.GET.getlist(self.choose)):
            matches = only(matches, chosen, self.key)
        count = number_of(matches)
        matches = in_order(matches, state, count)
        page = page_of_rows(matches, state.page, count, self.per_page)
        state = state.on_page(page.number)
        for given in meaningless(request.GET, state):
            say_instead(request, *given)
        return TableView(
            look=self._look(),
            state=state,
            columns=[column for column in columns if column.key in keys],
            page=page,
            all_rows=matches,
            collection=collection,
            actions=[*self.actions, *_ADDED.get(self.name, ())],
            prepare=self.prepare,
            key_of=self.key,
            around={"collection": collection, "here": request.get_full_path(), **csrf(request)},
        )

    def _look(self) -> Look:
        return Look(
            name=self.name,
            noun=self.noun,
            nouns=self.nouns,
            counts=self.counts,
            caption=self.caption,
            search_hint=self.search_hint if self.search else "",
            empty=self.empty,
            anchor=self.anchor,
            choose=self.choose,
        )
