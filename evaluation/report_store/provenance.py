"""Sources of an evaluation's numbers, and the command that makes them again. No Django here."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import NotRequired, TypedDict

from evaluation.measures.intervals import IntervalSettings
from evaluation.scoring.config import Settings
from evaluation.scoring.wording import interval_in_words

# By package the distribution that installs it.
PACKAGES = {"soundings": "soundings-ir", "polars": "polars", "numpy": "numpy"}


def software_versions() -> dict[str, str]:
    """By package, this one first; `checkout` where it is not installed."""
    return {package: _version(distribution) for package, distribution in PACKAGES.items()}


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "checkout"


#: Characters of the metadata of a run in a line.
LONGEST_METADATA = 300


class NamedFile(TypedDict):
    name: str
    sha256: str


class RunFile(NamedFile):
    ir_metadata: NotRequired[Mapping[str, object]]


class ProvenanceResult(TypedDict):
    """A `Provenance` in JSON."""

    labels: NamedFile
    runs: list[RunFile]
    software: dict[str, str]
    samples: int
    seed: int
    pool: str
    command: str
    made: str


@dataclass(frozen=True)
class Provenance:
    """Sources of an evaluation.

    labels, runs: (name, SHA-256) of what was read, the checksum of a run's file as it was imported; empty for
    what was in memory. software: package -> version. pool: what the bounds rest on,
    in words. command: a shell line that prints the same figures from those files. made: when and by whom, in
    words. metadata: the ir_metadata of runs that have some, by name.
    """

    labels: tuple[str, str]
    runs: Sequence[tuple[str, str]]
    software: Mapping[str, str]
    interval: IntervalSettings
    pool: str
    command: str
    made: str = ""
    metadata: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def to_dict(self) -> ProvenanceResult:
        return {
            "labels": {"name": self.labels[0], "sha256": self.labels[1]},
            "runs": [self._run(name, sha256) for name, sha256 in self.runs],
            "software": dict(self.software),
            "samples": self.interval["samples"],
            "seed": self.interval["seed"],
            "pool": self.pool,
            "command": self.command,
            "made": self.made,
        }

    def _run(self, name: str, sha256: str) -> RunFile:
        file: RunFile = {"name": name, "sha256": sha256}
        return {**file, "ir_metadata": self.metadata[name]} if name in self.metadata else file

    def facts(self) -> list[tuple[str, str]]:
        software = ", ".join(f"{name} {version}" for name, version in self.software.items())
        return [
            *([("Made", self.made)] if self.made else []),
            ("Software", software),
            ("Interval", interval_in_words(self.interval)),
            ("Bounds", f"pool: {self.pool}"),
            (f"Labels {self.labels[0]}", _checksum(self.labels[1])),
            *((f"Run {name}", _checksum(sha256)) for name, sha256 in self.runs),
            *((f"Run {name}, ir_metadata", in_short(values)) for name, values in self.metadata.items()),
        ]

    def lines(self) -> list[str]:
        """Sentences, the command last."""
        facts = [f"{name}: {words}" for name, words in self.facts()]
        return [*facts, f"Make again: {self.command}"]


def _checksum(sha256: str) -> str:
    return f"SHA-256 {sha256}" if sha256 else "given in memory"


def in_short(values: Mapping[str, object]) -> str:
    """Metadata in one line; all of them are in the JSON.

    >>> in_short({"actor": {"team": "ours"}})
    '{"actor": {"team": "ours"}}'
    """
    text = json.dumps(values, ensure_ascii=False)
    return text if len(text) <= LONGEST_METADATA else text[: LONGEST_METADATA - 1] + "…"


def command_of(
    settings: Settings, qrels: str, runs: Sequence[str], *, complete: bool = False, weights: str = "none"
) -> str:
    """The shell line of `soundings evaluate` with every setting spelled out; without tags and the pool, which
    are no part of the files. complete: the labels were declared so. weights: where not `none`, of a file of
    the drawn queries.

    >>> from evaluation.scoring.config import Settings
    >>> command_of(Settings(k=(5, 10), seed=1, conventions={"ties": "file"}), "qrels.txt", ["a b.run"])
    "soundings evaluate qrels.txt 'a b.run' --k 5 10 --ties file --seed 1"
    """
    options: list[tuple[str, Sequence[object]]] = [
        ("k", settings.k or ()),
        ("measure", settings.measures or ()),
        *((name, (value,)) for name, value in settings.conventions.items()),
        *(
            (name, () if value is None else (value,))
            for name, value in (
                ("confidence", settings.confidence),
                ("samples", settings.samples),
                ("seed", settings.seed),
                ("minimum_queries", settings.minimum_queries),
                ("margin", settings.margin),
            )
        ),
    ]
    words = ["soundings", "evaluate", qrels, *runs]
    if weights != "none":
        words += ["--queries", "queries.jsonl", "--weights", weights]
    for name, values in options:
        if values:
            words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return shlex.join([*words, "--complete"] if complete else words)
