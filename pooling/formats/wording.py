"""Numbers with their nouns, and words in a row, in sentences for people."""

from collections.abc import Sequence


def plural(count: float, one: str, many: str = "") -> str:
    """The word that goes with a number: `many`, or a regular plural, unless the number is 1.

    >>> plural(1, "query"), plural(2, "query"), plural(2, "is", "are")
    ('query', 'queries', 'are')
    """
    if count == 1:
        return one
    return many or (one[:-1] + "ies" if one.endswith("y") else one + "s")


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(1200, "run"), counted(0, "stratum", "strata")
    ('1 run', '1,200 runs', '0 strata')
    """
    return f"{count:,} {plural(count, one, many)}"


def signed(number: float | None, digits: int = 3) -> str:
    """Decimals with their sign, or a dash.

    >>> signed(0.25), signed(-0.25, 1), signed(-0.0001)
    ('+0.250', '−0.2', '+0.000')
    """
    # Adding 0 turns the -0.0 of a rounded sum into 0.0.
    return "–" if number is None else f"{round(number, digits) + 0.0:+.{digits}f}".replace("-", "−")


def in_a_row(words: Sequence[str]) -> str:
    """One word or more, as a sentence lists them.

    >>> in_a_row(["ties"]), in_a_row(["ties", "gaps", "blanks"])
    ('ties', 'ties, gaps and blanks')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def aligned(rows: Sequence[Sequence[str]], *, numbers: bool = False) -> list[str]:
    """Cells under each other, two spaces apart; numbers: all but the first column stand to the right.

    >>> aligned([["run", "pairs"], ["bm25", "7"]], numbers=True)
    ['run   pairs', 'bm25      7']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.ljust, *[str.rjust if numbers else str.ljust] * (len(widths) - 1)]
    return [
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in rows
    ]
