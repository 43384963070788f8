from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.exposure.use import PrelabelUse
from labeling.models import PrelabelJob, PrelabelMode
from pooling.formats.wording import counted

# Wide enough for the title of any figure.
TITLE = 28


def pass_line(job: PrelabelJob) -> str:
    command = f", asked to {job.asked}" if job.asked and job.is_active else ""
    return f"{job.pk}  {job.state}{command}  {pass_sentence(job)}"


def pass_sentence(job: PrelabelJob) -> str:
    cost = "no price is set" if job.input_price is None else f"{job.cost:,.4f} {job.currency}"
    if job.budget is not None:
        cost += f" of {job.budget:,.4f}"
    if job.uncertain_cost:
        cost += f", and at most {job.uncertain_cost:,.4f} for unanswered requests"
    counts = f"{job.answered_count:,} asked, {job.cached_count:,} known, {job.failed_count:,} failed"
    return (
        f"{job.prelabeler}: {counts}, of {counted(job.pair_count, 'pair')}; "
        f"{counted(job.request_count, 'request')}, "
        f"{counted(job.input_tokens, 'token')} read and {job.output_tokens:,} written; {cost}. {job.detail}"
    ).rstrip()


def use_sentence(use: PrelabelUse) -> str:
    sight = "people judge blind."
    if use.mode != PrelabelMode.BLIND:
        when = PrelabelMode(use.mode).label
        sight = f"people see pre-labels of {use.prelabeler} {when}; {use.blind_share * 100:g} % stay blind."
    if use.second_opinion_from is None:
        return f"{sight} No verdict asks for a second opinion."
    sure = f"of {use.prelabeler} that is at least {use.second_opinion_from:g} sure"
    return f"{sight} A verdict against a pre-label {sure} asks for one more judgment."


def worth_table(worth: Mapping[str, Any]) -> str:
    """One model and prompt, as `labeling.quality.worth_api.worth_and_samples` has it."""
    lines = [
        f"{worth['prelabeler']['name']}: {counted(worth['pairs'], 'pair')}, "
        f"{counted(worth['labels'], 'blind label')}",
        worth["verdict"] or (worth["why"] if worth["pairs"] else "It has no pre-labels yet."),
    ]
    if worth["best"]:
        lines.append(worth["best"]["sentence"])
    if worth["labels"]:
        lines += _figures(worth)
    cost = worth["cost"]
    if cost["per_pair"] is not None:
        lines.append(f"{'Cost of a pair':<{TITLE}}{cost['per_pair']:.6f} {cost['currency']}".rstrip())
    for sample in worth["samples"]:
        lines += [
            f"{sample['name']}: {sample[stratum]['sentence']}" for stratum in ("negatives", "positives")
        ]
    return "\n".join(lines)


def _figures(worth: Mapping[str, Any]) -> list[str]:
    cells = worth["confusion"]
    confusion = (
        f"relevant by both {cells['both']:,}, by the model alone {cells['model_only']:,}, by people alone "
        f"{cells['person_only']:,}, by neither {cells['neither']:,}"
    )
    shares = [f"{one['title']:<{TITLE}}{_percent(one)}" for one in worth["shares"]]
    return [confusion, *shares, *(f"{one['title']:<{TITLE}}{_number(one)}" for one in worth["numbers"])]


def _percent(one: Mapping[str, Any]) -> str:
    if one["value"] is None or one["why"]:
        return _without_interval(one, 100, ".1f", " %")
    value, low, high = (100 * one[name] for name in ("value", "low", "high"))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"


def _without_interval(one: Mapping[str, Any], times: int, form: str, unit: str = "") -> str:
    value = "–" if one["value"] is None else f"{times * one['value']:{form}}{unit}"
    return f"{value}  {one['why']}".rstrip()


def _number(one: Mapping[str, Any]) -> str:
    if one["value"] is None or one["why"]:
        return _without_interval(one, 1, ".2f")
    ends = ["∞" if one[name] is None else f"{one[name]:.2f}" for name in ("low", "high")]
    return f"{one['value']:.2f} [{', '.join(ends)}]"
