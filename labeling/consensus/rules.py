"""From the verdicts on a pair to its one label: named rules on plain frames, without Django.

Disagreement between careful people is information, so a rule never hides it: what has no label by the rule
says why, and goes to adjudication. A verdict of "can't judge" does not vote under any rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from pooling.heavy import Booleans, Floats, Integers, np, pl

TOLERANCE = 1e-6
MOST_ROUNDS = 100
# Keeps logarithms finite when no prior does.
LEAST = 1e-10


class Priors(NamedTuple):
    """Numbers added to counts: verdicts of each annotator (`right`, `wrong`) and pairs in each class."""

    right: float = 4.0
    wrong: float = 1.0
    prevalence: float = 1.0


WEAK = Priors()


@dataclass(frozen=True)
class Fitted:
    """`relevant`: probability of each pair; `sensitivity` and `specificity` of each annotator."""

    relevant: Floats
    sensitivity: Floats
    specificity: Floats
    prevalence: float
    rounds: int


def dawid_skene(
    pair: Integers,
    annotator: Integers,
    relevant: Booleans,
    *,
    gold_answers: Floats | None = None,
    priors: Priors = WEAK,
    constrained: bool = True,
) -> Fitted:
    """Skill of each annotator, and the chance of each pair to be relevant, from their verdicts alone: the
    model of Dawid and Skene (1979) for two classes, fitted by expectation maximisation with weak priors, so
    that somebody with three verdicts is not taken for perfect.

    Verdicts are three arrays of one length: number of the pair, number of the annotator (both from 0 without
    gaps), and whether the verdict was relevant.

    `gold_answers` holds 1 or 0 for pairs whose answer is given and NaN for the others. `constrained` keeps
    sensitivity + specificity at 1 or above: without it somebody who mostly contradicts the others would
    count the other way round, and enough of such would turn all labels.
    `ValueError` without verdicts.
    """
    if not len(pair):
        raise ValueError("There is no verdict to fit.")
    verdicts = _Verdicts(pair, annotator, relevant.astype(np.float64), priors, constrained)
    chance = verdicts.share_of_votes()
    fixed = np.zeros(len(chance), dtype=bool) if gold_answers is None else ~np.isnan(gold_answers)
    if gold_answers is not None:
        chance = np.where(fixed, gold_answers, chance)
    rounds = 0
    for rounds in range(1, MOST_ROUNDS + 1):  # noqa: B007 (how many it took is told)
        sensitivity, specificity, prevalence = verdicts.abilities(chance)
        before, chance = chance, verdicts.chance(sensitivity, specificity, prevalence)
        chance = np.where(fixed, before, chance)
        if np.abs(chance - before).max() < TOLERANCE:
            break
    return Fitted(chance, sensitivity, specificity, prevalence, rounds)


@dataclass(frozen=True)
class _Verdicts:
    pair: Integers
    annotator: Integers
    relevant: Floats
    priors: Priors
    constrained: bool

    def share_of_votes(self) -> Floats:
        return np.bincount(self.pair, weights=self.relevant) / np.bincount(self.pair)

    def abilities(self, chance: Floats) -> tuple[Floats, Floats, float]:
        yes, no = chance[self.pair], 1 - chance[self.pair]
        sensitivity = self._share_right(yes * self.relevant, yes)
        specificity = self._share_right(no * (1 - self.relevant), no)
        if self.constrained:
            # A contrarian's verdicts then carry no information, instead of carrying it inverted.
            short = np.maximum(1 - sensitivity - specificity, 0) / 2
            sensitivity, specificity = sensitivity + short, specificity + short
        added = self.priors.prevalence
        prevalence = (float(chance.sum()) + added) / (len(chance) + 2 * added)
        return sensitivity, specificity, prevalence

    def chance(self, sensitivity: Floats, specificity: Floats, prevalence: float) -> Floats:
        """The expectation step, as log odds."""
        yes = _log(sensitivity) - _log(1 - specificity)
        no = _log(1 - sensitivity) - _log(specificity)
        weight = np.where(self.relevant == 1, yes[self.annotator], no[self.annotator])
        odds = np.bincount(self.pair, weights=weight) + _log(prevalence) - _log(1 - prevalence)
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -700, 700))))

    def _share_right(self, right: Floats, of: Floats) -> Floats:
        """By annotator; a half for who met no pair of the class when no prior says otherwise."""
        counted = np.bincount(self.annotator, weights=right) + self.priors.right
        total = np.bincount(self.annotator, weights=of) + self.priors.right + self.priors.wrong
        half: Floats = np.full_like(counted, 0.5)
        return np.asarray(np.divide(counted, total, out=half, where=total > 0))


def _log(value: Floats | float) -> Floats:
    return np.asarray(np.log(np.maximum(value, LEAST)))


RULES_IN_WORDS = {
    "majority": "the label most people gave; a tie has none",
    "unanimous": "a label only where everybody agrees",
    "weighted": "votes weigh by their owner's answers to gold questions",
    "dawid-skene": "votes weigh by how good people prove to be over all pairs, gold answers held fixed",
}
RULE_NAMES = tuple(RULES_IN_WORDS)


# As many people who cannot judge a pair end its way to a label.
CANNOT_JUDGE_LIMIT = 2

PAIR = ["query_id", "document_id"]
VERDICTS = {**dict.fromkeys([*PAIR, "annotator", "verdict"], str)}
NEEDED: dict[str, type] = {**dict.fromkeys(PAIR, str), "needed": int}
GOLD: dict[str, type] = {**dict.fromkeys([*PAIR, "annotator"], str), "relevant": bool, "answer": bool}

# As if everybody had been right on four gold questions of each kind and wrong on one.
GOLD_PRIOR = (4, 1)
# What rounding makes of two equal weights.
EQUAL = 1e-9


@dataclass(frozen=True)
class Ballots:
    """Verdicts of people, as rules see them.

    `verdicts`: query_id, document_id, annotator, verdict (`relevant`, `not_relevant`, `cannot_judge`), one
    row for each person and pair, gold questions left out. `needed`: query_id, document_id, needed; 1 for a
    pair that it does not name. `gold`: query_id, document_id, annotator, relevant (what they said), answer.
    """

    verdicts: pl.DataFrame
    needed: pl.DataFrame
    gold: pl.DataFrame

    @classmethod
    def of(
        cls, verdicts: pl.DataFrame, needed: pl.DataFrame | None = None, gold: pl.DataFrame | None = None
    ) -> Ballots:
        return cls(
            verdicts,
            pl.DataFrame(schema=NEEDED) if needed is None else needed,
            pl.DataFrame(schema=GOLD) if gold is None else gold,
        )

    def tallied(self) -> pl.DataFrame:
        """A row for each pair: how many verdicts of each kind, and how many it needs; sorted by pair."""
        verdict = pl.col("verdict")
        kinds = ("relevant", "not_relevant", "cannot_judge")
        counts = self.verdicts.group_by(PAIR).agg(**{kind: (verdict == kind).sum() for kind in kinds})
        return (
            counts.join(self.needed, on=PAIR, how="left")
            .with_columns(pl.col("needed").fill_null(1))
            .sort(PAIR)
        )

    def opinions(self) -> pl.DataFrame:
        """The verdicts that vote: query_id, document_id, annotator, relevant."""
        votes = self.verdicts.filter(pl.col("verdict") != "cannot_judge")
        return votes.select(*PAIR, "annotator", relevant=pl.col("verdict") == "relevant")


# Adds to the tallied pairs a column `leaning` (Float64): above 0 for relevant, below 0 for not relevant, 0
# for a tie; null where the rule gives no label although there are enough verdicts.
Rule: TypeAlias = "Callable[[Ballots, pl.DataFrame], pl.DataFrame]"


def decide(ballots: Ballots, rule: str = "majority") -> pl.DataFrame:
    """The label of each pair that somebody judged, by a named rule.

    Columns: query_id, document_id; relevant, not_relevant, cannot_judge (numbers of verdicts), needed;
    leaning; label (Int32: 1, 0, or null without one) and outcome: `final`, `tie` (enough verdicts, as much
    for as against), `conflict` (enough, and the rule wants more agreement), `cannot_judge` (too few, and two
    people could not judge), `not_final` (too few). `ValueError` for a rule that does not exist or cannot be
    applied to these verdicts.

    >>> said = [("q", "d1", "ben", "relevant"), ("q", "d1", "cleo", "not_relevant")]
    >>> said += [("q", "d2", "ben", "relevant")]
    >>> decide(Ballots.of(pl.DataFrame(said, schema=VERDICTS, orient="row")))["outcome"].to_list()
    ['tie', 'final']
    """
    if rule not in RULES:
        raise ValueError(f"There is no rule “{rule}”. Choose one of {', '.join(RULES)}.")
    tallied = RULES[rule](ballots, ballots.tallied())
    leaning = pl.col("leaning")
    enough = pl.col("relevant") + pl.col("not_relevant") >= pl.col("needed")
    is_final = enough & (leaning.abs() > EQUAL)
    return tallied.with_columns(
        label=pl.when(is_final).then((leaning > 0).cast(pl.Int32)),
        outcome=pl.when(is_final)
        .then(pl.lit("final"))
        .when(enough & leaning.is_null())
        .then(pl.lit("conflict"))
        .when(enough)
        .then(pl.lit("tie"))
        .when(pl.col("cannot_judge") >= CANNOT_JUDGE_LIMIT)
        .then(pl.lit("cannot_judge"))
        .otherwise(pl.lit("not_final")),
    )


def majority(ballots: Ballots, tallied: pl.DataFrame) -> pl.DataFrame:
    more = pl.col("relevant").cast(pl.Float64) - pl.col("not_relevant")
    return tallied.with_columns(leaning=more)


def unanimous(ballots: Ballots, tallied: pl.DataFrame) -> pl.DataFrame:
    relevant, not_relevant = pl.col("relevant"), pl.col("not_relevant")
    disagree = (relevant > 0) & (not_relevant > 0)
    more = relevant.cast(pl.Float64) - not_relevant
    return tallied.with_columns(leaning=pl.when(~disagree).then(more))


def weighted(ballots: Ballots, tallied: pl.DataFrame) -> pl.DataFrame:
    """Each voice counts by its owner's answers to gold questions, as log odds.

    With sensitivity s and specificity c, "relevant" weighs ln(s / (1 - c)), "not relevant" ln((1 - s) / c):
    the log likelihood ratio of the verdict (Nitzan and Paroush, 1982, for unequal error rates). Somebody
    without gold answers counts as 4 right of 5; with no gold at all this is the majority.
    """
    skills = gold_skills(ballots.gold)
    right, wrong = GOLD_PRIOR
    unknown = right / (right + wrong)
    opinions = ballots.opinions().join(skills, on="annotator", how="left")
    s, c = pl.col("sensitivity").fill_null(unknown), pl.col("specificity").fill_null(unknown)
    weight = pl.when("relevant").then((s / (1 - c)).log()).otherwise(((1 - s) / c).log())
    # In the order of names, so that a sum does not depend on the order in which verdicts came.
    sums = opinions.sort(*PAIR, "annotator").group_by(PAIR, maintain_order=True).agg(leaning=weight.sum())
    return tallied.join(sums, on=PAIR, how="left", maintain_order="left").with_columns(
        pl.col("leaning").fill_null(0.0)
    )


def gold_skills(gold: pl.DataFrame) -> pl.DataFrame:
    """annotator, sensitivity, specificity from answers to gold questions, with the prior of this rule."""
    right, wrong = GOLD_PRIOR
    answer, correct = pl.col("answer"), pl.col("relevant") == pl.col("answer")
    return gold.group_by("annotator").agg(
        sensitivity=((answer & correct).sum() + right) / (answer.sum() + right + wrong),
        specificity=((~answer & correct).sum() + right) / ((~answer).sum() + right + wrong),
    )


def dawid_skene_rule(ballots: Ballots, tallied: pl.DataFrame) -> pl.DataFrame:
    """The log odds that `labeling.consensus.rules` finds, with gold answers held fixed.

    `ValueError` where no pair has three voices: what people are worth cannot be told from two who disagree.
    """
    voices = pl.concat([ballots.opinions(), ballots.gold.select(*PAIR, "annotator", "relevant")])
    if voices.is_empty() or int(voices.group_by(PAIR).len()["len"].max() or 0) < 3:  # type: ignore[arg-type]
        raise ValueError(
            "Dawid and Skene's rule needs pairs that three people judged. Use majority, or more judgments."
        )
    pairs, fitted = fit(voices, ballots.gold)
    chance = pl.Series("chance", fitted.relevant).clip(EQUAL, 1 - EQUAL)
    odds = pairs.with_columns((chance / (1 - chance)).log().alias("leaning"))
    return tallied.join(odds, on=PAIR, how="left", maintain_order="left").with_columns(
        pl.col("leaning").fill_null(0.0)
    )


def fit(voices: pl.DataFrame, gold: pl.DataFrame) -> tuple[pl.DataFrame, Fitted]:
    """The pairs of `voices` in order, and the model fitted to them."""
    pairs = voices.select(PAIR).unique().sort(PAIR).with_row_index("pair")
    people = voices.select("annotator").unique().sort("annotator").with_row_index("person")
    answers = gold.select(*PAIR, "answer").unique(PAIR)
    gold_answers = pairs.join(answers, on=PAIR, how="left", maintain_order="left")["answer"]
    numbered = voices.join(pairs, on=PAIR).join(people, on="annotator").sort("pair", "person")
    fitted = dawid_skene(
        numbered["pair"].cast(pl.Int64).to_numpy(),
        numbered["person"].cast(pl.Int64).to_numpy(),
        numbered["relevant"].to_numpy(),
        gold_answers=gold_answers.cast(pl.Float64).fill_null(float("nan")).to_numpy(),
    )
    return pairs.drop("pair"), fitted


RULES: dict[str, Rule] = {
    "majority": majority,
    "unanimous": unanimous,
    "weighted": weighted,
    "dawid-skene": dawid_skene_rule,
}
