"""Simulated campaigns through the HTTP interface: does the quarantine pay?

    [DATABASE_URL=postgres://USER@HOST:PORT/DATABASE] python -m benchmarks.campaign_quality [--seeds 20]

Twelve annotators judge the pairs of a pool, two people each and a third where two differ, with gold questions
among them: ten honest ones who are right with a known probability (84 to 96 %, on relevant pairs as on
others), a spammer who answers at random, and one who always says “not relevant”. Each campaign runs twice
with the same people, who say the same on the same pairs: once the rule for gold questions pauses people and
sets their judgments aside, once it only proposes to, and nobody does. Released are both by plain majority.

All that happens goes through the HTTP interface, called in this process by Django's test client: the same
views, without sockets. Only the people's accounts are made directly; where gold questions come is drawn by
the site, so that two runs of one seed differ a little. Prints a line for each seed, then means with standard
errors.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.judging_site import temporary_site

HONEST = tuple((f"honest-{percent}", percent / 100) for percent in (84, 86, 88, 89, 90, 91, 92, 93, 94, 96))
SPAMMER, ALWAYS_NO = "spammer", "always-no"
RELEVANT_SHARE = 0.15
DEPTH = 20
# Of the first 25 items of a person and of the later ones. The second is twice the site's own setting, so that
# a campaign of 1,200 pairs asks everybody some 25 gold questions.
GOLD_SHARES = (0.2, 0.1)
GOLD_QUESTIONS = 60

Pair = tuple[str, str]


@dataclass(frozen=True)
class Campaign:
    """What came out of one campaign.

    paused: gold answers after which each of those who were paused was. set_aside: judgments in quarantine,
    each of a pair that came up again. verdicts: all that people gave, gold included. open: pairs not settled.
    error: share of the pool's pairs whose label is wrong or missing; f1 on relevant.
    """

    paused: dict[str, int]
    set_aside: int
    verdicts: int
    open: int
    error: float
    f1: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=1200)
    options = parser.parse_args()
    head = ("seed", "spammer", "always-no", "honest paused", "set aside", "verdicts", "error", "plain", "F1")
    print("  ".join((*head, "plain F1", "seconds")), flush=True)
    found = []
    with temporary_site(os.environ.get("DATABASE_URL")):
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            start = time.perf_counter()
            pair = tuple(run_campaign(seed, options.pairs, pause=pause) for pause in (True, False))
            found.append((pair[0], pair[1]))
            print(row_of(seed, *pair, time.perf_counter() - start), flush=True)
    print(summary(found))


def row_of(seed: int, kept: Campaign, plain: Campaign, seconds: float) -> str:
    """A campaign with quarantine beside the same one without."""
    honest = sum(name not in (SPAMMER, ALWAYS_NO) for name in kept.paused)
    cells = (
        f"{seed:>4}",
        f"{kept.paused.get(SPAMMER, '–'):>7}",
        f"{kept.paused.get(ALWAYS_NO, '–'):>9}",
        f"{honest:>13}",
        f"{kept.set_aside:>9,}",
        f"{kept.verdicts:>8,}",
        f"{kept.error:.2%}",
        f"{plain.error:.2%}",
        f"{kept.f1:.3f}",
        f"{plain.f1:>8.3f}",
        f"{seconds:>7.0f}",
    )
    return "  ".join(cells) + ("" if kept.open == plain.open == 0 else f"  {kept.open} and {plain.open} open")


def summary(found: Sequence[tuple[Campaign, Campaign]]) -> str:
    """Means over seeds, with standard errors."""
    kept, plain = [pair[0] for pair in found], [pair[1] for pair in found]
    paused = {name: [one.paused[name] for one in kept if name in one.paused] for name in (SPAMMER, ALWAYS_NO)}
    honest = [sum(name not in paused for name in one.paused) for one in kept]
    who = Counter(name for one in kept for name in one.paused if name not in paused)
    lines = [f"over {len(found)} seeds, mean ± standard error:"]
    for name, answers in paused.items():
        after = f" after {mean(answers)} gold questions" if answers else ""
        lines.append(f"  {name} paused in {len(answers)} of {len(found)} campaigns{after}")
    lines += [
        f"  honest annotators paused in a campaign: {mean(honest)} of {len(HONEST)}; "
        f"{dict(sorted(who.items()))}",
        f"  judgments set aside, their pairs judged again: {mean([one.set_aside for one in kept])}",
        f"  pairs left open: {sum(one.open for one in kept)} and without quarantine "
        f"{sum(one.open for one in plain)}",
    ]
    for title, figure in FIGURES.items():
        both = [(figure(one), figure(other)) for one, other in found]
        differences = [one - other for one, other in both]
        lines.append(
            f"  {title}: {mean([one for one, _ in both])} with quarantine, {mean([one for _, one in both])} "
            f"without; difference {mean(differences)}"
        )
    return "\n".join(lines)


FIGURES: dict[str, Callable[[Campaign], float]] = {
    "error rate of labels, %": lambda one: 100 * one.error,
    "F1 of relevant": lambda one: one.f1,
    "verdicts given": lambda one: one.verdicts,
}


def mean(values: Sequence[float]) -> str:
    """Mean and standard error."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    digits = 3 if abs(statistics.fmean(values)) < 10 else 1
    return f"{statistics.fmean(values):.{digits}f} ± {error:.{digits}f}"


