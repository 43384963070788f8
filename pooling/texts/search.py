"""Searching the documents of a collection: an index of texts, brought up to date when somebody searches.

The index is PostgreSQL's full text (a GIN index over `tsvector`) or SQLite's FTS5, with no language's endings
cut off, since a collection may be in any. It is built when it is first searched and not by the import: most
collections are never searched, and writing the words of a text takes longer than writing the text. An import
only says that texts have changed, which costs one statement. Anyone who searches next has the new and changed
texts indexed first, a few at once and many by the background worker, with progress.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Case, Q, When

from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.interface.results import Progress, Result
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.models import Collection, Document, Job
from pooling.search_models import TextIndex
from pooling.texts.word_forms import UNSPACED

BATCH = 2000
#: This many texts are indexed while somebody waits for the answer: about a second.
AT_ONCE = 5000
MOST_WORDS = 20
LONGEST = 300
MOST_MATCHES = 20
#: Scripts whose words the index does not find: they have no spaces between them, or endings grown onto them.
INSIDE_WORDS = re.compile(rf"{UNSPACED.pattern}|[\uac00-\ud7a3]")
#: Texts of these scripts are read one after the other, so that a collection may have this many.
MOST_READ = 200_000
#: Of this many matches the best are sought, where more match.
MOST_RANKED = 20_000

_MISSING = """
    SELECT document.id FROM pooling_document document
    WHERE document.collection_id = %s AND document.text IS NOT NULL AND document.deleted_at IS NULL
    AND document.id > %s AND NOT EXISTS (
        SELECT 1 FROM pooling_indexedtext known
        WHERE known.document_id = document.id AND known.version = document.version
    ) ORDER BY document.id LIMIT %s
"""
# This many characters of a text fit PostgreSQL's tsvector, whatever its script.
_POSTGRES_INDEX = """
    INSERT INTO pooling_indexedtext (document_id, version, words)
    SELECT id, version, setweight(to_tsvector('simple', left(title, 10000)), 'A')
        || setweight(to_tsvector('simple', left(text, 100000)), 'B')
    FROM pooling_document WHERE id = ANY(%s)
    ON CONFLICT (document_id) DO UPDATE SET version = excluded.version, words = excluded.words
"""
# A trigger takes a text out of the virtual table with its row; see the migration.
_SQLITE_INDEX = (
    """
    DELETE FROM pooling_indexedtext WHERE EXISTS (
        SELECT 1 FROM pooling_document document
        WHERE document.collection_id = %s AND document.id BETWEEN %s AND %s
        AND document.id = pooling_indexedtext.document_id
        AND document.version <> pooling_indexedtext.version
    )
    """,
    """
    INSERT INTO pooling_textsearch (rowid, title, text) SELECT id, title, text FROM pooling_document document
    WHERE collection_id = %s AND id BETWEEN %s AND %s AND text IS NOT NULL AND deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM pooling_indexedtext known WHERE known.document_id = document.id)
    """,
    """
    INSERT INTO pooling_indexedtext (document_id, version) SELECT id, version FROM pooling_document document
    WHERE collection_id = %s AND id BETWEEN %s AND %s AND text IS NOT NULL AND deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM pooling_indexedtext known WHERE known.document_id = document.id)
    """,
)
_POSTGRES_SEARCH = """
    SELECT found.id FROM (
        SELECT document.id, indexed.words FROM pooling_indexedtext indexed
        JOIN pooling_document document ON document.id = indexed.document_id
        WHERE indexed.words @@ ({query}) AND document.collection_id = %s
        AND document.deleted_at IS NULL LIMIT %s
    ) found ORDER BY ts_rank_cd(found.words, ({query}), 1) DESC, found.id LIMIT %s
"""
_SQLITE_SEARCH = """
    SELECT document.id FROM pooling_textsearch
    JOIN pooling_document document ON document.id = pooling_textsearch.rowid
    WHERE pooling_textsearch MATCH %s AND document.collection_id = %s AND document.deleted_at IS NULL
    ORDER BY bm25(pooling_textsearch, 3.0, 1.0), document.id LIMIT %s
