"""Arguments of commands that open or plan an adaptive queue."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection

from labeling.adaptive.options import AdaptiveOptions
from pooling.options import add_option_arguments, options_of


def add_adaptive_arguments(parser: ArgumentParser, *, but: Collection[str] = ()) -> None:
    """The options of `AdaptiveOptions`, save those in `but`."""
    group = parser.add_argument_group("an order that is adaptive")
    group.add_argument(
        "--adaptive", action="store_true", help="labels move the order, by the pool's strategy, which learns"
    )
    options = [one for one in options_of(AdaptiveOptions).values() if one.name not in but]
    add_option_arguments(group, options, filled=False, bounded=False)
