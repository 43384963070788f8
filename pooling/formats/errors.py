"""Errors of a file, in one sentence for the person who can mend it."""

from pathlib import Path


class FormatError(ValueError):
    """A file that cannot be read as asked.

    `path` is the name as the user knows it, `line` counts from 1 and is None when no line is at fault,
    `problem` says what is wrong and `remedy` what to do.

    >>> print(FormatError("bm25.run", 7, "the score 'nan' is not finite", "Remove the row."))
    bm25.run, line 7: the score 'nan' is not finite. Remove the row.
    """

    def __init__(self, path: Path | str, line: int | None, problem: str, remedy: str) -> None:
        self.path = str(path)
        self.line = line
        self.problem = problem
        self.remedy = remedy
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {problem}. {remedy}")

    def __reduce__(self) -> tuple[type["FormatError"], tuple[str, int | None, str, str]]:
        return type(self), (self.path, self.line, self.problem, self.remedy)


def excerpt(value: object, limit: int = 60) -> str:
    """A value from a file, quoted, on one line and not too long for a message."""
    text = str(value)
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
