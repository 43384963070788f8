"""The conventions that can change a number: a frozen value, the presets, and the line next to a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evaluation.scoring.figures import PlainConventions
from pooling.formats.wording import plural
from pooling.options import Option, options_of, setting
from pooling.ranking.ranking import SCORES, TIES, Scores, Ties

ZeroRelevant = Literal["exclude", "zero"]
Missing = Literal["zero", "skip"]
Negative = Literal["pooled", "judged"]

_TIE_WORDS = {
    "docid": "score, then id ↓",
    "docid-asc": "score, then id ↑",
    "file": "score, then file order",
    "rank": "rank as written in the file",
}


@dataclass(frozen=True)
class Conventions:
    """Rules that turn runs and labels into one number; the defaults are Soundings' own.

    min_relevance: a label counts as relevant from this value on (1 or more). zero_relevant: a query with
    labels but none relevant is left out of the mean (`exclude`) or counts 0 (`zero`). missing: a query with
    labels that the run does not answer counts 0 (`zero`) or is left out (`skip`). ties: what orders documents
    of equal score; scores: the precision in which scores are compared. negative: a label below 0 is of a pair
    that was pooled and not judged (`pooled`), or `judged` and not relevant. drop_query_document: lists are
    without the document that has the id of their query.

    >>> Conventions.preset("trec_eval-9", missing="zero").scores
    'float32'
    """

    min_relevance: int = setting(
        1, "Relevant from label", "Lowest label that counts as relevant.", int, minimum=1
    )
    zero_relevant: ZeroRelevant = setting(
        "exclude",
        "Queries without a relevant label",
        "Recall is undefined for them. By default they are left out.",
        about="Queries without a relevant label.",
        choices={"exclude": "leave out of the mean, and list them", "zero": "count 0"},
    )
    missing: Missing = setting(
        "zero",
        "Queries missing from a run",
        "By default they count as 0, so that a run gains nothing by not answering.",
        about="Queries missing from a run.",
        choices={"zero": "count 0", "skip": "leave out of that run's mean"},
    )
    ties: Ties = setting("docid", "Order of equal scores", about="Order of equal scores.", choices=TIES)
    scores: Scores = setting("float64", "Precision of scores", about="Precision of scores.", choices=SCORES)
    negative: Negative = setting(
        "pooled",
        "Labels below 0",
        about="Labels below 0.",
        choices={"pooled": "pooled, not judged", "judged": "judged, not relevant"},
    )
    drop_query_document: bool = setting(
        False,
        "Leave out documents that are the query",
        "Where queries are documents of the corpus, as in ArguAna. BEIR leaves them out.",
        bool,
        about="Leave out of each list the document with the id of its query, as BEIR does.",
    )

    def __post_init__(self) -> None:
        level = self.min_relevance
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise ValueError(f"min_relevance is {level!r}; it must be a whole number of 1 or more.")
        for name, words in CHOICES.items():
            if getattr(self, name) not in words:
                raise ValueError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(words)}.")

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Conventions:
        """The conventions of another program by name (see PRESETS); `overrides` win over the preset."""
        if name not in PRESETS:
            raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
        return cls(**{**PRESETS[name], **overrides})

    def to_dict(self) -> PlainConventions:
        plain: PlainConventions = {
            "min_relevance": self.min_relevance,
            "zero_relevant": self.zero_relevant,
            "missing": self.missing,
            "ties": self.ties,
            "scores": self.scores,
        }
        if self.negative != "pooled":
            plain["negative"] = self.negative
        if self.drop_query_document:
            plain["drop_query_document"] = True
        return plain

    @property
    def order_in_words(self) -> str:
        return f"{'float32 ' if self.scores == 'float32' else ''}{_TIE_WORDS[self.ties]}"

    def line(
        self, *, scored: int, total: int, without_relevant: int, missing: int = 0, outside: int = 0
    ) -> str:
        """The conventions in words, with the number of queries behind a mean.

        scored: queries in the mean; total: queries with labels; without_relevant: those of them without a
        relevant label; missing: those the run does not answer; outside: further ones, of no draw and no mean.

        >>> Conventions().line(scored=48, total=50, without_relevant=2)
        '48 of 50 queries (2 without a relevant label) · missing = 0 · rel ≥ 1 · ties: score, then id ↓'
        """
        parts = [
            f"{scored} of {total} {plural(total, 'query')}" + self._aside(without_relevant, missing, outside),
            "missing = 0" if self.missing == "zero" else "missing = skipped",
            f"rel ≥ {self.min_relevance}",
            f"ties: {self.order_in_words}",
        ]
        if self.negative == "judged":
            parts.append("rel < 0 judged")
        if self.drop_query_document:
            parts.append("without the query's own document")
        return " · ".join(parts)

    def _aside(self, without_relevant: int, missing: int, outside: int) -> str:
        notes = []
        if without_relevant:
            counted = " count 0" if self.zero_relevant == "zero" else ""
            notes.append(f"{without_relevant} without a relevant label{counted}")
        if missing:
            notes.append(f"{missing} missing from the run")
        if outside:
            notes.append(f"{outside} outside the draw")
        return f" ({', '.join(notes)})" if notes else ""


CONVENTIONS = options_of(Conventions)
CHOICES: dict[str, tuple[str, ...]] = {
    one.name: tuple(one.choices) for one in CONVENTIONS.values() if isinstance(one.choices, Mapping)
}

PRESETS: dict[str, dict[str, Any]] = {
    # trec_eval 10: the queries that are both in the run and in the qrels; scores as double.
    "trec_eval": {"zero_relevant": "zero", "missing": "skip", "scores": "float64"},
    # trec_eval 10 -c: every query of the qrels.
    "trec_eval-c": {"zero_relevant": "zero", "missing": "zero", "scores": "float64"},
    # trec_eval 9 and its Python wrappers: scores as C float.
    "trec_eval-9": {"zero_relevant": "zero", "missing": "skip", "scores": "float32"},
    # NIST's measures over facts: the order of the file's ranks, the queries that a run answers.
    "ndeval": {"zero_relevant": "exclude", "missing": "skip", "ties": "rank"},
    # A query without vital facts counts 0.
    "nuggetizer": {"zero_relevant": "zero", "missing": "zero"},
}
PRESET_TITLES = {
    "trec_eval": "trec_eval 10",
    "trec_eval-c": "trec_eval 10 with -c",
    "trec_eval-9": "trec_eval 9 and its Python wrappers",
    "ndeval": "ndeval (facts)",
    "nuggetizer": "nuggetizer (facts)",
}
PRESET = Option(
    "Preset",
    "Program whose numbers to reproduce. Choices below override the preset.",
    about="Whose numbers to print.",
    empty="Soundings' own",
    choices=PRESET_TITLES,
    name="preset",
    default=None,
)
