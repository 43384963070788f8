"""Orders that are fixed before the first judgment: depth and the fusions of ranks and scores."""

from __future__ import annotations

from pooling.heavy import Floats, np, pl
from pooling.strategies.base import ScoredStrategy, Strategy, stream, uniforms
from pooling.strategies.candidates import Candidates, candidates_of

#: The chance that a reader goes on to the next rank (Moffat and Zobel, 2008).
PERSISTENCE = 0.8


class StaticStrategy(ScoredStrategy):
    """A score that no label changes, kept once it is computed."""

    learns = False

    def score(self, one: Candidates) -> Floats:
        if not hasattr(self, "_scores"):
            self._scores: dict[str, Floats] = {}
        if one.query_id not in self._scores:
            self._scores[one.query_id] = self.fixed_score(one)
        return self._scores[one.query_id]

    def fixed_score(self, one: Candidates) -> Floats:
        raise NotImplementedError


class Depth(StaticStrategy):
    """Best rank in any run rising: the depth-1 pool, then the depth-2 pool and so on."""

    def fixed_score(self, one: Candidates) -> Floats:
        return -one.best_rank.astype(np.float64)


class ReciprocalRankFusion(StaticStrategy):
    """Σ 1/(60 + rank) falling (Cormack et al., SIGIR 2009)."""

    def fixed_score(self, one: Candidates) -> Floats:
        return one.rrf


class CombMNZ(StaticStrategy):
    """Sum of min–max-normalised scores × number of runs (Fox and Shaw, TREC-2)."""

    def fixed_score(self, one: Candidates) -> Floats:
        if one.score_sum is None:
            raise ValueError("combmnz needs the scores of the runs, and these candidates have none.")
        return one.score_sum * one.run_count


class Borda(StaticStrategy):
    """Borda count: n - place + 1 points from a run that found it, an equal part of the rest from others."""

    def fixed_score(self, one: Candidates) -> Floats:
        length = np.diff(one.list_starts)[one.run]
        return one.total(len(one) - one.list_position + 1 - (len(one) - length + 1) / 2)


class RankBiased(StaticStrategy):
    """Σ (1 - p) p^(rank - 1): what rank-biased precision would credit the document (Moffat et al., 2007)."""

    def fixed_score(self, one: Candidates) -> Floats:
        return one.total((1 - PERSISTENCE) * PERSISTENCE ** (one.rank.astype(np.float64) - 1.0))


class Disagreement(StaticStrategy):
    """By the entropy of the votes, then RRF; of two runs, what only one found comes first."""

    def fixed_score(self, one: Candidates) -> Floats:
        share = one.run_count / max(one.runs, 1)
        rest = np.clip(1 - share, np.finfo(np.float64).tiny, 1)
        return np.round(-share * np.log2(share) - (1 - share) * np.log2(rest), 12)


#: Added to the rank in RRF order before its reciprocal becomes a document's size.
OFFSET = 30


class Sampling(StaticStrategy):
    """Priority sampling with sizes g = 1/(30 + rank in RRF order) (Duffield, Lund and Thorup, J. ACM
    54(6), 2007).

    Each document draws u from (0, 1] and the priority g/u; the highest priorities are judged first. So a
    sample of any number of documents is the beginning of one order, and whatever that number, weighting
    each label by 1/`probabilities` estimates totals without bias, with uncorrelated terms.
    """

    random = True

    def fixed_score(self, one: Candidates) -> Floats:
        bytewise = np.argsort(np.array([document.encode() for document in one.documents], dtype=object))
        draws = np.empty(len(one))
        draws[bytewise] = uniforms(stream(self.seed, "sampling", one.query_id), len(one))
        return sizes(one) / draws

    def probabilities(self, one: Candidates) -> Floats:
        """Inclusion probability of each labelled document, given that labels follow the order; else nan."""
        return self.probabilities_after(one, len(one) - int(self.open_documents(one).sum()))

    def probabilities_after(self, one: Candidates, count: int) -> Floats:
        """`probabilities`, when the first `count` documents are judged."""
        priority = self.score(one)
        order = np.argsort(-priority, kind="stable")
        result = np.full(len(one), np.nan)
        chosen = order[:count]
        threshold = priority[order[count]] if count < len(one) else 0.0
        result[chosen] = np.minimum(1.0, sizes(one)[chosen] / threshold) if threshold else 1.0
        return result


def sizes(one: Candidates) -> Floats:
    return np.asarray(1.0 / (OFFSET + 1.0 + np.arange(len(one))))


def order_by_depth(merged: pl.DataFrame) -> pl.DataFrame:
    """Best rank in any run, so the depth-1 pool first; ties by RRF falling, then document id falling."""
    return merged.sort("query_id", "best_rank", "rrf", "document_id", descending=[False, False, True, True])


def order_by_rrf(merged: pl.DataFrame) -> pl.DataFrame:
    """Reciprocal rank fusion falling (Cormack et al., SIGIR 2009); ties by document id falling bytewise."""
    return merged.sort("query_id", "rrf", "document_id", descending=[False, True, True])


def order_without_labels(
    merged: pl.DataFrame,
    make: type[Strategy],
    seed: int,
    *,
    runs: int | None = None,
    depth: int | None = None,
) -> pl.DataFrame:
    """Each query's pool in the strategy's order without labels; `runs` and `depth` as for `candidates_of`."""
    if not merged.height:
        return merged
    ordered = order_by_rrf(merged)
    candidates = candidates_of(ordered, runs=runs, depth=depth)
    strategy, first, rows = make(candidates, seed=seed), 0, []
    for one in candidates.values():
        rows.append(first + np.array(strategy.pick(one, strategy.open_documents(one), len(one))))
        first += len(one)
    return ordered[np.concatenate(rows)]


def sampling_probabilities(pooled: pl.DataFrame, seed: int) -> pl.DataFrame:
    """π of documents from priority sampling, given the sample's order with each query's chosen ones first."""
    candidates = candidates_of(pooled)
    sampling = Sampling(candidates, seed=seed)
    chosen = dict(pooled.group_by("query_id").agg(pl.col("inclusion_probability").count()).iter_rows())
    parts = []
    for query_id, one in candidates.items():
        probability = sampling.probabilities_after(one, chosen[query_id])
        parts.append(probability[sampling.pick(one, sampling.open_documents(one), len(one))])
    values = pl.Series("inclusion_probability", np.concatenate(parts or [np.zeros(0)])).fill_nan(None)
    return pooled.with_columns(values)
