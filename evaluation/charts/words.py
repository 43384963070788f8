"""The tables of pictures in words: names of columns, and numbers as they are read. No Django here."""

from __future__ import annotations

from typing import Any

from evaluation.charts.kinds import ChartChoice
from pooling.formats.wording import signed
from pooling.heavy import pd

# Columns that hold names; all others hold numbers.
NAMES = ("run", "query_id", "least judged")
WORDS = {
    "query_id": "Query",
    "at_0": "At 0",
    "at_1": "At 1",
    "k": "K",
    "p50": "Median",
    "lower_bound": "Least",
    "upper_bound": "Most",
    "gain": "A minus B",
    "relevant": "Relevant (mean)",
    "facts": "Facts per 1,000 characters",
}
SHARES = ("at_0", "at_1", "wholly judged", "below 0.8", "judged there")


def columns_in_words(table: pd.DataFrame, choice: ChartChoice) -> list[tuple[str, bool]]:
    """Each column's title, and whether it holds names."""
    return [(_title(name, choice), name in NAMES) for name in table.columns]


def cells_in_words(table: pd.DataFrame) -> list[list[tuple[str, bool]]]:
    """Each cell as text, and whether it is a name."""
    names = list(table.columns)
    return [
        [(_cell(name, value), name in NAMES) for name, value in zip(names, row, strict=True)]
        for row in table.astype(object).itertuples(index=False, name=None)
    ]


def _title(name: str, choice: ChartChoice) -> str:
    if name in ("first", "second"):
        return f"{'A' if name == 'first' else 'B'}: {getattr(choice, name)}"
    return WORDS.get(name) or (
        f"{name[1:]} %" if name[0] == "p" and name[1:].isdigit() else name.capitalize()
    )


def _cell(name: str, value: Any) -> str:
    if value is None or value != value:
        return "–"
    if name in SHARES:
        return f"{100 * value:.1f} %"
    if name == "characters":
        return f"{value:,.0f}"
    if isinstance(value, float):
        return signed(value) if name == "gain" else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
