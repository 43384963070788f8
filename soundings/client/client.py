"""A site from Python: `soundings.Client`, and what of a site it reads and changes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from labeling.qrels.options import OPTIONS
from pooling.formats.qrels import read_qrels
from pooling.formats.sources import opened_file
from pooling.heavy import pl
from pooling.inputs.given import RunSource, Source
from pooling.inputs.reading import qrels_frame, run_frame
from pooling.interface.terminal import progress_bar
from soundings.client.connection import Connection, Waiting
from soundings.client.problems import NotFound, NotSignedIn, Refused
from soundings.client.reports import Report
from soundings.client.shapes import ClaimedItem, CollectionFacts, Imported, JudgmentOutcome, Verdict

if TYPE_CHECKING:
    from labeling.judging.progress_figures import QueueProgress  # beside models, which a client has not


# What people have in memory, as the files that a site reads.


#: The name of a file and the file.
Upload: TypeAlias = "tuple[str, IO[bytes]]"
#: Id -> text, or id -> an object with `text` and more (`title`, `narrative`, `metadata`); or a file's path.
Texts: TypeAlias = "Mapping[str, str | Mapping[str, Any]] | Iterable[Mapping[str, Any]] | str | Path"


def run_upload(source: RunSource, name: str) -> Upload:
    """A run as a file: a path as it is, anything else that `evaluate` takes as Parquet."""
    if isinstance(source, str | Path):
        return _file(source)
    out = BytesIO()
    run_frame(name, source).write_parquet(out)
    return f"{name}.parquet", out


def qrels_upload(source: Source) -> Upload:
    """Labels as a file, in the same way."""
    if isinstance(source, str | Path):
        return _file(source)
    out = BytesIO()
    qrels_frame(source).write_parquet(out)
    return "qrels.parquet", out


def texts_upload(source: Texts, name: str) -> Upload:
    """Queries or documents as a file: a path as it is, a mapping or records as JSON Lines."""
    if isinstance(source, str | Path):
        return _file(source)
    records: Iterable[Mapping[str, Any]] = source  # type: ignore[assignment]
    if isinstance(source, Mapping):
        texts = {key: {"text": value} if isinstance(value, str) else value for key, value in source.items()}
        records = ({"_id": key, **value} for key, value in texts.items())
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return f"{name}.jsonl", BytesIO("".join(lines).encode())


def _file(path: str | Path) -> Upload:
    with opened_file(Path(path)) as file:
        # Read whole: it is sent again if a try fails.
        return Path(path).name, BytesIO(file.read())


TOKEN = "SOUNDINGS_TOKEN"  # noqa: S105  the name of a variable


class Client:
    """A site and your token for it, which your account's page makes (or `Client.signed_in`).

        client = Client("https://soundings.example.org", "…")
        mine = client.collection("mine")
        mine.import_run({"q1": {"d1": 2.0}}, "bm25")
        queue = mine.build_pool(depth=20).open_queue()
        queue.progress()["judged"]
        mine.release("v1").qrels()

    token: without one, that of the environment variable SOUNDINGS_TOKEN. progress: whether long work shows a
    bar on a terminal. What a site refuses is a `soundings.client.problems.Problem`: `NotSignedIn`,
    `NotAllowed`, `NotFound`, `Refused` with `fields`, `Conflict`, `Unavailable`, `JobFailed`.
    """

    def __init__(self, url: str, token: str | None = None, *, progress: bool = True, **options: Any) -> None:
        self._connection = Connection(url, os.environ.get(TOKEN, "") if token is None else token, **options)
        self._shows = progress

    @classmethod
    def signed_in(
        cls, url: str, username: str, password: str, *, code: str = "", name: str = "Python client"
    ) -> Client:
        """A client with a new token by password, and a code if needed, for some days; else `NotSignedIn`."""
        connection = Connection(url, "")
        given = {"username": username, "password": password, "code": code, "name": name}
        try:
            token = connection.call("POST", "token/", json=given).json()["token"]
        except Refused as problem:
            if "name" in problem.fields:
                raise
            raise NotSignedIn(str(problem), status=problem.status) from None
        finally:
            connection.close()
        return cls(url, token)

    def __repr__(self) -> str:
        return f"Client({self._connection.url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def collections(self) -> list[Collection]:
        """The collections that you are a member of."""
        return [Collection(self, row["slug"]) for row in self._connection.pages("collections/")]

    def collection(self, slug: str) -> Collection:
        """A collection by its short name; `NotFound` where there is none that you may see."""
        self._connection.get(f"collections/{quote(slug, safe='')}/")
        return Collection(self, slug)

    def create_collection(self, slug: str, name: str, **texts: str) -> Collection:
        """A new collection, of which you are the admin; texts: `question` and `guidelines`."""
        self._connection.call("POST", "collections/", json={"slug": slug, "name": name, **texts})
        return Collection(self, slug)

    @contextmanager
    def _bar(self, title: str) -> Iterator[Waiting]:
        if not self._shows:
            yield lambda share, detail: None
            return
        with progress_bar(title) as moved:
            yield moved

    def _done(self, title: str, send: Callable[[], Any]) -> Any:
        """The result of a call, with a bar while a job makes it."""
        with self._bar(title) as waiting:
            return self._connection.done(send(), waiting)


@dataclass(frozen=True)
class _Thing:
    """Something of a collection, by its number on the site."""

    id: int
    name: str
    collection: Collection = field(repr=False)

    @property
    def _connection(self) -> Connection:
        return self.collection._client._connection


class Release(_Thing):
    """Labels frozen under a name."""

    def qrels(self) -> pl.DataFrame:
        """The labels: query_id, document_id, relevance."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "release.qrels"
            path.write_bytes(self.file("trec"))
            return read_qrels(path).frame

    def file(self, format: str = "trec", **options: str | int) -> bytes:
        """The labels as a file, in a format that the site writes, such as trec, beir or sidecar; options:
        what some formats need to know, such as `index` of rank-eval and `run` of ragas."""
        if unknown := [name for name in options if name not in OPTIONS]:
            raise TypeError(f"There is no option {unknown[0]}; there are {', '.join(OPTIONS)}.")
        path = f"collections/{self.collection.slug}/qrels"
        query = {"release": self.name, "format": format, **options}
        return self._connection.call("GET", path, query=query).content


