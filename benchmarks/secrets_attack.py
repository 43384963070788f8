"""An annotator who tries to find out which items are hidden checks, and what a model says of their verdicts.

Mallory judges a queue item by item, and before and after each verdict reads every page and call that an
annotator may read. All of it becomes features: numbers and how they moved, presence, sizes, order, statements
of the database (or seconds) that a call took. A decision tree then tries to tell the hidden items (gold
questions and pairs shown again) from the others, and the verdicts that a confident model contradicts from
those that it does not. What somebody knows who keeps a list of all pairs they ever saw is left out: that a
pair was there before is what a repeat is. What other people judge goes on in between.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from html import unescape
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from labeling.models import Queue

Features = dict[str, float]
QUERIES, DOCUMENTS, BEYOND = 4, 60, 8
NUMBERS_OF_A_PAGE = 60
FOLDS = 5
OTHERS_WORK = 0.2  # between two items of Mallory's, each of them
MISSING = -1_000_000.0
#: Of items, how many are gold questions and repeats.
GOLD, REPEATS = 0.2, 0.1


@dataclass
class Campaign:
    """What Mallory saw of each item, which were hidden, and where a model says otherwise (None: hidden)."""

    before: list[Features] = field(default_factory=list)
    after: list[Features] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    contradicted: list[bool | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Setting:
    """How the queue of a campaign works."""

    name: str = "one judgment"
    judgments_per_item: int = 1
    adaptive: bool = False
    covered: float = 1.0  # of the queries, those that have gold questions


SETTINGS = (Setting(), Setting("adaptive", adaptive=True), Setting("two judgments", judgments_per_item=2))


def run_campaign(
    seed: int, items: int = 100, setting: Setting | None = None, *, clock: bool = False
) -> Campaign:
    """Let Mallory judge so many items in a new collection; with `clock`, claims are timed as well."""
    site = _Site(seed, setting or Setting(), clock)
    return site.judged(items)


class _Site:
    def __init__(self, seed: int, setting: Setting, clock: bool) -> None:
        from django.test import Client
        from rest_framework.test import APIClient

        self._draw, self._setting, self._clock = Random(seed), setting, clock
        self._queue, self._mallory, self._others, self._said = prepared(seed, setting)
        self._pages, self._api = Client(), APIClient()
        self._pages.force_login(self._mallory)
        self._api.force_authenticate(self._mallory)
        self._address = f"/api/queues/{self._queue.pk}"
        self._seen: list[str] = []
        self._left: dict[str, int] = {}

    def judged(self, items: int) -> Campaign:
        from labeling.items.numbers import item_of
        from labeling.models import Item

        found = Campaign()
        state = self._state()
        for number in range(items):
            between = self._state() if self._others_worked() else state
            answer, cost, seconds = self._claim()
            if not answer["items"]:
                break
            offer = answer["items"][0]
            held = self._state() | self._search(offer)
            item = Item.objects.get(pk=item_of(offer["item"]))
            features = {
                **_numbers("offer", offer),
                **self._message(offer, number),
                **self._order(offer),
                **{f"held {name}": value for name, value in held.items()},
                **_moved("claim", between, held),
                "claim statements": cost,
                **({"claim seconds": seconds} if self._clock else {}),
            }
            verdict = self._draw.choice(("relevant", "not_relevant"))
            told, submit_cost = self._submit(offer, verdict, f"{number}")
            state = self._state() | self._search(offer)
            after = {
                **features,
                **_numbers("told", told),
                **_moved("verdict", held, state),
                **_moved("both", between, state),
                "submit statements": submit_cost,
            }
            found.before.append(features)
            found.after.append(after)
            found.seconds.append(seconds)
            found.hidden.append(item.state if item.state in ("gold", "repeat") else "")
            against = self._said[item.query_id, item.document_id] != verdict
            found.contradicted.append(None if found.hidden[-1] else against)
        return found

    def _others_worked(self) -> bool:
        from labeling.judging.leases import claim
        from labeling.judging.submissions import Submission
        from labeling.judging.verdicts import record_judgment

        working = [other for other in self._others if self._draw.random() < OTHERS_WORK]
        for other in working:
            for lease in claim(self._queue, other, 1).leases:
                verdict = self._draw.choice(("relevant", "not_relevant"))
                record_judgment(self._queue, other, Submission(lease.item_id, str(lease.token), verdict))
        return bool(working)

    def _claim(self) -> tuple[Any, float, float]:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(connection) as caught:
            began = time.perf_counter()
            answer = self._api.post(f"{self._address}/claim/", {"count": 1}, format="json")
            seconds = time.perf_counter() - began
        return answer.json(), float(len(caught)), seconds

    def _submit(self, offer: dict[str, Any], verdict: str, key: str) -> tuple[Any, float]:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        body = {name: offer[name] for name in ("item", "version", "lease")}
        body |= {"key": key, "verdict": verdict, "active_ms": 4000}
        with CaptureQueriesContext(connection) as caught:
            answer = self._api.post(f"{self._address}/judgments/", [body], format="json")
        (told,) = answer.json()["results"]
        return {name: value for name, value in told.items() if name != "key"}, float(len(caught))

    def _message(self, offer: dict[str, Any], number: int) -> Features:
        """What a message to the admins about the item is answered, before there is a verdict."""
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        body = {"item": offer["item"], "text": "Is it in one piece?", "key": f"message {number}"}
        with CaptureQueriesContext(connection) as caught:
            answer = self._api.post(f"{self._address}/messages/", body, format="json")
        assert answer.status_code < 300, answer.content
        told = {name: value for name, value in answer.json().items() if name not in ("id", "key", "at")}
        return {**_numbers("message", told), "message statements": float(len(caught))}

    def _state(self) -> Features:
        """Everything there is to read but the search, as numbers."""
        from django.urls import reverse

        slug, queue = self._queue.collection.slug, self._queue.pk
        addresses = {
            "home": "/",
            "collection": self._queue.collection.get_absolute_url(),
            "queues": reverse("queues", args=[slug]),
            "queue": reverse("queue", args=[queue]),
            "own_work": reverse("own_work", args=[queue]),
            "all_work": reverse("all_work"),
        }
        found: Features = {}
        for name, address in addresses.items():
            found |= _page(name, self._pages.get(address).content.decode())
        answer = self._api.get(f"{self._address}/progress/")
        found |= _numbers("progress", answer.json()) | {"progress size": float(len(answer.content))}
        return found

    def _search(self, offer: dict[str, Any]) -> Features:
        """What the judging page and a search for the document on screen say."""
        query, title = offer["query"]["id"], offer["document"]["title"]
        answer = self._api.get(f"{self._address}/search/", {"query": query, "words": title})
        hits = [hit for hit in answer.json()["documents"] if hit["id"] == offer["document"]["id"]]
        page = self._pages.get(f"/queues/{self._queue.pk}/judge/", {"item": offer["item"]})
        asked = {"query": query, "document": offer["document"]["id"]}
        own = self._api.get(f"{self._address}/own-verdicts/", asked).json()
        return {
            **_numbers("hit", hits[0] if hits else {}),
            **_numbers("own", own),
            **_page("judge", page.content.decode()),
        }

    def _order(self, offer: dict[str, Any]) -> Features:
        """How the item stands among those before it."""
        query, left = offer["query"]["id"], offer["query"]["left"]
        before = self._seen[-1] if self._seen else query
        found = {
            "same query": float(query == before),
            "query known": float(query in self._seen),
            "left moved": float(left - self._left.get(query, left)),
        }
        self._seen.append(query)
        self._left[query] = left
        return found


def _page(name: str, html: str) -> Features:
    """The numbers of a page, without those of its script, and the number of its elements."""
    shown = re.sub(r"<script.*?</script>|<head.*?</head>", " ", html, flags=re.DOTALL)
    values = re.findall(r"(?:max|value)=\"(\d+)\"", shown)
    text = re.sub(r"<[^>]*>", " ", shown)
    found = {f"{name} {place}": float(value) for place, value in enumerate(values[:NUMBERS_OF_A_PAGE])}
    words = re.findall(r"\b\d[\d,]*\b", unescape(text))[:NUMBERS_OF_A_PAGE]
    found |= {f"{name} text {place}": float(word.replace(",", "")) for place, word in enumerate(words)}
    data = re.search(r"<script[^>]*application/json[^>]*>(.*?)</script>", html, flags=re.DOTALL)
    if data:
        import json

        found |= _numbers(f"{name} data", json.loads(data[1]).get("progress", {}))
    return found | {f"{name} elements": float(shown.count("<"))}


def _numbers(name: str, value: Any) -> Features:
    """The leaves of an answer as numbers: words by their length, lists with theirs."""
    if isinstance(value, dict):
        return {key: one for part in value for key, one in _numbers(f"{name} {part}", value[part]).items()}
    if isinstance(value, list):
        found = {f"{name} size": float(len(value))}
        for place, part in enumerate(value[:3]):
            found |= _numbers(f"{name} {place}", part)
        return found
    if isinstance(value, bool) or value is None:
        return {name: MISSING if value is None else float(value)}
    if isinstance(value, int | float):
        return {name: float(round(value))}
    return {name: float(len(value))}


def _moved(what: str, before: Features, after: Features) -> Features:
    """How each number changed; what came or went has changed by a lot."""
    names = before.keys() | after.keys()
    return {f"{what} {name}": after.get(name, MISSING) - before.get(name, MISSING) for name in sorted(names)}


def balanced_accuracy(
    rows: list[Features], wanted: list[bool], seed: int = 1, groups: list[int] | None = None
) -> float:
    """How well a decision tree tells the wanted rows, by the mean of five cross-validations in five parts:
    0.5 is chance, 1 is certainty.

    With `groups`, what is learned from some is tried on the others: nobody is told the answers of their own.
    """
    import numpy as np
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, MISSING) for name in names] for row in rows])
    target = np.array(wanted)
    found = []
    for turn in range(FOLDS):
        tree = DecisionTreeClassifier(
            max_depth=3, min_samples_leaf=4, class_weight="balanced", random_state=seed + turn
        )
        parts = (
            StratifiedKFold(FOLDS, shuffle=True, random_state=seed + turn)
            if groups is None
            else LeaveOneGroupOut()
        )
        told = cross_val_predict(tree, matrix, target, groups=groups, cv=parts)
        found.append(balanced_accuracy_score(target, told))
    return float(np.mean(found))


def told_apart(campaign: Campaign, seed: int = 1) -> dict[str, float]:
    """The attacker's balanced accuracy by question: hidden before and after the verdict, gold, repeats, and
    whether a model contradicts the verdict."""
    hidden = campaign.hidden
    found = {
        "hidden before": balanced_accuracy(campaign.before, [bool(kind) for kind in hidden], seed),
        "hidden after": balanced_accuracy(campaign.after, [bool(kind) for kind in hidden], seed),
    }
    for kind in ("gold", "repeat"):
        if hidden.count(kind) >= 5:
            found[kind] = balanced_accuracy(campaign.after, [one == kind for one in hidden], seed)
    known = [place for place, one in enumerate(campaign.contradicted) if one is not None]
    rows = [campaign.after[place] for place in known]
    found["opinion"] = balanced_accuracy(rows, [bool(campaign.contradicted[place]) for place in known], seed)
    return found


def prepared(seed: int, setting: Setting) -> tuple[Queue, User, list[User], dict[tuple[int, int], str]]:
    """A queue with gold questions, repeats and a model in a new collection; who attacks, who else works, and
    what the model says of each pair."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from labeling.adaptive.options import AdaptiveOptions
    from labeling.exposure.use import PrelabelUse, change_use
    from labeling.gold.options import GoldOptions
    from labeling.models import Bookmark, GoldQuestion, Prelabel, Prelabeler
    from labeling.queues.opening import open_queue
    from pooling.models import Collection, Document, Membership, Pool, PoolEntry, PoolRun, Query, Run

    draw = Random(seed)
    collection = Collection.objects.create(
        slug=f"secrets-{seed}-{Collection.objects.count()}", name="Secrets"
    )
    names = [f"{name}-{collection.pk}" for name in ("mallory", "oscar", "peggy")]
    users = [User.objects.create(username=name, password="!") for name in names]
    Membership.objects.bulk_create(
        Membership(collection=collection, user=user, role="annotator") for user in users
    )
    queries = Query.objects.bulk_create(
        Query(collection=collection, external_id=f"q{number}", text=_words(draw, 3))
        for number in range(QUERIES)
    )
    documents = Document.objects.bulk_create(
        Document(
            collection=collection, external_id=f"d{number}", title=_words(draw, 3), text=_words(draw, 20)
        )
        for number in draw.sample(range(1000, 9999), QUERIES * (DOCUMENTS + BEYOND))
    )
    pool = Pool.objects.create(
        collection=collection,
        name="pool",
        depth=DOCUMENTS,
        strategy="learned",
        audit_share=0.1,
        pair_count=QUERIES * DOCUMENTS,
        query_count=QUERIES,
    )
    run = Run.objects.create(collection=collection, name="run", row_count=0, query_count=0, depth=DOCUMENTS)
    PoolRun.objects.create(pool=pool, run=run, index=0)
    rows, pairs, gold = [], [], []
    for place, query in enumerate(queries):
        own = documents[place * (DOCUMENTS + BEYOND) :][: DOCUMENTS + BEYOND]
        pairs += [(query, document) for document in own]
        rows += [
            PoolEntry(
                pool=pool,
                query=query,
                document=document,
                position=rank,
                run_count=1,
                best_rank=rank,
                rrf=1 / (60 + rank),
                found_by=[[0, rank]],
                inclusion_probability=1.0,
            )
            for rank, document in enumerate(own[:DOCUMENTS], start=1)
        ]
        # Half of the gold questions are of the pool, half are not.
        if place < setting.covered * QUERIES:
            gold += [(query, document) for document in own[DOCUMENTS - BEYOND * (setting.covered == 1) :]]
    PoolEntry.objects.bulk_create(rows)
    GoldQuestion.objects.bulk_create(
        GoldQuestion(
            collection=collection,
            query=query,
            document=document,
            answer=("relevant", "not_relevant")[place % 2],
            created_by=users[0],
        )
        for place, (query, document) in enumerate(gold)
    )
    model = Prelabeler.objects.create(
        collection=collection, model="small", prompt="binary", prompt_version=1, options_hash=str(seed)
    )
    said = {(query.pk, document.pk): draw.choice(("relevant", "not_relevant")) for query, document in pairs}
    Prelabel.objects.bulk_create(
        Prelabel(
            prelabeler=model,
            query_id=query,
            document_id=document,
            verdict=verdict,
            score=0.97 if verdict == "relevant" else 0.03,
            document_version=1,
            created_at=timezone.now(),
        )
        for (query, document), verdict in said.items()
    )
    queue = open_queue(
        pool,
        name="queue",
        judgments_per_item=setting.judgments_per_item,
        seed=seed,
        gold=GoldOptions(GOLD, GOLD, 0, gold_pause="proposed", repeat_share=REPEATS),
        adaptive=AdaptiveOptions(budget=QUERIES * DOCUMENTS // 2) if setting.adaptive else None,
    )
    change_use(queue, PrelabelUse(prelabeler=model, second_opinion_from=0.9), understood=True)
    for place, user in enumerate(users):
        # What is drawn hangs on the row's key as well, which is to change nothing here.
        bookmark = Bookmark.objects.create(queue=queue, annotator=user)
        bookmark.gold_seed = (seed * 1000 + place) ^ bookmark.pk
        bookmark.save()
    queue.tells_agreement = True
    queue.save(update_fields=["tells_agreement"])
    queue.refresh_from_db()
    return queue, users[0], users[1:], said


def _words(draw: Random, count: int) -> str:
    letters = "abcdefghijklmnoprstuvw"
    return " ".join("".join(draw.choices(letters, k=6)) for _ in range(count))
