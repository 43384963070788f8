"""Near-identical documents in an evaluation: each counts, or their group counts once.

- `documents`: each document counts, as without groups.
- `groups`: a group is one document, as relevant as its most relevant member. The first member in a list
  stands for it; those behind keep their places and count nothing.
- `deduplicated`: the same, and those behind leave the list, so that what follows moves up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from evaluation.scoring.conventions import Conventions
from evaluation.scoring.figures import DuplicatesHow
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.inputs.given import RunSource, Source
from pooling.inputs.reading import run_frame
from pooling.ranking.ranking import compared_scores, order_run
from pooling.texts.duplicate_groups import DuplicateGroups, groups_from

DOCUMENTS, GROUPS, DEDUPLICATED = "documents", "groups", "deduplicated"
COUNTS = {
    DOCUMENTS: "each document counts, duplicates too",
    GROUPS: "duplicates count once, as a group, in the same K places",
    DEDUPLICATED: "duplicates count once, as a group, and later ones leave the list",
}
_PAIR = ["query_id", "document_id"]
#: Measures that tell documents judged as not relevant from those without a label.
OF_JUDGED = ("bpref", "infap")


@dataclass(frozen=True)
class CountedGroups:
    """What counts where documents are near-identical. met, unlisted: of the runs and labels read so far, the
    grouped documents, and those in no group whose id is the name of one."""

    groups: DuplicateGroups
    count: str
    met: set[str] = field(default_factory=set, compare=False)
    unlisted: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def of(cls, duplicates: Source | None, count: str | None) -> CountedGroups | None:
        """None without duplicates; ValueError for a count that is none, or that has none to count."""
        if count is not None and count not in COUNTS:
            raise ValueError(f"There is no count {count!r}; choose one of {', '.join(COUNTS)}.")
        if duplicates is None:
            if count is not None:
                raise ValueError(f"What to count ({count}) belongs to duplicates; name their file as well.")
            return None
        return cls(groups_from(duplicates), count or GROUPS)

    @property
    def is_by_group(self) -> bool:
        return self.count != DOCUMENTS

    def refuse(self, pool: Source | None, measures: Iterable[str]) -> None:
        """ValueError for a pool, whose audit drew documents and not groups, and for measures that look at
        which documents are judged as not relevant, as repeats of a group are."""
        for measure in measures:
            if self.count == GROUPS and measure.strip().lower() in OF_JUDGED:
                raise ValueError(
                    f"{measure} looks at documents judged as not relevant, as which repeats of a group count "
                    f"here. Leave it out, or count “{DEDUPLICATED}”."
                )
        if pool is not None:
            raise ValueError(
                f"A pool is of documents, and the count “{self.count}” is of groups. Leave the pool out, or "
                "count documents."
            )

    def to_dict(self) -> DuplicatesHow:
        name = self.groups.name
        return {
            "count": self.count,
            "file": name,
            "groups": self.groups.count,
            "documents": self.groups.frame.height,
            "words": f"{COUNTS[self.count]} ({name})",
        }

    @cached_property
    def members(self) -> pl.DataFrame:
        """document_id, and the `head` of its group, an id of a member: the group's own where it is one, else
        the first bytewise. nth: 0 for the head, then the others bytewise."""
        frame = self.groups.frame.sort("document_id")
        is_head = (pl.col("document_id") == pl.col("group_id")).cast(pl.Int8)
        ordered = frame.with_columns(is_head=is_head).sort("is_head", descending=True, maintain_order=True)
        return ordered.select(
            "document_id",
            pl.col("document_id").first().over("group_id").alias("head"),
            (pl.col("document_id").cum_count().over("group_id").cast(pl.Int64) - 1).alias("nth"),
        )

    @cached_property
    def later(self) -> pl.Series | None:
        """Ids of places that add nothing, whatever their label: of groups named before in the same list."""
        if self.count != GROUPS:
            return None
        return self.members.filter(pl.col("nth") > 0)["document_id"]

    def runs(
        self, sources: Mapping[str, RunSource], conventions: Conventions, notes: list[str], deepest: int
    ) -> dict[str, RunSource]:
        """Runs of groups, made when their turn comes; `notes` is added to then. deepest: the largest K."""
        return {
            name: GroupedRun(name, one, self, conventions, notes, deepest) for name, one in sources.items()
        }

    def labels(self, labels: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
        """Labels of groups: the highest of a group's members, at its head.

        With `groups` the other members of a judged group are judged as not relevant, for the places that they
        keep: they are nothing new there.
        """
        joined = self.with_heads(labels)
        notes.extend(_notes_on_labels(joined))
        of_groups = joined.group_by("query_id", "head", maintain_order=True).agg(pl.col("relevance").max())
        heads = of_groups.select("query_id", pl.col("head").alias("document_id"), "relevance")
        if self.count != GROUPS:
            return heads
        others = self.members.filter(pl.col("nth") > 0).select("document_id", "head")
        judged = of_groups.filter(pl.col("relevance") >= 0).select("query_id", "head")
        zero = pl.lit(0, dtype=labels.schema["relevance"]).alias("relevance")
        return pl.concat([heads, judged.join(others, on="head").select(*_PAIR, zero)]).sort(_PAIR)

    def run(self, ordered: pl.DataFrame, scores: str, *, by_rank: bool) -> pl.DataFrame:
        """A run of groups: query_id, document_id, score and rank, of one that is in its order.

        Scores are the places, so that later readers keep the order; what was tied still is, save where the
        members of one group are, whose order says nothing.
        """
        joined = self.with_heads(ordered)
        place, group = pl.col("position").cast(pl.Int64), ["query_id", "head"]
        score = compared_scores(joined, scores)
        joined = joined.with_columns(
            pl.int_range(pl.len()).over(group).alias("nth"),
            (place if by_rank else place.min().over("query_id", score)).alias("tie"),
        )
        if self.count == DEDUPLICATED:
            joined = joined.filter(pl.col("nth") == 0)
        else:
            repeats = pl.struct(*group, "tie").is_duplicated().any().over("query_id", "tie")
            joined = joined.with_columns(pl.when(repeats).then(place).otherwise("tie").alias("tie"))
            # The second place of a group has the id of its second member, whichever documents these are.
            others = self.members.select("head", "nth", pl.col("document_id").alias("other"))
            joined = joined.join(others, on=["head", "nth"], how="left", maintain_order="left")
        taken = pl.col("head") if self.count == DEDUPLICATED else pl.coalesce("other", "head")
        return joined.select(
            "query_id",
            taken.alias("document_id"),
            (-pl.col("tie")).cast(pl.Float64).alias("score"),
            pl.int_range(1, pl.len() + 1).over("query_id").alias("rank"),
        )

    def with_heads(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with the `head` of each document's group; its own id where it is in none."""
        heads = self.members.select("document_id", "head")
        joined = frame.join(heads, on="document_id", how="left", maintain_order="left")
        is_member, ids = joined["head"].is_not_null(), joined["document_id"]
        self.met.update(ids.filter(is_member))
        self.unlisted.update(ids.filter(~is_member & ids.is_in(self.groups.frame["group_id"].implode())))
        return joined.with_columns(pl.coalesce("head", "document_id").alias("head"))

    def notes(self) -> list[str]:
        """Sentences on grouped documents that are in no run and have no label, and on documents whose id is
        the name of a group that they are not in; to be asked for when all is read."""
        ids, name = self.groups.frame["document_id"], self.groups.name
        if not self.groups.count:
            return [f"{name} has no group: each document counts."]
        absent = ids.filter(~ids.is_in(sorted(self.met)))
        notes = []
        if len(absent):
            are, have = plural(len(absent), "is", "are"), plural(len(absent), "has", "have")
            notes.append(
                f"{name}: {len(absent):,} of {counted(len(ids), 'document')} {are} in no run and {have} no "
                f"label, such as “{absent[0]}”."
            )
        if self.unlisted:
            many = len(self.unlisted)
            ids_are, they_count = plural(many, "id is", "ids are"), plural(many, "it counts", "they count")
            notes.append(
                f"{name} lists {counted(many, 'document')} in no group whose {ids_are} the name of one, such "
                f"as “{min(self.unlisted)}”: {they_count} alone. Add a line for each member."
            )
        return notes


