"""For search engines: ranking evaluation, Search Relevance Workbench, and Learning to Rank."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from labeling.qrels.labelled import Labelled
from pooling.interface.problems import InputError


def element(value: object) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def object_with(lists: Mapping[str, Iterable[object]], **others: object) -> Iterator[str]:
    """An object of `others`, and of lists with a line for each element."""
    yield "{\n"
    parts = [iter([f"{element(name)}: {element(value)}"]) for name, value in others.items()]
    parts += [_list(name, elements) for name, elements in lists.items()]
    for number, part in enumerate(parts):
        yield ",\n" if number else ""
        yield from part
    yield "\n}\n"


def _list(name: str, elements: Iterable[object]) -> Iterator[str]:
    yield f"{element(name)}: [\n"
    yield from separated(map(element, elements))
    yield "\n]"


def mapping(name: str, entries: Iterable[tuple[str, object]]) -> Iterator[str]:
    """A name and an object with a line for each entry."""
    yield f"{element(name)}: {{\n"
    yield from separated(f"{element(key)}: {element(value)}" for key, value in entries)
    yield "\n}"


def separated(parts: Iterable[str]) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield f",\n{part}" if number else part


# What a rated request may not have: the engines refuse it.
REFUSED = ("aggs", "aggregations", "suggest", "highlight", "explain", "profile")
USUAL_REQUEST = '{"query": {"multi_match": {"query": "{{query}}"}}}'
PLACE = "{{query}}"
# The workbench takes no longer text, and none with these.
LONGEST_NAME = 50


def rank_eval(labels: Labelled) -> Iterator[str]:
    """The body of `POST INDEX/_rank_eval`: a rated request for each query, measured by recall at K."""
    options = labels.options
    if not options.index:
        raise InputError("rank-eval needs the name of the index. Give it as “index”.", field="index")
    template = request_template(options.request or USUAL_REQUEST)
    requests = (
        {
            "id": query.id,
            "request": _filled(template, query.text),
            "ratings": [
                {"_index": options.index, "_id": document, "rating": relevance}
                for document, relevance in query.labels.items()
            ],
        }
        for query in labels.by_query()
    )
    metric = {"recall": {"k": options.k, "relevant_rating_threshold": options.min_relevance}}
    return object_with({"requests": requests}, metric=metric)


def request_template(text: str) -> object:
    """A search request with a place for the query; `InputError` for what the engines would refuse."""
    try:
        template = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The search request is not JSON: {error}.", field="request") from None
    if not isinstance(template, dict):
        raise InputError("The search request is not a JSON object.", field="request")
    if PLACE not in text:
        problem = f"The search request has no {PLACE}. Write it where the text of the query belongs."
        raise InputError(problem, field="request")
    if refused := [name for name in REFUSED if name in template]:
        problem = f"A rated request cannot have “{refused[0]}”. Leave it out of the search request."
        raise InputError(problem, field="request")
    return template


def _filled(template: object, text: str) -> object:
    if isinstance(template, str):
        return template.replace(PLACE, text)
    if isinstance(template, list):
        return [_filled(one, text) for one in template]
    if isinstance(template, dict):
        return {name: _filled(one, text) for name, one in template.items()}
    return template


def judgment_list(labels: Labelled) -> Iterator[str]:
    """The body of `PUT _plugins/_search_relevance/judgments`; a rating is a number in a string."""
    labels.refuse_equal_texts()
    lists = (
        {
            "query": query.text,
            "ratings": [
                {"docId": document, "rating": f"{float(relevance)}"}
                for document, relevance in query.labels.items()
            ],
        }
        for query in labels.by_query()
    )
    return object_with({"judgmentRatings": lists}, **_head(labels), type="IMPORT_JUDGMENT")


def query_set(labels: Labelled) -> Iterator[str]:
    """The body of `PUT _plugins/_search_relevance/query_sets`."""
    labels.refuse_equal_texts()
    queries = ({"queryText": text} for text, _ in labels.queries.values())
    return object_with({"querySetQueries": queries}, **_head(labels), sampling="manual")


def _head(labels: Labelled) -> dict[str, object]:
    name = re.sub(r"""["'\\<>]""", " ", labels.name)[:LONGEST_NAME].strip()
    return {"name": name, "description": f"Qrels release from Soundings, {labels.frame.height} labels"}


def learning_to_rank(labels: Labelled) -> Iterator[str]:
    """`grade qid:N # document`, below a head that says which query has which number."""
    numbers = {query: number for number, query in enumerate(labels.queries, start=1)}
    for query, (text, _) in labels.queries.items():
        yield f"# qid:{numbers[query]}: {_one_line(text)}\n"
    for query, document, relevance in labels.frame.iter_rows():
        yield f"{relevance} qid:{numbers[query]} # {_one_line(document)}\n"


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text)
