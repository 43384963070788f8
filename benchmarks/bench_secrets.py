"""Can an annotator tell which items are hidden checks, or what a model thinks of their verdicts?

    [DATABASE_URL=postgres://USER@HOST:PORT/DATABASE] python -m benchmarks.bench_secrets [--campaigns 20]

Each campaign is one of three kinds of queue in turn: one judgment a pair, two, and adaptive. In each, an
annotator judges 100 items and reads before and after every verdict all that annotators can read; a decision
tree then looks for what tells hidden items apart (`benchmarks/secrets_attack.py`). Prints the tree's balanced
accuracy, cross-validated, for each campaign: 0.5 is chance. Held to are less than 0.55 on average and never
above 0.70; the exit code is 1 where it is not so. Then lines say what claims took by the clock at the
median, by what they handed out.

`--deals` campaigns more, over the same kinds and one whose gold questions cover half of the queries, look for
hidden items by claims alone, before any verdict: in changing sizes, returned, expired, skipped, taken back
(`benchmarks/deal_attack.py`). Printed are the tree's balanced accuracy and that of naming whatever moved
among its neighbours, and held to the same bounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections import defaultdict

from benchmarks.judging_site import temporary_site

ON_AVERAGE, AT_MOST = 0.55, 0.70


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--deals", type=int, default=12)
    options = parser.parse_args()
    found: defaultdict[str, list[float]] = defaultdict(list)
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    with temporary_site(os.environ.get("DATABASE_URL")):
        from django.conf import settings

        from benchmarks.deal_attack import DEAL_SETTINGS, attack
        from benchmarks.secrets_attack import SETTINGS, run_campaign, told_apart

        settings.ALLOWED_HOSTS = ["testserver"]
        for number in range(options.campaigns):
            seed = options.first_seed + number
            setting = SETTINGS[number % len(SETTINGS)]
            campaign = run_campaign(seed, options.items, setting, clock=True)
            scores = told_apart(campaign, seed)
            for name, score in scores.items():
                found[name].append(score)
            for kind, taken in zip(campaign.hidden, campaign.seconds, strict=True):
                seconds[kind or "ordinary"].append(taken)
            kinds = ", ".join(f"{campaign.hidden.count(kind)} {kind}" for kind in ("gold", "repeat"))
            told = "  ".join(f"{name} {score:.2f}" for name, score in scores.items())
            print(f"{seed:3}  {setting.name:12}  {kinds:20}  {told}", flush=True)
        for number in range(options.deals):
            seed, setting = options.first_seed + number, DEAL_SETTINGS[number % len(DEAL_SETTINGS)]
            looks = attack(seed, options.items, setting)
            found["claims, tree"].append(looks.told)
            found["claims, moved"].append(looks.by_moving)
            moved = (
                f"{looks.moved_hidden} of {looks.hidden} hidden and {looks.moved_others} of {looks.others}"
            )
            print(f"{seed:3}  {setting.name:12}  claims: tree {looks.told:.2f}, chance 0.50;", end=" ")
            print(f"moved {moved} others, {looks.by_moving:.2f}", flush=True)
    for name, scores in found.items():
        print(f"{name}: {statistics.mean(scores):.3f} on average, {max(scores):.2f} at most")
    for kind, taken in sorted(seconds.items()):
        middle = 1000 * statistics.median(taken)
        print(f"a claim of {kind}: {middle:.1f} ms at the median of {len(taken)}")
    held = all(statistics.mean(row) < ON_AVERAGE and max(row) <= AT_MOST for row in found.values())
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
