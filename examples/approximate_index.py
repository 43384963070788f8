"""Make an exact run and runs of approximate indexes over the same vectors, with their measured latencies.

Install the extra first (`pip install -e '.[ann]'`), then

    python examples/approximate_index.py --output index
    soundings evaluate index/hnsw-*.run index/ivf-*.run --against index/exact.run \\
        --k 10 100 --settings index/settings.csv --target recall@10=0.95 --chart index/curve.svg

The vectors are made up: points around centres of different sizes, as embeddings of texts lie. The exact run
is NumPy's brute force; the indexes are those of Faiss, asked one query at a time on one thread.
"""

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np

SEED = 11
DIMENSIONS = 64
CENTRES = 400
SPREAD = 0.55  # of a point around its centre, where centres have length 1
LINKS = 16  # of each vector in the graph
LISTS = 256  # into which the inverted file parts the vectors
BREADTHS = (8, 16, 32, 64, 128, 256)  # candidates that the graph search keeps
PROBES = (1, 2, 4, 8, 16, 32)  # lists that are looked through
ROUNDS = 3  # of which the fastest counts: others on the machine only ever slow it down

Vectors = np.ndarray
Search = Callable[[Vectors], tuple[np.ndarray, np.ndarray]]


def make_vectors(count: int, query_count: int) -> tuple[Vectors, Vectors]:
    """Vectors of length 1, (count, d) and (query_count, d): queries come from the same centres."""
    generator = np.random.default_rng(SEED)
    centres = normalised(generator.normal(size=(CENTRES, DIMENSIONS)))
    weights = 1 / np.arange(1, CENTRES + 1)
    of = generator.choice(CENTRES, size=count + query_count, p=weights / weights.sum())
    noise = generator.normal(size=(count + query_count, DIMENSIONS)) * SPREAD / np.sqrt(DIMENSIONS)
    points = normalised(centres[of] + noise).astype(np.float32)
    return points[:count], points[count:]


def normalised(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def brute_force(vectors: Vectors, queries: Vectors, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Inner products and numbers of the nearest `depth` vectors of each query, (Q, depth)."""
    scores = queries @ vectors.T
    nearest = np.argpartition(-scores, depth, axis=1)[:, :depth]
    found = np.take_along_axis(scores, nearest, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(nearest, order, axis=1)


def one_by_one(search: Search, queries: Vectors) -> tuple[np.ndarray, np.ndarray, float]:
    """What each query finds, and the mean milliseconds that one takes."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        answers = [search(queries[row : row + 1]) for row in range(len(queries))]
        fastest = min(fastest, time.perf_counter() - begun)
    scores, numbers = (np.concatenate(part) for part in zip(*answers, strict=True))
    return scores, numbers, 1000 * fastest / len(queries)


def write_run(path: Path, scores: np.ndarray, numbers: np.ndarray, tag: str) -> None:
    """A TREC run; -1 is no document."""
    with path.open("w", encoding="utf-8") as file:
        for query, (of_query, values) in enumerate(zip(numbers, scores, strict=True)):
            for rank, (number, score) in enumerate(zip(of_query, values, strict=True), start=1):
                if number >= 0:
                    file.write(f"q{query} Q0 v{number} {rank} {score:.7g} {tag}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="folder for the runs and settings.csv")
    parser.add_argument("--vectors", type=int, default=50_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--depth", type=int, default=100)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    faiss.omp_set_num_threads(1)
    vectors, queries = make_vectors(options.vectors, options.queries)
    depth = options.depth
    write_run(options.output / "exact.run", *brute_force(vectors, queries, depth), "exact")

    graph = faiss.IndexHNSWFlat(DIMENSIONS, LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.add(vectors)
    inverted = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(DIMENSIONS), DIMENSIONS, LISTS, faiss.METRIC_INNER_PRODUCT
    )
    inverted.train(vectors)
    inverted.add(vectors)

    rows = []
    for breadth in BREADTHS:
        graph.hnsw.efSearch = breadth
        found = one_by_one(lambda query: graph.search(query, depth), queries)
        rows.append(kept(options.output, f"hnsw-{breadth}", found, ("HNSW", breadth)))
    for probes in PROBES:
        inverted.nprobe = probes
        found = one_by_one(lambda query: inverted.search(query, depth), queries)
        rows.append(kept(options.output, f"ivf-{probes}", found, ("IVF", probes)))
    with (options.output / "settings.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "latency_ms", "index", "breadth"])
        writer.writerows(rows)


def kept(
    folder: Path, name: str, found: tuple[np.ndarray, np.ndarray, float], parameters: tuple[str, int]
) -> tuple[str, float, str, int]:
    """Write a run and return its line of the file of settings."""
    scores, numbers, milliseconds = found
    write_run(folder / f"{name}.run", scores, numbers, name)
    print(f"{name}: {milliseconds:.3f} ms")
    return (name, round(milliseconds, 4), *parameters)


if __name__ == "__main__":
    main()
