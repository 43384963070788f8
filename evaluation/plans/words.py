from __future__ import annotations

from math import ceil

from evaluation.plans.results import (
    Bases,
    ExpectedHeadline,
    ExpectedInterval,
    HeadlineWidth,
    Pilot,
    PlannedLook,
    PlannedOrder,
    PlanResult,
    Power,
    RunInterval,
    SettingsInUse,
    Supposition,
)
from evaluation.scoring.wording import percent
from labeling.queues.workload import Terms
from pooling.formats.wording import counted, plural


def supposed(terms: Terms, bases: Bases) -> list[Supposition]:
    """Each supposed value: name, value, sentence, and its basis (given, measured, labels or assumed)."""
    rows = [
        _row("seconds_per_judgment", terms.seconds, bases["seconds_basis"], _seconds(terms, bases)),
        _row("relevant_share", bases["relevant_share"], bases["relevant_basis"], _relevant(bases)),
        _row(
            "hours_per_week",
            terms.hours_per_week,
            "given",
            f"Everyone judges {terms.hours_per_week:g} hours a week of active time, spread over all seven "
            "days.",
        ),
    ]
    if bases["can_tie"]:
        rows.insert(1, _row("tie_share", terms.tie_share, bases["ties_basis"], _ties(terms, bases)))
    if terms.gold_share or terms.gold_first_share:
        rows.append(_row("gold", float(bases["gold_there"]), "measured", _gold(bases)))
    return rows


def _row(name: str, value: float | None, basis: str, sentence: str) -> Supposition:
    return {"name": name, "value": value, "basis": basis, "sentence": sentence}


def _seconds(terms: Terms, bases: Bases) -> str:
    ground = {
        "given": "as you set it",
        "measured": "the mean of this collection's newest verdicts",
        "assumed": "assumed, since nobody has judged here yet",
    }[bases["seconds_basis"]]
    return f"A judgment takes {terms.seconds:.3g} seconds ({ground})."


def _ties(terms: Terms, bases: Bases) -> str:
    ground = {
        "given": "as you set it",
        "measured": "from this collection's queues",
        "assumed": "assumed, since no queue here has asked for one more judgment on a tie yet",
    }[bases["ties_basis"]]
    return f"{100 * terms.tie_share:.1f} % of the pairs tie and are judged once more ({ground})."


def _relevant(bases: Bases) -> str:
    if bases["relevant_basis"] == "assumed":
        return (
            f"How much of the pool is relevant is not known: fewer than {bases['fewest_labels']} of its "
            f"pairs have a label. Figures that depend on it are given for {_range(bases)} relevant."
        )
    ground = {
        "given": "as you set it",
        "labels": f"by a curve through {counted(bases['labelled'], 'label')} of this pool",
    }[bases["relevant_basis"]]
    return f"{percent(bases['relevant_share'])} of the pool is relevant ({ground})."


def _gold(bases: Bases) -> str:
    there = bases["gold_there"]
    return (
        f"The collection has {counted(there, 'gold question')}, and nobody sees one twice."
        if there
        else "There will be enough gold questions; the collection has none yet."
    )


def _range(bases: Bases) -> str:
    low, high = (100 * end for end in bases["relevant_range"])
    return f"{low:g} to {high:g} %"


def interval_sentence(interval: ExpectedInterval, undrawn: bool, bases: Bases) -> str:
    if undrawn:
        return (
            "This budget leaves pairs unjudged and draws none at random, so recall cannot be estimated. Set "
            "an audit share."
        )
    if interval["width_low"] is None:
        return "No relevant documents are expected, so recall would be undefined."
    if not interval["width_high"]:
        return "Every pair will have a label, so recall within the pool will be exact."
    span = f"{interval['width_low']:.3f} to {interval['width_high']:.3f}"
    begin = f"The 95 % interval of micro recall@{interval['k']} is expected to be"
    if interval["mean_width"] is None or interval["relevant_drawn"] is None:
        return (
            f"{begin} {span} wide on average, for {_range(bases)} relevant; the more relevant pairs, the "
            "narrower."
        )
    open_yet = ""
    if interval["width_low"] < interval["width_high"]:
        why = (
            f"as far as {counted(bases['labelled'], 'label')} "
            f"{plural(bases['labelled'], 'shows', 'show')} how much is relevant"
        )
        if bases["relevant_basis"] == "given":
            why = "by what may be relevant beyond the pool"
        open_yet = f" ({span}, {why})"
    return (
        f"{begin} {interval['mean_width']:.3f} wide on average{open_yet}, from about "
        f"{interval['relevant_drawn']:.0f} relevant documents in the audit."
    )


