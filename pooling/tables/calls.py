"""Lists over HTTP, all by one rule: the answer is an array, a page of at most 1,000 rows.

`?page=` and `?per_page=` choose the page; `?q=`, `?sort=` and filters are those of the page's table, where
the list has one. The header `X-Total-Count` says how many rows there are on all pages, and `Link` (RFC 8288)
where the next page is. Unlike on pages, a value that has no meaning is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from pooling.interface.api import PROBLEM
from pooling.interface.problems import InputError
from pooling.tables.rows import Rows, in_order, narrowed, number_of
from pooling.tables.state import Names, read_state
from pooling.tables.table import Table

MOST_ON_A_PAGE = 1_000
#: Digits of a number of a page.
LONGEST_NUMBER = 9
TOTAL = "X-Total-Count"
Call = TypeVar("Call", bound=Callable[..., Any])
#: Of a list that can only be paged.
PLAIN = Table("plain", "row", columns=())


def listed(
    request: Request,
    rows: Rows,
    serializer: type[Serializer[Any]] | Callable[[Sequence[Any]], Any],
    table: Table = PLAIN,
) -> Response:
    """The page of `rows` that the address asks for, with its headers; they keep their order unless `?sort=`
    names another.

    serializer: the serializer of a row, or what makes the answer of the rows of a page.
    """
    names = Names(table.columns, table.filters, sort="", is_stored=isinstance(rows, QuerySet))
    _refuse_unknown(request, names)
    state = read_state(request._request.GET, names)
    number, size = _number(request, "page", 1), _number(request, "per_page", MOST_ON_A_PAGE)
    if size > MOST_ON_A_PAGE:
        raise InputError(f"A page has at most {MOST_ON_A_PAGE:,} rows.", field="per_page")
    matches = narrowed(rows, state, table.search)
    start = (number - 1) * size
    if state.sort:
        count = number_of(matches)
        some = _cut(in_order(matches, state, count), start, size)
    else:
        some = list(matches[start : start + size + 1])
        is_last = len(some) <= size and (some or not start)
        count = start + len(some) if is_last else number_of(matches)
        some = some[:size]
    table.prepare(some)
    answer = serializer(some, many=True).data if isinstance(serializer, type) else serializer(some)
    return Response(answer, headers=_headers(request, number, size, count))


def lists(serializer: type[Serializer[Any]], table: Table = PLAIN, **more: Any) -> Callable[[Call], Call]:
    """A call that answers with the rows it returns, or with `listed`; more: as `extend_schema` takes it."""
    parameters = [*more.pop("parameters", []), *_parameters(table)]

    def described(call: Call) -> Call:
        @wraps(call)
        def listing(view: Any, request: Request, *args: Any, **address: Any) -> Response:
            rows = call(view, request, *args, **address)
            return rows if isinstance(rows, Response) else listed(request, rows, serializer, table)

        # A page or what it is a page of may not be there.
        answers = {200: serializer(many=True), 404: PROBLEM}
        return cast("Call", extend_schema(parameters=parameters, responses=answers, **more)(listing))

    return described


def _sortable(names: Names) -> list[str]:
    return [column.key for column in names.columns if names.sorts(column) and not column.fixed]


def _parameters(table: Table) -> list[OpenApiParameter]:
    parameters = [
        OpenApiParameter("page", int, description="Which page, from 1."),
        OpenApiParameter("per_page", int, description=f"Rows of a page: 1 to {MOST_ON_A_PAGE}, the default."),
        OpenApiParameter(TOTAL, int, OpenApiParameter.HEADER, response=[200], description="Rows in all."),
        OpenApiParameter(
            "Link", str, OpenApiParameter.HEADER, response=[200], description="Where the next page is."
        ),
    ]
    if table.search:
        parameters.append(OpenApiParameter("q", str, description=f"{table.search_hint}."))
    if sortable := _sortable(Names(table.columns, table.filters, sort="")):
        description = f"{', '.join(sortable)}; after a minus from the greatest to the least."
        parameters.append(OpenApiParameter("sort", str, description=description))
    for one in table.filters:
        choices = [choice.key for choice in one.choices]
        parameters.append(OpenApiParameter(one.key, str, enum=choices, default=one.default))
    return parameters


def _refuse_unknown(request: Request, names: Names) -> None:
    parameters = request.query_params
    sortable = _sortable(names)
    sort = parameters.get("sort", "")
    if sort and sort.removeprefix("-") not in sortable:
        problem = f"Sort by one of {', '.join(sortable)}." if sortable else "This list cannot be sorted."
        raise InputError(problem, field="sort")
    for one in names.filters:
        choices = [choice.key for choice in one.choices]
        if parameters.get(one.key, one.default) not in choices:
            raise InputError(f"Choose one of {', '.join(choices)}.", field=one.key)


def _number(request: Request, name: str, usual: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER and int(text)):
        raise InputError(f"`{name}` is a number from 1.", field=name)
    return int(text)


def _cut(rows: Rows, start: int, size: int) -> list[Any]:
    """Some of the rows. The database sorts keys, and then fetches whole rows."""
    if not isinstance(rows, QuerySet):
        return list(rows[start : start + size])
    keys = list(rows.values_list("pk", flat=True)[start : start + size])
    rows_by_key = rows.order_by().in_bulk(keys)
    return [rows_by_key[key] for key in keys if key in rows_by_key]


def _headers(request: Request, number: int, size: int, count: int) -> dict[str, str]:
    headers = {TOTAL: str(count)}
    last = max(1, -(-count // size))
    pages = {"first": 1, "prev": min(number - 1, last), "next": number + 1, "last": last}
    at = {name: page for name, page in pages.items() if 1 <= page <= last}
    if last > 1:
        links = (f'<{_address(request, page)}>; rel="{name}"' for name, page in at.items())
        headers["Link"] = ", ".join(links)
    return headers


def _address(request: Request, page: int) -> str:
    others = [
        (name, value) for name, values in request.query_params.lists() if name != "page" for value in values
    ]
    return request.build_absolute_uri(f"{request.path}?{urlencode([*others, ('page', str(page))])}")
