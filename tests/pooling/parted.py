"""Small runs whose queries fall into several parts; not every run answers every query."""

from pathlib import Path

import numpy as np


def write_runs(folder: Path, runs: int = 3, queries: int = 12, depth: int = 8) -> list[Path]:
    """TREC runs with ties; the first one begins with a comment, and each lacks some queries."""
    random = np.random.default_rng(7)
    paths = []
    for run in range(runs):
        lines = ["# a comment"] if run == 0 else []
        for query in range(queries):
            if query % runs == run and query > runs:
                continue
            documents = random.permutation(2 * depth)[:depth]
            scores = -np.sort(-random.integers(0, depth, size=depth))
            lines += [
                f"q{query} Q0 d{document} {rank} {score} run{run}"
                for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
            ]
        path = folder / f"run{run}.run"
        path.write_text("\n".join(lines) + "\n")
        paths.append(path)
    return paths
