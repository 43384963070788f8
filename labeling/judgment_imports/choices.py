"""Choices for an import of judgments."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pooling.formats.judgments.records import USUAL_VALUES, Names, read_map
from pooling.formats.judgments.registry import JUDGMENT_FORMATS
from pooling.interface.problems import InputError

USUAL_WORDS = (
    "1, relevant, yes and true are relevant; 0, not relevant, irrelevant, no and false are not; "
    "“cannot judge” is can't judge."
)


@dataclass(frozen=True)
class ImportChoices:
    """Choices for reading a file of judgments.

    map: `VALUE=VERDICT` by commas or lines, instead of the usual values. accounts: people of the file who
    have the user name or email of an annotator or admin of the collection are that person. query_field,
    document_field, question: where the file has what, if not under a usual name.
    """

    format: str = "soundings"
    map: str = ""
    accounts: bool = False
    query_field: str = ""
    document_field: str = ""
    question: str = ""

    @property
    def names(self) -> Names:
        return Names(self.query_field, self.document_field, self.question)

    def values(self) -> dict[str, str]:
        """Meaning of each value; `InputError` for a map that cannot be read."""
        if self.format not in JUDGMENT_FORMATS:
            problem = f"There is no format “{self.format}”. Choose one of {', '.join(JUDGMENT_FORMATS)}."
            raise InputError(problem, field="format")
        pairs = [pair for pair in re.split(r"[,\n]", self.map) if pair.strip()]
        if pairs and not JUDGMENT_FORMATS[self.format].has_values:
            raise InputError("A file of Soundings has verdicts already; leave the map out.", field="map")
        try:
            own = read_map(pairs)
        except ValueError as error:
            raise InputError(f"The map cannot be read: {error}.", field="map") from None
        # What the tool itself calls unrateable stays so under any map.
        return {"cannot judge": "cannot_judge", **own} if own else dict(USUAL_VALUES)
