"""What commands that open or plan an adaptive queue ask for alike."""

from __future__ import annotations

from argparse import ArgumentParser


def add_live_arguments(parser: ArgumentParser) -> None:
    """The options of `labeling.adaptive.options` besides the budget, which a plan shares with its pool."""
    parser.add_argument(
        "--adaptive", action="store_true", help="labels move the order, by the pool's strategy, which learns"
    )
    parser.add_argument(
        "--budget-rule", metavar="HOW", help="adaptive: equal, share or greedy (default: equal)"
    )
    parser.add_argument(
        "--budget-floor", type=int, metavar="N", help="adaptive: pairs for each query at least"
    )
    parser.add_argument(
        "--stop-missing", type=float, metavar="F", help="adaptive: stop when at most this share is missing"
    )
    parser.add_argument(
        "--stop-looks", type=int, metavar="M", help="adaptive: looks at the audit (default: 4)"
    )
    parser.add_argument("--stop-over", metavar="WHAT", help="adaptive: query or queue (default: query)")
