"""Names of columns of a table and of fields of a record.

Names are compared in lower case with `-`, `.` and blanks as `_`; the first of these that is there counts:

- query: query_id qid q_id queryid query topic_id topic query_text (a text is an id where there is no other)
- document: document_id doc_id docno docid corpus_id documentid document doc passage_id pid did
- score of a run: score similarity sim; without one, `rank` (or position, doc_position) makes the score -rank
- relevance: relevance rel relevancy label rating grade judgment judgement score
- chunk: chunk_id chunk; its offsets: start start_index and end end_index
- id, title and text of a record: as listed below
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

#: Characters of all names of the fields of a record, up to which what they are stays in memory.
LONGEST_NAMES = 2_000
_BLANKS = str.maketrans("-. ", "___")

QUERY = ("query_id", "qid", "q_id", "queryid", "query", "topic_id", "topic", "query_text")
DOCUMENT = (
    # PyTerrier has both: docno is the id, docid an internal number.
    "document_id", "doc_id", "docno", "docid", "corpus_id", "documentid", "document", "doc",
    "passage_id", "pid", "did",
)  # fmt: skip
SCORE = ("score", "similarity", "sim")
RANK = ("rank", "position", "doc_position")
RELEVANCE = ("relevance", "rel", "relevancy", "label", "rating", "grade", "judgment", "judgement", "score")
CHUNK = ("chunk_id", "chunk")
START, END = ("start", "start_index"), ("end", "end_index")

#: Of an entry of a ranked list, and what holds such a list.
HIT_ID = (*(name for name in DOCUMENT if name not in ("document", "doc")), "_id", "id")
HIT_SCORE = (*SCORE, "_score")
LISTS = ("results", "hits", "documents", "docs", "retrieved", "ranking", "passages", "ctxs")

ID = ("_id", "id")
# Of a passage the id comes before that of the document it is of.
PASSAGE = ("passage_id", "pid", "chunk_id")
OTHER_ID = ("id_", "cord_uid", "product_id", "number", "num")
TITLE = ("title", "headline", "product_title")
TEXT = ("text", "contents", "content", "body", "query", "question", "query_text")
QUERY_TEXT = (*TEXT, "utterance", "title")
DOCUMENT_TEXT = (
    *TEXT, "segment", "passage", "page_content", "passage_text", "chunk", "chunk_text", "content_text",
    "document_text", "doc_text", "product_description", "abstract", "description",
)  # fmt: skip
#: A field of a query under another name -> its name in the metadata.
METADATA = {"narr": "narrative", "information_need": "narrative", "tag": "tags", "freq": "frequency"}


def plain_name(name: str) -> str:
    return name.strip().lower().translate(_BLANKS)


def column_named(names: Iterable[str], aliases: tuple[str, ...]) -> str | None:
    """The column that has the first of these names, in whatever way it is written.

    >>> column_named(["Query-ID", "label", "score"], RELEVANCE)
    'label'
    """
    names = tuple(names)
    # A million records have a few sets of names.
    find = _column_named if sum(map(len, names)) <= LONGEST_NAMES else _column_named.__wrapped__
    return find(names, aliases)


@lru_cache(maxsize=1024)
def _column_named(names: tuple[str, ...], aliases: tuple[str, ...]) -> str | None:
    by_plain = {plain_name(name): name for name in reversed(names)}
    return next((by_plain[alias] for alias in aliases if alias in by_plain), None)
