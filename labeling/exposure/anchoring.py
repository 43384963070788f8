"""Effect of a seen pre-label on verdicts: pairs seen with it against a control arm left blind.

The control arm is drawn at random, so the two arms differ by chance and by what was seen, and by nothing
else. What is drawn are pairs, and several people may judge one: verdicts on the same pair count together. The
intervals speak of the people who judged; both arms have the same ones, and nothing is said of others. Pure:
arrays in, figures out; shares with Wilson's interval, differences with Newcombe's, 95 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from labeling.consensus.shares import Difference, Share, difference_of, share_of
from pooling.formats.wording import plural, signed
from pooling.heavy import ArrayLike, np

#: Below this many judgments in an arm nothing is said.
FEWEST_IN_ARM = 30


@dataclass(frozen=True)
class Arm:
    """Judgments of one arm: how many, and the shares that are relevant and that agree with the model."""

    labels: int
    relevant: Annotated[Share, Difference]
    agreeing: Annotated[Share, Difference]


@dataclass(frozen=True)
class Anchoring:
    """Seen before the verdict against blind, seen minus blind; `verdict` is a sentence, or None and `why`."""

    seen: Arm
    blind: Arm
    relevant: Difference
    agreeing: Difference
    verdict: str | None
    why: str


def anchoring(
    seen_relevant: ArrayLike,
    seen_verdict: ArrayLike,
    blind_relevant: ArrayLike,
    blind_verdict: ArrayLike,
    *,
    seen_pair: ArrayLike | None = None,
    blind_pair: ArrayLike | None = None,
) -> Anchoring:
    """From people's verdicts and the model's, of the pairs where the pre-label was seen before and of those
    where it was not. seen_pair, blind_pair: the number of each judgment's pair; absent, each has its own.

    >>> said = np.ones(100, dtype=bool)
    >>> found = anchoring(np.arange(100) < 72, said, np.arange(100) < 56, said)
    >>> print(found.verdict)
    Seen before, people agree with the model on 72 % of the pairs, blind on 56 %: 16 points more (3 to 29).
    """
    seen = _arm(seen_relevant, seen_verdict, seen_pair)
    blind = _arm(blind_relevant, blind_verdict, blind_pair)
    agreeing = difference_of(seen.agreeing, blind.agreeing)
    relevant = difference_of(seen.relevant, blind.relevant)
    verdict, why = _verdict(seen, blind, agreeing)
    return Anchoring(seen, blind, relevant, agreeing, verdict, why)


def _arm(relevant: ArrayLike, verdict: ArrayLike, pair: ArrayLike | None) -> Arm:
    people, model = np.asarray(relevant, dtype=np.bool_), np.asarray(verdict, dtype=np.bool_)
    if people.shape != model.shape:
        raise ValueError("Every judgment needs the model's verdict on its pair.")
    groups = None if pair is None else np.asarray(pair, dtype=np.int64)
    return Arm(len(people), share_of(people, groups=groups), share_of(people == model, groups=groups))


def _verdict(seen: Arm, blind: Arm, agreeing: Difference) -> tuple[str | None, str]:
    if min(seen.labels, blind.labels) < FEWEST_IN_ARM:
        word = plural(seen.labels, "judgment")
        return None, (
            f"{seen.labels} {word} with the pre-label seen and {blind.labels} blind so far; the "
            f"comparison needs {FEWEST_IN_ARM} of each."
        )
    shares = [(one.agreeing.value or 0.0) * 100 for one in (seen, blind)]
    points = (agreeing.value or 0.0) * 100
    low, high = sorted(((agreeing.low or 0.0) * 100, (agreeing.high or 0.0) * 100), key=abs)
    both = (
        f"Seen before, people agree with the model on {shares[0]:.0f} % of the pairs, "
        f"blind on {shares[1]:.0f} %"
    )
    if not agreeing.is_decided:
        ends = (agreeing.low or 0.0) * 100, (agreeing.high or 0.0) * 100
        return f"{both}: that can be chance ({signed(ends[0], 0)} to {signed(ends[1], 0)} points).", ""
    word = "more" if points > 0 else "fewer"
    return f"{both}: {abs(points):.0f} points {word} ({abs(low):.0f} to {abs(high):.0f}).", ""
