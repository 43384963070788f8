"""Numbers as files write them, and the one rule each of them follows."""

import math
import re

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
INT32 = 2**31


class BadValueError(ValueError):
    """A value that is not what its column needs; `args` are the problem and the remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy


def parse_score(text: str) -> float:
    """A finite decimal number; `nan`, infinities and numbers beyond float64 are refused."""
    try:
        # Python would also take 1_000 and the digits of other scripts.
        if "_" in text or not text.isascii():
            raise ValueError
        score = float(text)
    except ValueError:
        remedy = "Write a point, not a comma." if text.count(",") == 1 else "Write a decimal number."
        raise BadValueError(f"the score {text[:40]!r} is not a number", remedy) from None
    if not math.isfinite(score):
        problem = f"the score {text[:40]!r} is not a finite number"
        raise BadValueError(problem, "Remove the row or fix the program that wrote it.")
    return score


def parse_relevance(text: str) -> int:
    """A whole number; `1.0` counts as 1, `0.5` is refused, negative means pooled but not judged."""
    if not NUMBER.fullmatch(text):
        raise BadValueError(f"the relevance {text[:40]!r} is not a number", "Write a whole number.")
    value = float(text)
    if not value.is_integer():
        problem = f"the relevance {text[:40]!r} is not a whole number"
        raise BadValueError(problem, "Use 0, 1 or a grade.")
    if abs(value) >= INT32:
        raise BadValueError(f"the relevance {text[:40]!r} is out of range", "Use small whole numbers.")
    return int(value)


def parse_rank(text: str) -> int:
    """A whole number; needed only where the rank decides the order."""
    if not WHOLE.fullmatch(text) or abs(int(text)) >= 2**62:
        raise BadValueError(f"the rank {text[:40]!r} is not a whole number", "Write 1, 2, 3 and so on.")
    return int(text)
