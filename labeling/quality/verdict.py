"""First words of the quality page: three sentences and, where somebody answers too fast, a fourth.

Pure: the figures of a queue in, sentences out. The thresholds:

- Agreement is Krippendorff's alpha with its 95 % interval. He asks for .8, and for .667 where tentative
  conclusions are acceptable (Krippendorff, *Content Analysis*, 2004, page 241). The whole interval counts: a
  value above with a limit below is not sure yet.
- Somebody is stricter or more lenient where the difference from others on the same pairs is significant at
  5 % (Student's t with the queries as what is sampled), corrected by Bonferroni for the number of people
  compared, and at least LEAST_DIFFERENCE. It takes ENOUGH_PAIRS shared pairs of ENOUGH_QUERIES queries.
- Too fast is `labeling.items.reading`.
"""

from __future__ import annotations

from collections.abc import Sequence

from labeling.items.reading import FastAnnotator, is_implausible
from labeling.quality.facts import AgreementFigures, AnnotatorFigures, Finding, Leniency
from pooling.formats.wording import counted

RELIABLE, TENTATIVE = 0.8, 0.667
LEVEL = 0.05
LEAST_DIFFERENCE, MUCH = 0.05, 0.15
ENOUGH_PAIRS, ENOUGH_QUERIES = 20, 8
# Below this share of relevant, alpha falls however careful people are.
RARE = 0.1
MOST_NAMED = 3
NORMAL_95 = 1.96


def quality_verdict(
    agreement: AgreementFigures, annotators: Sequence[AnnotatorFigures], waiting: int
) -> list[Finding]:
    return [_agreement(agreement), _strictness(annotators), *_speed(annotators), _waiting(waiting)]


def _agreement(agreement: AgreementFigures) -> Finding:
    alpha = next((one for one in agreement["figures"] if one["name"] == "krippendorff"), None)
    pairs = f"{counted(agreement['pairs'], 'pair')} judged twice"
    if alpha is None or alpha["value"] is None:
        if not agreement["pairs"]:
            text = "Agreement is unknown: no pair was judged by two people."
        elif alpha is not None and "unanimous" in alpha["why"]:
            text = f"Everybody says the same: {pairs}, all with one verdict."
            return _finding("agreement", "good", text)
        else:
            text = f"It is too early to tell how good agreement is: {pairs}, and it takes 30."
        return _finding("agreement", "none", text)
    value, low, high = alpha["value"], alpha["low"], alpha["high"]
    if low is None or high is None:
        low = high = value
    figures = f"α {value:.2f} [{low:.2f}, {high:.2f}], {pairs}"
    if low >= RELIABLE:
        return _finding("agreement", "good", f"Agreement is very good ({figures}).")
    if low >= TENTATIVE:
        return _finding("agreement", "good", f"Agreement is good ({figures}).")
    if high >= TENTATIVE:
        return _finding("agreement", "unsure", f"Agreement may be good or poor ({figures}).")
    text = f"Agreement is poor ({figures})."
    if agreement["prevalence"] is not None and agreement["prevalence"] < RARE:
        text += " Few pairs are relevant, which lowers α: read the agreement on relevant as well."
    return _finding("agreement", "poor", text)


def _strictness(annotators: Sequence[AnnotatorFigures]) -> Finding:
    compared = [
        (row["username"], row["leniency"])
        for row in annotators
        if row["leniency"]
        and row["leniency"]["pairs"] >= ENOUGH_PAIRS
        and row["leniency"]["queries"] >= ENOUGH_QUERIES
    ]
    if not compared:
        text = f"it takes {ENOUGH_PAIRS} pairs of {ENOUGH_QUERIES} queries that somebody shares with others"
        if some := [row["leniency"] for row in annotators if row["leniency"]]:
            most = max(some, key=lambda one: (one["pairs"] >= ENOUGH_PAIRS, one["queries"], one["pairs"]))
            text += f", and there are at most {most['pairs']:,} of {counted(most['queries'], 'query')}"
        return _finding("annotators", "none", f"How strict people are cannot be compared yet: {text}.")
    # Of two people, one is as strict as the other is lenient: that is one comparison.
    tests = len(compared) if len(compared) > 2 else 1
    odd = [(name, one) for name, one in compared if _is_odd(one, tests)]
    if not odd:
        text = "Nobody is clearly stricter or more lenient than the others."
        return _finding("annotators", "good", text)
    if len(compared) == 2:
        shares = " and ".join(f"{name} finds {100 * one['own']:.0f} % relevant" for name, one in compared)
        text = f"Two annotators judge the same pairs differently: {shares}."
        return _finding("annotators", "poor", text, [name for name, _ in compared])
    odd.sort(key=lambda entry: -abs(entry[1]["difference"]))
    differences = "; ".join(_compared(name, one) for name, one in odd[:MOST_NAMED])
    more = f"; and {len(odd) - MOST_NAMED} more" if len(odd) > MOST_NAMED else ""
    if len(odd) > 1:
        begin = f"{len(odd)} annotators differ from the others"
    else:
        (_, one), *_ = odd
        way = "stricter" if one["difference"] < 0 else "more lenient"
        begin = f"One annotator is {'much ' if abs(one['difference']) >= MUCH else ''}{way} than the others"
    return _finding("annotators", "poor", f"{begin}: {differences}{more}.", [name for name, _ in odd])


def _compared(name: str, one: Leniency) -> str:
    return f"{name} finds {100 * one['own']:.0f} % relevant, the others {100 * one['others']:.0f} %"


def _is_odd(one: Leniency, tests: int) -> bool:
    """Somebody's share of relevant differs from that of others by more than chance."""
    if one["low"] is None or one["high"] is None or abs(one["difference"]) < LEAST_DIFFERENCE:
        return False
    error = (one["high"] - one["low"]) / (2 * NORMAL_95)
    if not error:
        return True  # every single pair differs alike
    from scipy.special import stdtr

    freedom = one["queries"] - 1
    return bool(2 * stdtr(freedom, -abs(one["difference"]) / error) * tests < LEVEL)


def _speed(annotators: Sequence[AnnotatorFigures]) -> list[Finding]:
    fast = []
    for row in annotators:
        speed = row["speed"]
        if is_implausible(speed.all_too_fast, speed.timed):
            fast.append(FastAnnotator(row["username"], speed.all_too_fast, speed.timed))
        elif speed.has_collapsed:
            fast.append(FastAnnotator(row["username"], speed.too_fast, speed.recent))
    if not fast:
        return []
    fast.sort(key=lambda one: -one.too_fast)
    text = " ".join(one.sentence for one in fast[:MOST_NAMED])
    if len(fast) > MOST_NAMED:
        text += f" So did {len(fast) - MOST_NAMED} more."
    return [_finding("speed", "poor", text, [one.username for one in fast])]


def _waiting(waiting: int) -> Finding:
    if not waiting:
        return _finding("waiting", "good", "No pair waits for a decision.")
    verb = "waits" if waiting == 1 else "wait"
    return _finding("waiting", "unsure", f"{counted(waiting, 'pair')} {verb} for a decision.")


def _finding(about: str, grade: str, text: str, who: Sequence[str] = ()) -> Finding:
    return {"about": about, "grade": grade, "text": text, "who": list(who)}
