"""Models of stage 2. A judgment belongs to (query, document), never to a queue position."""

from labeling.models.facts import (
    Fact,
    FactItem,
    FactLease,
    FactVersion,
    GoldSupport,
    ImportedSupport,
    Support,
    SupportEvent,
    SupportVerdict,
)
from labeling.models.gold import DeclinedSuggestion, GoldQuestion, Quarantine
from labeling.models.imports import ImportedAnnotator, JudgmentImport
from labeling.models.judgments import Judgment, JudgmentEvent, PairMessage
from labeling.models.labels import ImportedLabel, LabelFile, QrelsRelease, WithdrawnLabel
from labeling.models.prelabels import (
    ModelServerKey,
    Prelabel,
    Prelabeler,
    PrelabelFailure,
    PrelabelJob,
    PrelabelSight,
    latest_scores,
    scores_of_query,
)
from labeling.models.queues import (
    Bookmark,
    Dealt,
    Item,
    ItemCount,
    Lease,
    LeftTold,
    Queue,
    draw_seed,
    public_title,
)
from labeling.models.selection import QueryPlan, Selection
from labeling.models.words import ADJUDICATED, Highlight, PrelabelMode, PrelabelSeen, Reason, Verdict

__all__ = [
    "ADJUDICATED",
    "Bookmark",
    "Dealt",
    "DeclinedSuggestion",
    "Fact",
    "FactItem",
    "FactLease",
    "FactVersion",
    "GoldQuestion",
    "GoldSupport",
    "Highlight",
    "ImportedAnnotator",
    "ImportedLabel",
    "ImportedSupport",
    "Item",
    "ItemCount",
    "Judgment",
    "JudgmentEvent",
    "JudgmentImport",
    "LabelFile",
    "Lease",
    "LeftTold",
    "ModelServerKey",
    "PairMessage",
    "Prelabel",
    "PrelabelFailure",
    "PrelabelJob",
    "PrelabelMode",
    "PrelabelSeen",
    "PrelabelSight",
    "Prelabeler",
    "QrelsRelease",
    "Quarantine",
    "QueryPlan",
    "Queue",
    "Reason",
    "Selection",
    "Support",
    "SupportEvent",
    "SupportVerdict",
    "Verdict",
    "WithdrawnLabel",
    "draw_seed",
    "latest_scores",
    "public_title",
    "scores_of_query",
]