def order_of_sources(conventions: Conventions, duplicates: DuplicatesHow | None) -> Conventions:
    """Conventions by which the sources of an evaluation are put in order: a run of groups is in its order."""
    if duplicates is None or duplicates["count"] == DOCUMENTS:
        return conventions
    return replace(conventions, ties="file", scores="float64")


@dataclass(frozen=True)
class GroupedRun:
    """A run of documents, read as one of groups when its turn comes; `notes` hears what became of them."""

    name: str
    source: RunSource
    groups: CountedGroups
    conventions: Conventions
    notes: list[str]
    deepest: int

    def __call__(self) -> pl.DataFrame:
        """query_id, document_id, score, rank."""
        ties, scores = self.conventions.ties, self.conventions.scores
        frame = run_frame(self.name, self.source, self.notes, with_rank=ties == "rank")
        ordered = order_run(frame, ties=ties, scores=scores)
        made = self.groups.run(ordered, scores, by_rank=ties == "rank")
        self.notes.extend(note for note in self._notes(ordered, made) if note not in self.notes)
        return made

    def _notes(self, before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
        heads = self.groups.with_heads(before.select(_PAIR))
        later = heads.height - heads.select("query_id", "head").n_unique()
        if not later:
            return []
        became = "left the list" if self.groups.count == DEDUPLICATED else "count nothing in their places"
        notes = [f"Run {self.name}: {counted(later, 'document')} behind another of the same group {became}."]
        deepest, (old, new) = self.deepest, (one.group_by("query_id").len() for one in (before, after))
        lengths = old.join(new, on="query_id")
        short = lengths.filter((pl.col("len") >= deepest) & (pl.col("len_right") < deepest)).height
        if short:
            notes.append(
                f"Run {self.name}: without them {counted(short, 'query')} of {lengths.height:,} "
                f"{plural(short, 'has', 'have')} fewer than {deepest:,} documents, though "
                f"{plural(short, 'its list', 'their lists')} had as many. Retrieve more to measure at "
                f"{deepest:,}."
            )
        return notes


def _notes_on_labels(labels: pl.DataFrame) -> list[str]:
    """A sentence on groups whose labels of one query differ. labels: with the `head` of each document."""
    judged = labels.filter(pl.col("relevance") >= 0)
    several = judged.filter(pl.struct("query_id", "head").is_duplicated())
    of_groups = (
        several.sort(*_PAIR)
        .group_by("query_id", "head", maintain_order=True)
        .agg(
            pl.col("relevance").min().alias("least"),
            pl.col("relevance").max().alias("most"),
            pl.col("document_id").sort_by("relevance", maintain_order=True).alias("members"),
        )
    )
    differing = of_groups.filter(pl.col("least") < pl.col("most"))
    if not differing.height:
        return []
    query, _, least, most, members = differing.row(0)
    return [
        f"Of {counted(of_groups.height, 'group')} with several labels of one query, {differing.height:,} "
        f"{plural(differing.height, 'has', 'have')} different ones, and the highest counts: for query "
        f"“{query}”, “{members[0]}” is {least} and “{members[-1]}” is {most}."
    ]
