from __future__ import annotations

from typing import Any, Final

from django.db import models
from django.utils.translation import gettext, gettext_noop

#: Pairs whose query and document are not deleted, of whatever refers to both.
THERE: Final[dict[str, Any]] = {"query__deleted_at": None, "document__deleted_at": None}
#: The pair of the query around.
SAME_PAIR: Final[dict[str, Any]] = {name: models.OuterRef(name) for name in ("query", "document")}


class Verdict(models.TextChoices):
    RELEVANT = "relevant"
    NOT_RELEVANT = "not_relevant", gettext_noop("not relevant")
    CANNOT_JUDGE = "cannot_judge", gettext_noop("can't judge")

    @property
    def in_words(self) -> str:
        return gettext(self.label.lower())


# Where verdicts are counted: one that settles the pair, and is no vote.
ADJUDICATED = "adjudicated"


class Reason(models.TextChoices):
    BROKEN = "broken", gettext_noop("The document is broken")
    LANGUAGE = "language", gettext_noop("I don't read this language")
    EXPERT = "expert", gettext_noop("It needs an expert")
    QUERY = "query", gettext_noop("The query is unclear")
    OTHER = "other", gettext_noop("Something else")


class PrelabelMode(models.TextChoices):
    """Whether annotators of a queue get to see what a model says of a pair, and when."""

    BLIND = "blind", "never"
    REVEAL = "reveal", "after the verdict, where the two differ"
    ASSIST = "assist", "before the verdict"


class PrelabelSeen(models.TextChoices):
    """Whether a pre-label of the pair had been handed out to the person who gave a verdict."""

    NEVER = "never"
    BEFORE = "before", "before the verdict"
    AFTER = "after", "after the verdict"


class Highlight(models.TextChoices):
    """What is highlighted in a document for an annotator."""

    SENTENCE = "sentence", "the query's words and the strongest sentence"
    TERMS = "terms", "the query's words"
    NONE = "none", "nothing, so that no word draws the eye"