def headline_sentences(headline: ExpectedHeadline, reach: int | None) -> list[str]:
    k, of = headline["k"], headline["reaches"][-1 if reach else 0]
    if not headline["has_audit"]:
        return [
            "Nothing is drawn at random, so a report can only tell recall of the relevant documents found so "
            "far, without an interval. Set an audit share and a reach."
        ]
    of_what = (
        "of the whole collection"
        if of["is_whole"]
        else f"of what reach {reach:,} holds, about {counted(round(of['documents']), 'document')} for a query"
        if reach
        else "of the pool alone"
    )
    if headline["width_low"] is None:
        return ["No relevant documents are expected, so recall would be undefined."]
    wide = f"Its 95 % interval is expected to be about {width_words(headline)} wide."
    sentences = [f"The headline is recall@{k} {of_what}. {wide}"]
    if headline["is_macro"]:
        sentences.append("It covers which queries were asked and which labels were drawn.")
    else:
        sentences.append(
            "With fewer than ten queries, or where the audit finds fewer than five relevant documents, it is "
            "recall over all queries together, and its interval wider."
        )
    if not reach and not of["is_whole"]:
        sentences.append("Relevant documents below the depth are not in it: give a reach.")
    if reach and headline["width"] != headline["width_high"]:
        sentences.append("Plan with the upper end, which allows for queries that differ much.")
    return [" ".join(sentences)]


def width_words(headline: HeadlineWidth) -> str:
    likely, low, high = headline["width"], headline["width_low"], headline["width_high"]
    if low is None or high is None:
        return "–"
    span = f"{low:.3f} to {high:.3f}" if low < high else f"{low:.3f}"
    return span if likely is None or low == high else f"{likely:.3f} ({span})"


def pilot_sentence(pilot: Pilot) -> str:
    price = f" and {pilot['cost']:,.2f} {pilot['currency']}" if pilot["cost"] else ""
    return (
        f"Judge {pilot['pairs']:,} drawn pairs first: {pilot['minutes']:,.0f} minutes{price}. Their "
        "labels show about how much of the pool is relevant. Nobody judges them again."
    )


WITHOUT_SCORES = (
    "This forecast uses no model's scores. An order that starts from such scores may find relevant documents "
    "sooner."
)
RULES = {
    "equal": "Each query gets the same number of pairs",
    "share": "Each query gets the same share of its pool",
}


def order_sentences(order: PlannedOrder, settings: SettingsInUse) -> list[str]:
    span = f"{order['least']:,}"
    if order["most"] > order["least"]:
        span += f" to {order['most']:,}"
    if settings["budget"] is None:
        sentences = ["Without a budget, every pair of the pool is judged; labels decide the order."]
    elif settings["budget_rule"] == "greedy":
        sentences = [
            f"{settings['budget'] - order['open']:,} pairs are fixed: the floor of each query. Only labels "
            f"can decide which queries get the other {order['open']:,}. Cost and days do not depend on that; "
            "the width does, and is computed as if each query got the same share of its pool."
        ]
    else:
        sentences = [f"{RULES[settings['budget_rule']]}: {span}."]
    ends = (
        "by its budget, at the end of its pool, or by hand"
        if settings["budget"]
        else "with its pool or by hand"
    )
    if settings["stop_missing"] is None:
        return [*sentences, f"A query ends {ends}."]
    whole = settings["stop_over"] == "queue"
    sentences.append(
        f"{'The queue' if whole else 'A query'} may stop sooner, by the bound; when depends on what "
        "the audit shows. Cost, days and width here are for a campaign that no bound stops, which is about "
        "the most it can take."
    )
    look = order["best_look"]
    return sentences if look is None else [*sentences, _look(look, settings, whole)]


def _look(look: PlannedLook, settings: SettingsInUse, whole: bool) -> str:
    where = "over all queries" if whole else "in a query of median size"
    looks, wanted = settings["stop_looks"], settings["stop_missing"]
    if look["at_most_missing"] is None:
        return f"Nothing would be drawn {where} by the last of {looks} looks, so no bound could stop it."
    begin = (
        f"At best, with no relevant document among the {look['sampled']:,} drawn of {look['remainder']:,} "
        f"{where}, up to {look['at_most_missing']:,} relevant ones could still be missing at the last of "
        f"{looks} looks, next to about {look['found']:.0f} found ({percent(look['missing_share'], 0)}), with "
        f"{100 * look['relevant_share']:.0f} % of the pool relevant"
    )
    if look["may_stop"]:
        return f"{begin}: a stop at {100 * wanted:.0f} % is possible."
    better = "" if whole else ", or a bound over all queries"
    return f"{begin}: too much to stop at {100 * wanted:.0f} %. Plan a larger audit share{better}."


