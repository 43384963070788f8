"""Judge a sample with known inclusion probabilities, larger where the runs agree that a document is good."""

from __future__ import annotations

from pooling.heavy import Floats, np
from pooling.strategies.candidates import Candidates
from pooling.strategies.chance import stream, uniforms
from pooling.strategies.static import StaticStrategy

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
        """Inclusion probability of each document with a label, given that labels follow the order; else
        nan.
        """
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