class Run(_Thing):
    """One retriever's ranked lists."""

    def frame(self) -> pl.DataFrame:
        """The rows: query_id, document_id, score, rank (null where its file had none)."""
        return pl.read_parquet(self._connection.call("GET", f"runs/{self.id}/file/").content)


class Queue(_Thing):
    """A pool that people judge."""

    def progress(self) -> QueueProgress:
        """Counts by state, pace, cost and end date, as `GET /api/queues/{id}/progress/` answers."""
        progress: QueueProgress = self._connection.get(f"queues/{self.id}/progress/")
        return progress

    def claim(self, count: int = 10) -> list[ClaimedItem]:
        """Take up to `count` pairs to judge: each with `item`, `lease`, `version`, `query` and `document`."""
        answer = self._connection.call("POST", f"queues/{self.id}/claim/", json={"count": count})
        return list(answer.json()["items"])

    def judge(self, verdicts: Sequence[Verdict]) -> list[JudgmentOutcome]:
        """Send verdicts; one answer each: `status` is stored, extra, duplicate or rejected, with `detail`."""
        answer = self._connection.call("POST", f"queues/{self.id}/judgments/", json=list(verdicts))
        return list(answer.json()["results"])


class Pool(_Thing):
    """The pairs chosen for judging."""

    def pairs(self) -> pl.DataFrame:
        """The pairs as the command `pool` prints them."""
        content = self._connection.call("GET", f"pools/{self.id}/file/").content
        return pl.read_csv(content, separator="\t", quote_char=None, infer_schema_length=None)

    def open_queue(self, name: str | None = None, **options: Any) -> Queue:
        """Have people judge the pool; options: `judgments_per_item` and the others of `open_queue`."""
        body = {"name": name or self.name, **options}
        made = self.collection._client._done(
            "Opening the queue", lambda: self._connection.call("POST", f"pools/{self.id}/queue/", json=body)
        )
        return Queue(made["id"], made.get("name", body["name"]), self.collection)