"""


@dataclass(frozen=True)
class TextMatches:
    """Keys of documents, the best first; `any_word` where none has all the words that were asked for."""

    documents: list[int]
    any_word: bool


class TextsIndexed(Result):
    texts: int


def index_texts(collection: Collection, progress: Progress | None = None) -> int:
    progress = progress or (lambda share, detail: None)
    TextIndex.objects.get_or_create(collection=collection)
    # Before looking: an import that ends after this says so again.
    TextIndex.objects.filter(collection=collection).update(is_behind=False)
    total = Document.objects.filter(collection=collection, text__isnull=False).count()
    done, last = 0, 0
    try:
        while missing := _missing(collection, last, BATCH):
            with transaction.atomic():
                _index(collection, missing)
            done, last = done + len(missing), missing[-1]
            progress(min(0.99, done / max(total, 1)), f"{counted(done, 'text')} indexed.")
    except BaseException:
        TextIndex.objects.filter(collection=collection).update(is_behind=True)
        raise
    return done


def job_that_indexes(collection: Collection, user: User | None = None) -> Job | None:
    """Index what little is missing, now; where it is much, the job that does it and has to be waited for."""
    state, _ = TextIndex.objects.get_or_create(collection=collection)
    jobs = Job.objects.filter(
        collection=collection, kind="texts", state__in=(Job.State.QUEUED, Job.State.RUNNING)
    )
    if job := jobs.first():
        return job
    if not state.is_behind:
        return None
    if len(_missing(collection, 0, AT_ONCE + 1)) <= AT_ONCE:
        index_texts(collection)
        return None
    job = start_job(collection, "texts", {}, user)
    job.refresh_from_db()
    return job if job.state in (Job.State.QUEUED, Job.State.RUNNING) else None


@job_kind("texts", title="Indexing texts for search", can_be_cancelled=False)
def _index_in_background(job: Job, progress: Progress) -> TextsIndexed:
    count = index_texts(job.collection, progress)
    return {
        "texts": count,
        "detail": f"{counted(count, 'text')} indexed.",
        "url": job.collection.get_absolute_url(),
    }


def search_documents(collection: Collection, words: str, *, limit: int = MOST_MATCHES) -> TextMatches:
    """The documents that have all the words, in title or text, or any of them where none has all.

    "Words in quotes" stand together, and a word after a minus is not there. `InputError` for nothing to look
    for, and for too much.
    """
    wanted, unwanted = _terms(words)
    if any(map(INSIDE_WORDS.search, wanted)):
        return _containing(collection, wanted, unwanted, limit)
    documents = _search(collection, wanted, unwanted, limit, every=True)
    if documents or len(wanted) == 1:
        return TextMatches(documents, any_word=False)
    return TextMatches(_search(collection, wanted, unwanted, limit, every=False), any_word=True)


def _containing(collection: Collection, wanted: list[str], unwanted: list[str], limit: int) -> TextMatches:
    """The documents in which all the words stand, or any of them; those with one in the title first."""
    if collection.documents.count() > MOST_READ:
        problem = (
            f"Words of this script cannot be searched for in more than {MOST_READ:,} documents: the index "
            "knows words by the spaces between them."
        )
        raise InputError(problem, field="words")
    has = [Q(title__contains=term) | Q(text__contains=term) for term in wanted]
    lacks = reduce(or_, [Q(title__contains=term) | Q(text__contains=term) for term in unwanted], Q(pk=None))
    in_title = reduce(or_, [Q(title__contains=term) for term in wanted])
    ordered = collection.documents.exclude(lacks).order_by(Case(When(in_title, then=0), default=1), "pk")
    for any_word, condition in ((False, reduce(and_, has)), (True, reduce(or_, has))):
        if documents := list(ordered.filter(condition).values_list("pk", flat=True)[:limit]):
            return TextMatches(documents, any_word)
    return TextMatches([], any_word=len(wanted) > 1)


def _terms(words: str) -> tuple[list[str], list[str]]:
    problem = ""
    if len(words) > LONGEST:
        problem = f"Search for at most {LONGEST} characters; these are {len(words)}."
    pieces = re.findall(r'(-?)(?:"([^"]*)"|([^\s"]+))', words)
    terms = [(bool(minus), phrase or word) for minus, phrase, word in pieces]
    terms = [(minus, term) for minus, term in terms if any(letter.isalnum() for letter in term)]
    wanted = [term for minus, term in terms if not minus]
    if not wanted:
        problem = problem or "Write a word to look for."
    elif len(terms) > MOST_WORDS:
        problem = problem or f"Search for at most {MOST_WORDS} words; these are {len(terms)}."
    if problem:
        raise InputError(problem, field="words")
    return wanted, [term for minus, term in terms if minus]


def _search(
    collection: Collection, words: list[str], excluded: list[str], limit: int, *, every: bool
) -> list[int]:
    if connection.vendor == "postgresql":
        one = "phraseto_tsquery('simple', %s)"
        query = "(" + (" && " if every else " || ").join([one] * len(words)) + ")"
        query += "".join(f" && !!{one}" for _ in excluded)
        terms = [*words, *excluded]
        statement = _POSTGRES_SEARCH.format(query=query)
        return _keys(statement, [*terms, collection.pk, MOST_RANKED, *terms, limit])
    match = "(" + (" AND " if every else " OR ").join(map(_quoted, words)) + ")"
    match += "".join(f" NOT {_quoted(term)}" for term in excluded)
    return _keys(_SQLITE_SEARCH, [match, collection.pk, limit])


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _missing(collection: Collection, after: int, limit: int) -> list[int]:
    return _keys(_MISSING, [collection.pk, after, limit])


def _index(collection: Collection, documents: Sequence[int]) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_POSTGRES_INDEX, [list(documents)])
        return
    within = [collection.pk, documents[0], documents[-1]]
    with connection.cursor() as cursor:
        for statement in _SQLITE_INDEX:
            cursor.execute(statement, within)


def _keys(statement: str, values: Sequence[Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [row[0] for row in cursor.fetchall()]
