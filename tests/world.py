"""The one cast of the tests and their one tiny collection, whose numbers can be checked by hand.

Ada is the admin, Ben and Cleo annotate, Vera looks on, and Dan is a stranger who must see nothing.
The collection "harbour" has three queries and six documents; two runs rank them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from pooling.models import Collection, Document, Membership, Pool, Query, Role, Run
from pooling.storage.rows import add_rows

PASSWORD = "correct horse battery"

QUERIES = {"q1": "night bus", "q2": "lost umbrella", "q3": "bicycle on ferry"}
DOCUMENTS = {
    "d1": ("Night buses", "Buses run all night on lines N1 to N4, every thirty minutes."),
    "d2": ("Lost property", "An umbrella or a bag left behind is kept for six weeks at the office."),
    "d3": ("Bicycles", "A bicycle travels free on every ferry; please lash it to the rail."),
    "d4": ("Timetables", "The last bus of the day leaves the square a little after midnight."),
    "d5": ("Ferry tickets", "Tickets for the ferry are sold on the pier and on board."),
    "d6": ("Umbrella hire", "On rainy days an umbrella can be hired at the kiosk."),
}
# Rank is the place in the list, score falls by one from 9.
ALPHA = {"q1": ["d1", "d4", "d5"], "q2": ["d2", "d6", "d1"], "q3": ["d3", "d5", "d2"]}
BETA = {"q1": ["d4", "d1", "d6"], "q2": ["d6", "d3", "d2"], "q3": ["d5", "d4", "d3"]}
# Every relevant pair there is.
RELEVANT = {("q1", "d1"), ("q1", "d4"), ("q2", "d2"), ("q3", "d3")}


def run_text(ranking: dict[str, list[str]], tag: str = "tag") -> str:
    """A ranking as the text of a TREC run."""
    return "".join(
        f"{query} Q0 {document} {rank} {10 - rank} {tag}\n"
        for query, documents in ranking.items()
        for rank, document in enumerate(documents, start=1)
    )


def qrels_text(relevant: set[tuple[str, str]] = RELEVANT) -> str:
    """Labels for every pair of the collection as the text of a TREC qrels file."""
    return "".join(
        f"{query} 0 {document} {int((query, document) in relevant)}\n"
        for query in QUERIES
        for document in DOCUMENTS
    )


def make_user(name: str) -> User:
    """A user whose password is `PASSWORD`."""
    return User.objects.create_user(name, password=PASSWORD)


def signed_in(user: User) -> Client:
    """A browser without scripts in which a user is signed in."""
    client = Client()
    client.force_login(user)
    return client


@dataclass
class World:
    """The cast, the collection and, once asked for, its runs and pool."""

    ada: User
    ben: User
    cleo: User
    vera: User
    dan: User
    collection: Collection
    folder: Path

    def import_runs(self) -> list[Run]:
        """Import both runs as `alpha` and `beta`."""
        from pooling.runs.stored import import_run

        runs = []
        for name, ranking in {"alpha": ALPHA, "beta": BETA}.items():
            path = self.folder / f"{name}.run"
            path.write_text(run_text(ranking))
            runs.append(import_run(self.collection, path, user=self.ada))
        return runs

    def add_document(self) -> None:
        """A document that nobody has judged, so that labels of the others are not those of the whole."""
        Document.objects.create(collection=self.collection, external_id="d9", text="Of nothing.")

    def build_pool(self, name: str = "first pool", depth: int = 2) -> Pool:
        """Import the runs and pool them; at depth 2 the pool has two or three pairs for each query."""
        from pooling.pools.building import build_pool

        return build_pool(self.collection, name=name, runs=self.import_runs(), depth=depth, user=self.ada)


def make_world(folder: Path) -> World:
    """The cast and the collection with its queries and documents, in the database."""
    collection = Collection.objects.create(slug="harbour", name="Harbour", guidelines="Relevant *helps*.")
    password = make_password(PASSWORD)
    people = {name: User(username=name, password=password) for name in ("ada", "ben", "cleo", "vera", "dan")}
    roles = {"ada": Role.ADMIN, "ben": Role.ANNOTATOR, "cleo": Role.ANNOTATOR, "vera": Role.VIEWER}
    now = timezone.now()
    # Half of the tests begin here, and `bulk_create` takes twice as long.
    add_rows(list(people.values()))
    add_rows(
        [
            Membership(collection=collection, user=people[name], role=role, since=now)
            for name, role in roles.items()
        ]
    )
    add_rows(
        [
            Query(collection=collection, external_id=external_id, text=text)
            for external_id, text in QUERIES.items()
        ]
    )
    add_rows(
        [
            Document(collection=collection, external_id=external_id, title=title, text=text)
            for external_id, (title, text) in DOCUMENTS.items()
        ]
    )
    return World(collection=collection, folder=folder, **people)
