"""Output of the command `draw_audit`: the plan of an audit by scores as lines for a terminal."""

from __future__ import annotations

from labeling.progress.tables import columns
from labeling.worth.audits import AuditFacts, AuditProvenance
from labeling.worth.strata import StratumFacts
from pooling.formats.wording import counted


def audit_table(plan: AuditFacts | AuditProvenance) -> str:
    head = ("score", "pairs", "relevant, supposed", "from", "drawn")
    rows = [
        (one["name"], f"{one['pairs']:,}", f"{one['rate']:.1%}", rate_source(one), f"{one['drawn']:,}")
        for one in plan["strata"]
    ]
    without = f"{counted(plan['population'], 'pair')} without a label, {plan['certain']:,} with one."
    return "\n".join([*columns([head, *rows]), without, plan["sentence"]])


def rate_source(stratum: StratumFacts) -> str:
    if stratum["rests_on"] == "labels":
        return f"{counted(stratum['labels'], 'blind label')}"
    return "mean score" if stratum["rests_on"] == "scores" else stratum["rests_on"]