def run_campaign(
    seed: int, pairs: int, *, pause: bool, gold_shares: tuple[float, float] = GOLD_SHARES
) -> Campaign:
    """Open a queue of so many pairs, have everybody judge until nothing is left, and release the labels.

    Django is set up with a database in which nobody minds what is made: users and a collection stay there.
    """
    slug = f"campaign-{seed}-{'paused' if pause else 'plain'}"
    people = {**dict(HONEST), SPAMMER: 0.5, ALWAYS_NO: 0.0}
    clients = {name: _client(f"{slug}-{name}") for name in ("admin", *people)}
    admin = clients["admin"]
    truth, gold = _truth(seed, pairs)
    queue = _opened(admin, slug, truth, gold, pause, gold_shares)
    for name in people:
        _sent(admin, f"collections/{slug}/members/", {"username": f"{slug}-{name}", "role": "annotator"})
    verdicts = 0
    order, turns, given = Random(seed), list(people), 1
    # Whoever is paused, or has judged all there is, gets nothing; what is set aside comes to the others.
    while given:
        order.shuffle(turns)
        given = sum(_batch(clients[name], queue, seed, name, people[name], truth | gold) for name in turns)
        verdicts += given
    quarantines = _got(admin, f"queues/{queue}/gold/")["quarantines"]
    labels = _released(admin, slug)
    right = sum(labels.get(pair) == relevant for pair, relevant in truth.items())
    hits = sum(labels.get(pair) is True for pair, relevant in truth.items() if relevant)
    called = sum(labels.get(pair) is True for pair in truth)
    return Campaign(
        {row["annotator"].removeprefix(f"{slug}-"): _answers(row["evidence"]) for row in quarantines},
        sum(row["evidence"]["judgments"] for row in quarantines),
        verdicts,
        _got(admin, f"queues/{queue}/progress/")["items"]["open"],
        1 - right / len(truth),
        2 * hits / (called + sum(truth.values())),
    )


