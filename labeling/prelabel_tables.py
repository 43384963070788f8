"""What the command `prelabel_quality` prints: a model's figures as lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def worth_table(found: Mapping[str, Any]) -> str:
    """One model and prompt, as `labeling.prelabeler_api.told` has it."""
    cells = found["confusion"]
    lines = [
        f"{found['prelabeler']['name']}: {found['pairs']:,} pairs, {found['labels']:,} blind labels",
        found["verdict"] or found["why"],
        f"relevant by both {cells['both']:,}, by the model alone {cells['model_only']:,}, by people alone "
        f"{cells['person_only']:,}, by neither {cells['neither']:,}",
    ]
    lines += [f"{one['title']:<20}{_percent(one)}" for one in found["shares"]]
    lines += [f"{one['title']:<20}{_number(one)}" for one in found["numbers"]]
    cost = found["cost"]
    if cost["per_pair"] is not None:
        lines.append(f"{'Cost of a pair':<20}{cost['per_pair']:.6f} {cost['currency']}".rstrip())
    if cost["per_label_saved"] is not None:
        lines.append(
            f"{'Cost of a judgment saved':<26}{cost['per_label_saved']:.6f} {cost['currency']}".rstrip()
            + f", {cost['labels_saved']:,.0f} of {cost['judgments']:,}"
        )
    for sample in found["samples"]:
        lines += [
            f"{sample['name']}: {sample[stratum]['sentence']}" for stratum in ("negatives", "positives")
        ]
    return "\n".join(lines)


def _percent(one: Mapping[str, Any]) -> str:
    if one["value"] is None:
        return "–"
    value, low, high = (100 * one[name] for name in ("value", "low", "high"))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"


def _number(one: Mapping[str, Any]) -> str:
    if one["value"] is None:
        return f"–  {one['why']}".rstrip()
    ends = ["∞" if one[name] is None else f"{one[name]:.2f}" for name in ("low", "high")]
    return f"{one['value']:.2f} [{', '.join(ends)}]"