def power_sentence(power: Power) -> str:
    difference, there, k = power["difference"], power["queries"], power["k"]
    if power["deviation"] is None:
        low, high = power["queries_needed"]
        return (
            "Not known yet: fewer than five queries have a relevant label, or there is one run. If "
            "differences of recall spread as on public collections (deviation 0.11 to 0.19), "
            f"{low:,} to {high:,} queries find a difference of {difference:g} with 80 % power; "
            f"the pool has {there:,}."
        )
    needed = power["queries_needed"][0]
    return (
        f"{counted(needed, 'query')} {plural(needed, 'finds', 'find')} a difference of "
        f"{difference:g} in recall@{k} with 80 % power, by the spread of {power['labelled_queries']:,} "
        f"labelled queries (deviation {power['deviation']:.3f}); the pool has {there:,}."
    )


def _depths(planned: PlanResult) -> str:
    settings = planned["settings"]
    own = "".join(f", {run} {depth:,}" for run, depth in settings["depths"].items())
    return f"{settings['depth']:,}{own and f' ({own[2:]})'}"


def _reach(interval: RunInterval | None) -> str:
    if interval is None or interval["width_low"] is None:
        return "–"
    if interval["low"] is None:
        return f"{interval['width_low']:.3f} to {interval['width_high']:.3f} wide"
    return f"{interval['low']:.3f} to {interval['high']:.3f}"


def _by_budget(planned: PlanResult) -> list[str]:
    headline = planned["headline"]
    heads = [f"reach {one['reach']:,}" if one["reach"] else "pool alone" for one in headline["reaches"]]
    lines = ["", f"{'budget':>9}  {'a query':>7}  " + "  ".join(f"{head:>24}" for head in heads)]
    for row in headline["budgets"] if headline["has_audit"] else []:
        widths = "  ".join(f"{width_words(one):>24}" for one in row["widths"])
        lines.append(f"{row['budget']:>9,}  {row['per_query']:>7.1f}  {widths}")
    return [*lines, ""] if headline["has_audit"] else []


def plan_text(planned: PlanResult) -> str:
    pool, work, thin = planned["pool"], planned["work"], planned["thin"]
    lines = [
        f"{counted(pool['pairs'], 'pair')} of {counted(pool['queries'], 'query')} to depth "
        f"{_depths(planned)}; "
        f"{pool['chosen']:,} chosen, {pool['to_judge']:,} to judge, {pool['audit']:,} in the audit.",
        *(row["sentence"] for row in planned["supposed"]),
        *(planned["order"]["sentences"] if planned["order"] else []),
        "",
        f"{'annotators':>10}  {'judgments':>9}  {'hours each':>10}  {'days':>7}  {'done':>10}  {'cost':>12}",
    ]
    for row in work["by_annotators"]:
        if row["judgments"] is None:
            lines.append(f"{row['annotators']:>10}  too few people for this many judgments per pair")
            continue
        cost = "–" if row["cost"] is None else f"{row['cost']:,.2f} {work['currency']}"
        lines.append(
            f"{row['annotators']:>10}  {row['judgments']:>9,.0f}  {row['hours_each']:>10,.1f}  "
            f"{row['days']:>7,.1f}  {row['end_date'] or '–':>10}  {cost:>12}"
        )
    runs = planned["runs"]
    width = max(len(one["run"]) for one in runs)
    lines += ["", f"{'run'.ljust(width)}  {'pairs':>9}  {'alone':>9}  relevant alone  interval of recall"]
    intervals = {row["run"]: row for row in planned["recall_interval"]["by_run"]}
    for one in runs:
        alone = "–" if one["relevant_alone"] is None else f"{one['relevant_alone']:,}"
        reach = _reach(intervals.get(one["run"]))
        lines.append(
            f"{one['run'].ljust(width)}  {one['pairs']:>9,}  {one['alone']:>9,}  {alone:>14}  {reach}"
        )
    sizes = pool["size_by_depth"]
    depths = sorted(
        {depth for depth in (1, 5, 10, 20, 50, 100, 200, 500) if depth < len(sizes)} | {len(sizes)}
    )
    grown = ", ".join(f"{sizes[depth - 1]:,} at {depth}" for depth in depths)
    lines += [
        "",
        f"Pairs by depth: {grown}.",
        f"Thin queries (fewer than {counted(ceil(thin['below']), 'pair')}): {thin['count']:,}; "
        f"without any: {thin['without']:,}.",
        *planned["headline"]["sentences"],
        *_by_budget(planned),
        planned["recall_interval"]["sentence"],
        *([planned["pilot"]["sentence"]] if planned["pilot"] else []),
        planned["power"]["sentence"],
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"
