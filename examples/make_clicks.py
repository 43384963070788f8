"""Make a log of searches and clicks in the form of User Behavior Insights, by users of a known kind.

`python examples/make_clicks.py LOG.ndjson` writes one; `soundings score_clicks` and `read_log` read it. What
the users find attractive is known here, so scores can be compared with it. The same seed gives the same file.
"""

import argparse
import json
from pathlib import Path

import numpy as np

LOOKED_AT = 1 / np.arange(1, 11) ** 0.7  # by place; of position-based users
SATISFIED, PATIENCE = 0.6, 0.9  # of DBN users: a click ends the search, and they go on after a document
QUERIES = ("night bus", "lost property", "student ticket", "opening hours")


def attractions(queries: int, places: int, seed: int) -> np.ndarray:
    """(queries, documents) the share of those who look at a document who click on it. Good ones come first,
    roughly."""
    chance = np.random.default_rng(seed)
    return np.sort(chance.uniform(0.1, 0.8, (queries, places)))[:, ::-1] * chance.uniform(
        0.5, 1, (queries, places)
    )


def searches(
    attract: np.ndarray, count: int, *, swaps: float, users: str = "position", people: int = 0, seed: int = 0
):
    """(count,) query and person; (count, places) documents in the order shown, and whether each was clicked.

    swaps: of this share of the searches two neighbours change places. users: `position`, `cascade` (one click
    ends the search) or `dbn`. people: so many come back again and again; 0: everybody comes once.
    """
    chance = np.random.default_rng(seed)
    queries, places = attract.shape
    query = chance.integers(queries, size=count)
    person = chance.integers(people, size=count) if people else np.arange(count)
    shown = np.tile(np.arange(places), (count, 1))
    swapped = np.flatnonzero(chance.random(count) < swaps)
    upper = chance.integers(places - 1, size=len(swapped))
    shown[swapped, upper], shown[swapped, upper + 1] = upper + 1, upper
    clicked = chance.random(shown.shape) < attract[query[:, None], shown]
    if users == "position":
        return query, person, shown, clicked & (chance.random(shown.shape) < LOOKED_AT[:places])
    stops = clicked & (chance.random(shown.shape) < (1 if users == "cascade" else SATISFIED))
    if users == "dbn":
        stops |= chance.random(shown.shape) > PATIENCE
    before = np.cumsum(stops, axis=1) - stops
    return query, person, shown, clicked & (before == 0)


def rows(query, person, shown, clicked):
    """The events of searches, as UBI has them."""
    for number, documents in enumerate(shown):
        name = QUERIES[query[number] % len(QUERIES)]
        base = {
            "query_id": f"s{number}",
            "client_id": f"c{person[number]}",
            "timestamp": 1_793_000_000 + 60 * number,
        }
        yield base | {"user_query": name, "query_response_hit_ids": [f"{name}-{one}" for one in documents]}
        for place, document in enumerate(documents, start=1):
            at = {"object": {"object_id": f"{name}-{document}"}, "position": {"ordinal": place}}
            for action in ("impression", "click")[: 1 + bool(clicked[number, place - 1])]:
                yield base | {"action_name": action, "event_attributes": at}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--searches", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    log = searches(
        attractions(4, 10, options.seed), options.searches, swaps=0.2, people=500, seed=options.seed
    )
    options.log.write_text("".join(json.dumps(row) + "\n" for row in rows(*log)))
