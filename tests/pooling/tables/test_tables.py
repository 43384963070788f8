"""The table of lists: order, search, filters, columns, files, and addresses that mean nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.db import connection
from django.db.models import Q
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from pooling.interface.registering import Registry
from pooling.models import Collection, Query, Run
from pooling.runs.lists import RUNS
from pooling.tables.columns import BulkAction, Choice, Column, Empty, Filter
from pooling.tables.natural import natural_key
from pooling.tables.shown import TableView
from pooling.tables.table import Table, add_actions
from pooling.texts.lists import QUERIES
from tests.world import World, signed_in

RUNS_URL = "/collections/harbour/runs/"


def make_runs(collection: Collection, names: Sequence[str], **facts: Any) -> None:
    known = {"row_count": 1, "query_count": 1, "depth": 1} | facts
    Run.objects.bulk_create(Run(collection=collection, name=name, **known) for name in names)


def shown(table: Table, rows: Any, query: str = "", **facts: Any) -> TableView:
    return table.shown(RequestFactory().get(f"/?{query}"), rows, **facts)


def firsts(table: TableView) -> list[str]:
    """The first cell of each row of the page."""
    return [row.name for row in table.rows]


@pytest.fixture
def vera(world: World, client: Client) -> Client:
    client.force_login(world.vera)
    return client


# --- Natural order --------------------------------------------------------------------------------------


@given(st.text(alphabet="qQ-b019", max_size=8), st.integers(0, 10**19), st.integers(0, 10**19))
def test_numbers_in_names_are_compared_as_numbers(name: str, one: int, other: int) -> None:
    before, after = (natural_key(f"{name}x{number}") for number in sorted((one, other)))
    assert before <= after
    assert (before == after) == (one == other)


@given(st.text(alphabet="qZé", max_size=3), st.sets(st.integers(0, 10**15), max_size=6), st.booleans())
@pytest.mark.django_db
def test_the_database_sorts_numbers_in_ids_as_numbers(name: str, numbers: set[int], last: bool) -> None:
    collection, _ = Collection.objects.get_or_create(slug="natural", name="Natural")
    collection.queries.all().delete()
    ids = [f"{name}-{number}{'-x' if last else ''}" for number in sorted(numbers)]
    rows = [Query(collection=collection, external_id=one, text="") for one in reversed(ids)]
    Query.objects.bulk_create(rows)
    table = shown(QUERIES, collection.queries.all(), "sort=id")
    assert firsts(table) == ids
    assert sorted(ids, key=natural_key) == ids


# --- Rows of the database -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["bm2", "bm10", "dense"]),
        ("sort=-name", ["dense", "bm10", "bm2"]),
        ("sort=-depth", ["dense", "bm10", "bm2"]),
        ("q=BM", ["bm2", "bm10"]),
        ("q=bm+10", ["bm10"]),
        ("q=%25", []),
    ],
)
def test_rows_are_sorted_and_searched_by_the_database(world: World, query: str, names: list[str]) -> None:
    make_runs(world.collection, ["bm2"], depth=1)
    make_runs(world.collection, ["bm10"], depth=5)
    make_runs(world.collection, ["dense"], depth=10)
    assert firsts(shown(RUNS, Run.objects.select_related("collection"), query)) == names


def test_what_has_no_value_comes_last_in_both_directions(world: World) -> None:
    make_runs(world.collection, ["nobody's"])
    make_runs(world.collection, ["ada's"], imported_by=world.ada)
    make_runs(world.collection, ["vera's"], imported_by=world.vera)
    rows = Run.objects.select_related("collection", "imported_by")
    assert firsts(shown(RUNS, rows, "sort=by")) == ["ada's", "vera's", "nobody's"]
    assert firsts(shown(RUNS, rows, "sort=-by")) == ["vera's", "ada's", "nobody's"]


@pytest.mark.parametrize(
    "query",
    [
        "sort=nothing&page=x&columns=nothing",
        "sort=--name&page=-1",
        "sort=sha256&page=99999999999999999999",
        "sort=collection__members__password",
        "columns=&sort=-&page=0",
        "format=pdf&runs=x",
        "q=" + "a" * 5000,
        "other=" + "a" * 5000,
    ],
)
def test_an_address_that_means_nothing_shows_the_table(vera: Client, world: World, query: str) -> None:
    make_runs(world.collection, ["bm2", "bm10"])
    answer = vera.get(f"{RUNS_URL}?{query}")
    assert answer.status_code == 200
    assert len(answer.context["table"].columns) >= 1
    assert len(answer.content) < 60_000


def test_the_page_asks_the_database_as_often_for_many_rows(vera: Client, world: World) -> None:
    counts = []
    for names in (["one"], [f"run{number}" for number in range(60)]):
        make_runs(world.collection, names, imported_by=world.ada)
        vera.get(RUNS_URL)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            vera.get(f"{RUNS_URL}?columns=name,by")
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_the_first_page_has_fifty_rows_and_leads_to_the_next(vera: Client, world: World) -> None:
    make_runs(world.collection, [f"run{number}" for number in range(51)])
    first = vera.get(f"{RUNS_URL}?sort=-name&q=run").context["table"]
    assert (len(first.rows), first.counted) == (50, "51 runs found")
    second = vera.get(RUNS_URL + first.next_address).context["table"]
    assert firsts(second) == ["run0"]


# --- Rows in memory -------------------------------------------------------------------------------------

SCORES = Table(
    "scores",
    "score",
    columns=(
        Column("name", "Name", natural=True),
        Column("value", "Value", number=True, decimals=2),
        Column("tags", "Tags", lambda row: row["tags"]),
        Column("secret", "Secret", hidden=True),
    ),
    search=("name",),
    filters=(
        Filter(
            "state",
            "State",
            (
                Choice("current", "Current", lambda row: not row.get("archived")),
                Choice("archived", "Archived", lambda row: bool(row.get("archived"))),
            ),
            default="current",
        ),
    ),
    prefix="s-",
    empty=Empty("No scores yet."),
)
ROWS = [
    {"name": "q10", "value": 0.5, "tags": ["a", "<b>"], "secret": "=1+1"},
    {"name": "q2", "value": None, "tags": []},
    {"name": "q3", "value": 1.25, "tags": ["z"]},
    {"name": "old", "value": 9.0, "tags": [], "archived": True},
]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["q10", "q2", "q3"]),
        ("s-sort=name", ["q2", "q3", "q10"]),
        ("s-sort=-value", ["q3", "q10", "q2"]),
        ("s-sort=value", ["q10", "q3", "q2"]),
        ("s-sort=-tags", ["q3", "q10", "q2"]),
        ("s-state=archived", ["old"]),
        ("s-state=nonsense", ["q10", "q2", "q3"]),
        ("s-q=Q1", ["q10"]),
        ("sort=name&q=q1", ["q10", "q2", "q3"]),
    ],
)
def test_rows_in_memory_are_sorted_filtered_and_searched(query: str, names: list[str]) -> None:
    assert firsts(shown(SCORES, ROWS, query)) == names


def test_cells_are_escaped_and_numbers_have_their_decimals() -> None:
    cells = shown(SCORES, ROWS[:1], "s-columns=name,value,tags").rows[0].cells
    assert [cell.html for cell in cells[:2]] == ["q10", "0.50"]
    assert cells[2].html == '<span class="badge">a</span> <span class="badge">&lt;b&gt;</span>'


def test_the_state_is_in_the_address_with_what_else_stood_there() -> None:
    table = shown(SCORES, ROWS, "pool=3&s-sort=name&s-q=q&s-columns=value&s-page=1&s-state=current")
    link = table.headers[1].address
    assert parse_qs(link[1:]) == {
        "pool": ["3"],
        "s-sort": ["-value"],
        "s-q": ["q"],
        "s-columns": ["name,value"],
    }
    assert [(header.key, header.order) for header in table.headers] == [("name", "ascending"), ("value", "")]


def test_a_second_click_sorts_the_other_way() -> None:
    assert shown(SCORES, ROWS, "s-sort=-value").headers[1].address == "?s-sort=value"
    assert shown(SCORES, ROWS, "s-sort=name").headers[0].address == "?s-sort=-name"


# --- Columns, files and actions -------------------------------------------------------------------------


def test_chosen_columns_are_remembered_until_the_address_says_others(vera: Client, world: World) -> None:
    make_runs(world.collection, ["bm2"])
    answer = vera.get(f"{RUNS_URL}?remember=1&columns=name&columns=depth&columns=by&q=bm")
    assert (answer.status_code, answer["Location"]) == (302, f"{RUNS_URL}?q=bm&columns=name%2Cdepth%2Cby")

    def keys(query: str = "") -> list[str]:
        return [column.key for column in vera.get(RUNS_URL + query).context["table"].columns]

    assert keys() == ["name", "depth", "by"]
    assert keys("?columns=tag") == ["name", "tag"]
    assert keys() == ["name", "depth", "by"]
    by_default = [column.key for column in RUNS.columns if not column.hidden]
    vera.logout()
    vera.force_login(world.vera)
    assert keys() == ["name", "depth", "by"]
    vera.get(f"{RUNS_URL}?remember=1&columns={','.join(by_default)}")
    assert keys() == by_default


def test_the_file_holds_what_is_shown_of_every_page(vera: Client, world: World) -> None:
    make_runs(world.collection, [f"run{number}" for number in range(60)], tag="=1+1")
    answer = vera.get(f"{RUNS_URL}?format=csv&columns=tag&sort=-name")
    assert answer["Content-Disposition"] == 'attachment; filename="runs.csv"'
    lines = answer.getvalue().decode().splitlines()
    assert lines[:2] == ["Run,Tag", "run59,'=1+1"]
    assert len(lines) == 61


def test_the_file_of_chosen_rows_holds_those(vera: Client, world: World) -> None:
    make_runs(world.collection, ["a", "b", "c"])
    a, _, c = Run.objects.order_by("name")
    answer = vera.get(f"{RUNS_URL}?format=csv&runs={c.pk}&runs={a.pk}&runs=x&runs=&columns=name")
    assert answer.getvalue().decode().splitlines() == ["Run", "a", "c"]


def test_admins_are_offered_what_viewers_are_not(vera: Client, world: World) -> None:
    make_runs(world.collection, ["a"])
    assert vera.get(RUNS_URL).context["table"].offered == []
    vera.force_login(world.ada)
    titles = [one.title for one in vera.get(RUNS_URL).context["table"].offered]
    assert titles[:2] == ["Compare", "Build a pool"]


def test_a_later_room_adds_an_action_once(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    monkeypatch.setattr("pooling.tables.table._ADDED", Registry())
    for title in ("Archive", "Archive these"):
        add_actions("scores", BulkAction("archive", title, "runs", admin_only=False))
    offered = shown(SCORES, ROWS, collection=world.collection).offered
    assert offered == [("Archive these", RUNS_URL)]


def test_an_empty_table_says_what_to_do_and_a_narrow_one_how_to_see_all(vera: Client, world: World) -> None:
    vera.force_login(world.ada)
    assert f'{RUNS_URL}import/">Import runs</a>' in vera.get(RUNS_URL).content.decode()
    make_runs(world.collection, ["a"])
    page = vera.get(f"{RUNS_URL}?q=zzz").content.decode()
    assert "Nothing matches." in page


def test_every_column_of_the_database_can_be_sorted(world: World) -> None:
    make_runs(world.collection, ["a", "b"])
    filtered = Run.objects.filter(Q(collection=world.collection))
    for header in shown(RUNS, filtered).headers:
        assert len(shown(RUNS, filtered, header.address[1:]).rows) == 2


@pytest.mark.parametrize("form", ["/collections/harbour/pools/new/", "/collections/harbour/reports/new/"])
def test_chosen_runs_are_chosen_in_the_form_that_they_lead_to(vera: Client, world: World, form: str) -> None:
    first, _ = world.import_runs()
    vera.force_login(world.ada)
    chosen = vera.get(f"{form}?runs={first.pk}&runs=x&runs={'9' * 30}").context["form"]["runs"].initial
    assert chosen == [first.pk]


@pytest.mark.parametrize("form", ["/collections/harbour/pools/new/", "/collections/harbour/reports/new/"])
def test_runs_elsewhere_and_runs_nowhere_are_left_out_in_the_same_words(world: World, form: str) -> None:
    first, second = world.import_runs()
    make_runs(Collection.objects.create(slug="other", name="Other"), ["secret"])
    elsewhere = Run.objects.get(name="secret").pk
    for left_out in (elsewhere, elsewhere + 1):
        page, words = signed_in(world.ada).get(f"{form}?runs={left_out}"), f"“runs={left_out}” in the address"
        assert f"{words} means nothing here and is left out." in page.content.decode()
        assert page.context["form"]["runs"].initial == [first.pk, second.pk]