@dataclass(frozen=True)
class Collection:
    """One project on a site: its queries, documents, runs, pools, queues, releases and reports."""

    _client: Client = field(repr=False)
    slug: str

    def facts(self) -> CollectionFacts:
        """Name, question, guidelines, your role, and how much there is of everything."""
        facts: CollectionFacts = self._connection.get(f"{self._path}/")
        return facts

    def import_queries(self, source: Texts) -> Imported:
        """Add queries and say what became of them: id -> text, id -> {"text": …, …}, a file, or
        [{"_id": …, "text": …}, …]."""
        done: Imported = self._import("queries", texts_upload(source, "queries"))
        return done

    def import_documents(self, source: Texts, *, only_pooled: bool = False) -> Imported:
        """Add documents in the same way; `only_pooled` leaves out what no pool contains."""
        upload = texts_upload(source, "documents")
        done: Imported = self._import("documents", upload, only_pooled=only_pooled)
        return done

    def import_run(self, source: RunSource, name: str) -> Run:
        """Add a run: what `soundings.evaluate` takes (frames, dicts, a file's path)."""
        made = self._import("runs", run_upload(source, name), name=name)
        return Run(made["id"], made["name"], self)

    def import_qrels(self, source: Source, *, complete: bool = False) -> Imported:
        """Add labels in the same way. `complete`: they name all that is relevant to their queries."""
        done: Imported = self._import("qrels", qrels_upload(source), complete=complete)
        return done

    def build_pool(
        self, name: str | None = None, *, depth: int, runs: Sequence[str] | None = None, **options: Any
    ) -> Pool:
        """Merge the first `depth` documents of runs (all, unless named); options: as for `soundings.pool`."""
        chosen = [run.name for run in self.runs()] if runs is None else list(runs)
        body = {"name": name or f"depth {depth}", "depth": depth, "runs": chosen, **options}
        made = self._made("Building the pool", "pools", body)
        return Pool(made["id"], made["name"], self)

    def make_release(self, name: str, *, rule: str = "majority") -> Release:
        """Freeze the labels under a name."""
        made = self._made("Making the release", "releases", {"name": name, "rule": rule})
        return Release(made["id"], made["name"], self)

    def report(
        self,
        *,
        release: str | None = None,
        runs: Sequence[str] | None = None,
        k: Sequence[int] | None = None,
        measures: Sequence[str] | None = None,
        **settings: Any,
    ) -> Report:
        """Measure runs (all) on a release (the newest), and read the result; settings: as over HTTP."""
        fields = {"release": release, "runs": runs, "k": k, "measures": measures, **settings}
        body = {key: value for key, value in fields.items() if value is not None}
        return self._report(self._made("Measuring", "reports", body))

    def report_named(self, name: str) -> Report:
        """A report that was made; the newest of that name."""
        return self._report(self._named("reports", name))

    def release(self, name: str) -> Release:
        return Release(self._named("releases", name)["id"], name, self)

    def run(self, name: str) -> Run:
        return Run(self._named("runs", name)["id"], name, self)

    def pool(self, name: str) -> Pool:
        return Pool(self._named("pools", name)["id"], name, self)

    def queue(self, name: str) -> Queue:
        return Queue(self._named("queues", name)["id"], name, self)

    def runs(self) -> list[Run]:
        return [Run(row["id"], row["name"], self) for row in self._rows("runs")]

    def pools(self) -> list[Pool]:
        """The pools, newest first."""
        return [Pool(row["id"], row["name"], self) for row in self._rows("pools")]

    def queues(self) -> list[Queue]:
        return [Queue(row["id"], row["name"], self) for row in self._rows("queues")]

    def releases(self) -> list[Release]:
        """The releases, newest first."""
        return [Release(row["id"], row["name"], self) for row in self._rows("releases")]

    @property
    def _connection(self) -> Connection:
        return self._client._connection

    @property
    def _path(self) -> str:
        return f"collections/{quote(self.slug, safe='')}"

    def _rows(self, kind: str) -> Iterator[Any]:
        return self._connection.pages(f"{self._path}/{kind}/")

    def _named(self, kind: str, name: str) -> Any:
        for row in self._rows(kind):
            if row["name"] == name:
                return row
        raise NotFound(f"There is no {kind.removesuffix('s')} “{name}” in “{self.slug}”.", status=404)

    def _report(self, link: Mapping[str, Any]) -> Report:
        number = link["id"] if "id" in link else int(str(link["url"]).rstrip("/").rpartition("/")[2])
        result = self._connection.get(f"reports/{number}/")
        url = f"{self._connection.url}/reports/{number}/"
        return Report(number, str(link.get("name", "")), url, result, self._connection)

    def _made(self, title: str, kind: str, body: Mapping[str, Any]) -> Any:
        path = f"{self._path}/{kind}/"
        return self._client._done(title, lambda: self._connection.call("POST", path, json=body))

    def _import(self, kind: str, upload: Upload, **options: Any) -> Any:
        path, form = f"{self._path}/{kind}/", {name: str(value) for name, value in options.items()}
        return self._client._done(
            f"Importing {upload[0]}",
            lambda: self._connection.call("POST", path, files={"file": upload}, data=form),
        )
