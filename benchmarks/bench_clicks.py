"""How often click intervals hold the truth behind the clicks, where one order of a query has few swaps.

The promise is 95 %, or no score. All pairs of a log err together, so a log is the unit: the error is given
over logs.
"""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

import numpy as np

from pooling.interleaving.click_scores import click_scores
from pooling.interleaving.impressions import Impressions

MAKE = runpy.run_path(str(Path(__file__).resolve().parent.parent / "examples" / "make_clicks.py"))
SEARCHES = 2_000


def of_one_log(swaps: float, places: int, seed: int) -> tuple[int, int, int]:
    """Intervals that hold, intervals, and pairs without a score of one log."""
    attract = MAKE["attractions"](1, places, seed)
    query, person, shown, clicked = MAKE["searches"](attract, SEARCHES, swaps=swaps, seed=seed)
    person = np.repeat(person, places)
    position = np.tile(np.arange(1, places + 1), len(query))
    pairs = [("bus", str(number)) for number in range(places)]
    log = Impressions(pairs, shown.ravel(), position, person, person, clicked.ravel())
    scores = click_scores(log, "pbm", seed=seed)
    told = [one for one in scores if one.low is not None and one.high is not None]
    held = sum(one.low <= attract[0, int(one.document)] <= one.high for one in told)
    return held, len(told), len(scores) - len(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=60)
    logs = parser.parse_args().logs
    print("places  swaps  intervals that hold  without a score")
    for places in (5, 10):
        for swaps in (0.2, 0.1, 0.03):
            held, told, without = np.array([of_one_log(swaps, places, seed) for seed in range(logs)]).T
            scored = told > 0
            shares = held[scored] / told[scored]
            error = shares.std(ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else float("nan")
            share = held.sum() / told.sum() if told.sum() else float("nan")
            without_share = without.sum() / (logs * places)
            print(f"{places:6}  {swaps:5.2f}  {share:.3f} ± {error:.3f}       {without_share:.0%}")


if __name__ == "__main__":
    main()
