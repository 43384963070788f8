"""How far two sets of queries lie apart, and how often two of one source would lie as far apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pooling.heavy import Floats, Integers, np, npt

HALF = 0.5
SIMULATED = 4_999
PERMUTED = 999
FOLDS = 5
#: Of the ridge penalty, in units of the mean of the kernel's diagonal.
PENALTY = 1.0


def psi(first: Floats, second: Floats) -> float:
    """The population stability index of two (bins,) counts: Σ (q − p) ln(q / p), half a count added a bin.

    >>> from numpy import array
    >>> round(psi(array([50.0, 50]), array([30.0, 70])), 4)
    0.1659
    """
    p, q = _shares(first), _shares(second)
    return float(((q - p) * np.log(q / p)).sum())


def _shares(counts: Floats) -> Floats:
    shares: Floats = (counts + HALF) / (counts + HALF).sum(axis=-1, keepdims=True)
    return shares


def squared_jensen_shannon(first: Floats, second: Floats) -> float:
    """The squared Jensen–Shannon distance of two (bins,) counts, base 2: 0 for equal shares, 1 for disjoint.

    >>> from numpy import array
    >>> squared_jensen_shannon(array([1.0, 0]), array([0.0, 1]))
    1.0
    """
    p, q = first / first.sum(), second / second.sum()
    middle = (p + q) / 2

    def information(shares: Floats) -> float:
        some = shares > 0
        return float((shares[some] * np.log2(shares[some] / middle[some])).sum())

    return (information(p) + information(q)) / 2


def psi_p(first: Floats, second: Floats, *, sizes: tuple[float, float], chance: np.random.Generator) -> float:
    """How often two samples of one source have a PSI as large, by simulation from their common shares.

    sizes: how many equal queries the two are worth. Thresholds such as .1 and .25 say nothing at the sizes of
    evaluation sets: the index grows as samples shrink.
    """
    first_size, second_size = (max(round(size), 1) for size in sizes)
    shares = (first / first.sum() * first_size + second / second.sum() * second_size) / (
        first_size + second_size
    )
    observed = psi(first / first.sum() * first_size, second / second.sum() * second_size)
    ps = _shares(chance.multinomial(first_size, shares, SIMULATED).astype(float))
    qs = _shares(chance.multinomial(second_size, shares, SIMULATED).astype(float))
    simulated = ((qs - ps) * np.log(qs / ps)).sum(axis=1)
    return float((1 + (simulated >= observed - 1e-12).sum()) / (SIMULATED + 1))


def mmd2(first: Floats, second: Floats, *, seed: int = 0) -> tuple[float, float, float]:
    """Unbiased squared MMD of (n, d) and (m, d), p by 999 permutations, and γ (Gretton et al., 2012)."""
    both = np.concatenate([first, second]).astype(np.float64)
    squares = (both * both).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2 * both @ both.T, 0)
    median = float(np.median(distances[np.triu_indices(len(both), 1)]))
    gamma = 1 / median if median > 0 else 1.0
    kernel = np.exp(-gamma * distances)
    np.fill_diagonal(kernel, 0)
    count = len(first)

    def between(rows: Integers) -> float:
        inside = np.zeros(len(both), bool)
        inside[rows] = True
        n, m = count, len(both) - count
        own = kernel[np.ix_(inside, inside)].sum() / (n * (n - 1))
        others = kernel[np.ix_(~inside, ~inside)].sum() / (m * (m - 1))
        return float(own + others - 2 * kernel[np.ix_(inside, ~inside)].mean())

    observed = between(np.arange(count))
    chance = np.random.default_rng(seed)
    as_far = sum(between(chance.permutation(len(both))[:count]) >= observed for _ in range(PERMUTED))
    return observed, (1 + as_far) / (PERMUTED + 1), gamma


def tell_apart(
    first: Sequence[str], second: Sequence[str], chance: np.random.Generator
) -> tuple[float, float, Floats, float]:
    """How well a linear classifier tells two sets of texts apart: its area under the curve on texts that it
    has not seen (five folds), the p by 999 permutations, its score of each text, higher for the second, and
    the standard deviation of areas that are chance.

    Texts are their character 2- to 4-grams by TF-IDF, the classifier is a ridge regression: what it says of
    unseen texts is linear in the labels, so permutations need no fitting (Lopez-Paz and Oquab, Revisiting
    Classifier Two-Sample Tests, 2017, with permutations instead of their normal limit).
    """
    texts = [*first, *second]
    kernel = _text_kernel(texts)
    labels = np.repeat([-1.0, 1.0], [len(first), len(second)])
    # A text of both sides is in one fold: seen with one label, it would be scored as the other.
    same = np.unique([" ".join(text.split()).lower() for text in texts], return_inverse=True)[1]
    folds = (chance.permutation(same.max() + 1) % FOLDS)[same]
    smoother = np.zeros_like(kernel)
    for fold in range(FOLDS):
        out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        inner = kernel[np.ix_(rest, rest)] + PENALTY * np.eye(len(rest))
        centred = np.eye(len(rest)) - 1 / len(rest)
        smoother[np.ix_(out, rest)] = np.linalg.solve(inner, kernel[np.ix_(rest, out)]).T @ centred + 1 / len(
            rest
        )
    scores = smoother @ labels
    observed = _area(scores, labels > 0)
    permuted = np.array([chance.permutation(labels) for _ in range(PERMUTED)])
    areas = np.array([_area(smoother @ one, one > 0) for one in permuted])
    as_far = int((areas >= observed - 1e-12).sum())
    return observed, (1 + as_far) / (PERMUTED + 1), scores, float(areas.std())


def _area(scores: Floats, positive: npt.NDArray[np.bool_]) -> float:
    """The area under the ROC curve; equal scores count half."""
    from scipy.stats import rankdata

    ranks = rankdata(scores)
    n = int(positive.sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(scores) - n)))


def _text_kernel(texts: Sequence[str]) -> Floats:
    """(n, n) inner products of TF-IDF vectors of length 1, over the 2- to 4-grams within words."""
    from scipy.sparse import csr_array

    grams: dict[str, int] = {}
    rows, columns, values = [], [], []
    for row, text in enumerate(texts):
        counts: Counter[str] = Counter()
        for word in text.lower().split():
            padded = f" {word} "
            counts.update(
                padded[at : at + size] for size in (2, 3, 4) for at in range(len(padded) - size + 1)
            )
        for gram, count in counts.items():
            rows.append(row)
            columns.append(grams.setdefault(gram, len(grams)))
            values.append(float(count))
    table = csr_array((values, (rows, columns)), shape=(len(texts), max(len(grams), 1)))
    seen = np.bincount(columns, minlength=table.shape[1])
    table = table * (np.log((1 + len(texts)) / (1 + seen)) + 1)[None, :]
    table = csr_array(table)
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    kernel: Floats = (table @ table.T).toarray()
    scale = np.where(lengths > 0, lengths, 1)
    return kernel / scale[:, None] / scale[None, :]