def _truth(seed: int, pairs: int) -> tuple[dict[Pair, bool], dict[Pair, bool]]:
    """What is relevant in the pool, and the answers of gold questions on other documents of its queries."""
    draw = Random(seed)
    queries = max(1, pairs // DEPTH)
    pool = {
        (f"q{query}", f"d{query}-{place}"): draw.random() < RELEVANT_SHARE
        for query in range(queries)
        for place in range(DEPTH)
    }
    gold = {(f"q{place % queries}", f"g{place}"): place % 2 == 0 for place in range(GOLD_QUESTIONS)}
    return pool, gold


def _opened(
    admin: Any,
    slug: str,
    truth: dict[Pair, bool],
    gold: dict[Pair, bool],
    pause: bool,
    gold_shares: tuple[float, float],
) -> int:
    """A collection with queries, documents, one run, gold questions and a queue, all over HTTP."""
    _sent(admin, "collections/", {"slug": slug, "name": slug})
    queries = dict.fromkeys(query for query, _ in truth)
    texts = [json.dumps({"_id": query, "text": f"query {query}"}) for query in queries]
    documents = [json.dumps({"_id": document, "text": document}) for _, document in (*truth, *gold)]
    ranks: Counter[str] = Counter()
    run = []
    for query, document in truth:
        ranks[query] += 1
        run.append(f"{query} Q0 {document} {ranks[query]} {1000 - ranks[query]} run")
    answers = [f"{query},{document},{int(answer)}" for (query, document), answer in gold.items()]
    _uploaded(admin, f"collections/{slug}/queries/", "queries.jsonl", texts)
    _uploaded(admin, f"collections/{slug}/documents/", "corpus.jsonl", documents)
    _uploaded(admin, f"collections/{slug}/runs/", "run.trec", run)
    chosen = {"depth": DEPTH, "strategy": "rrf", "audit_share": 0}
    pool = _sent(admin, f"collections/{slug}/pools/", {"name": "pool", "runs": ["run"], **chosen})
    header = "query_id,document_id,answer"
    _uploaded(admin, f"collections/{slug}/gold/import/", "gold.csv", [header, *answers])
    options = {
        "judgments_per_item": 2,
        "most_judgments_per_item": 3,
        "gold_first_share": gold_shares[0],
        "gold_share": gold_shares[1],
        "practice_questions": 0,
        "gold_pause": "automatic" if pause else "proposed",
        "seed": 1,
    }
    opened: int = _sent(admin, f"pools/{pool['id']}/queue/", options)["id"]
    return opened


def _batch(client: Any, queue: int, seed: int, name: str, accuracy: float, truth: dict[Pair, bool]) -> int:
    """Claim ten items and judge them in one call; returns how many."""
    items = _sent(client, f"queues/{queue}/claim/", {"count": 10})["items"]
    bodies = []
    for item in items:
        pair = item["query"]["id"], item["document"]["id"]
        said = _says(seed, name, accuracy, pair, truth[pair])
        verdict = "relevant" if said else "not_relevant"
        key = f"{queue}-{name}-{item['item']}"
        bodies.append({"item": item["item"], "lease": item["lease"], "key": key, "verdict": verdict})
    if bodies:
        results = _sent(client, f"queues/{queue}/judgments/", bodies)["results"]
        refused = [result for result in results if result["status"] not in ("stored", "extra")]
        assert not refused, refused
    return len(bodies)


def _says(seed: int, name: str, accuracy: float, pair: Pair, relevant: bool) -> bool:
    """What somebody says of a pair, the same whenever they are asked."""
    if name == ALWAYS_NO:
        return False
    is_right = Random(f"{seed} {name} {pair}").random() < accuracy
    return relevant is is_right


def _released(admin: Any, slug: str) -> dict[Pair, bool]:
    _sent(admin, f"collections/{slug}/releases/", {"name": "end", "rule": "majority"})
    answer = admin.get(f"/api/collections/{slug}/qrels", {"release": "end", "format": "trec"})
    rows = [line.split() for line in b"".join(answer).decode().splitlines()]
    return {(query, document): int(relevance) > 0 for query, _, document, relevance in rows}


def _answers(evidence: dict[str, Any]) -> int:
    return sum(evidence["score"].values())


def _client(username: str) -> Any:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    # Whoever runs the site adds members without asking them.
    client.force_login(User.objects.get_or_create(username=username, defaults={"is_staff": True})[0])
    return client


def _got(client: Any, path: str) -> Any:
    answer = client.get(f"/api/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def _sent(client: Any, path: str, body: Any) -> Any:
    answer = client.post(f"/api/{path}", json.dumps(body), content_type="application/json")
    assert answer.status_code in (200, 201), (path, answer.content)
    return answer.json()


def _uploaded(client: Any, path: str, name: str, lines: Sequence[str]) -> None:
    file = io.BytesIO("\n".join([*lines, ""]).encode())
    file.name = name
    answer = client.post(f"/api/{path}", {"file": file})
    assert answer.status_code in (200, 201), (path, answer.content)


if __name__ == "__main__":
    main()
