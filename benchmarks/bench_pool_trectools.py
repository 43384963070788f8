"""`pool` beside trectools' pool maker, both as fresh processes from the same TREC files, to the same pool.

    python -m benchmarks.bench_pool_trectools [--runs 5] [--queries 500] [--rows 100] [--depth 100]

Needs trectools (pip install trectools), which is no dependency of this project. Limit: 20 times less
processor time, start-up of both subtracted; the wall times of whole processes stand beside it.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bench_pool import ROOT, best_of
from benchmarks.generate import generate_runs

FASTER_THAN = 20
SCRIPT = """
import sys, time
from trectools import TrecPoolMaker
started = time.process_time()
pool = TrecPoolMaker().make_pool_from_files(sys.argv[3:], strategy=sys.argv[1], topX=int(sys.argv[2]))
print("seconds", time.process_time() - started)
for query, documents in pool.pool.items():
    for document in documents:
        print(query, document)
"""


def theirs(
    paths: list[Path], strategy: str, depth: int, limit: float
) -> tuple[float, float, set[tuple[str, ...]]]:
    """(seconds of the whole process, of processor time for pooling alone, the pairs)."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, strategy, str(depth), *map(str, paths)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit)
    seconds = time.perf_counter() - started
    first, *lines = done.stdout.splitlines()
    return seconds, float(first.split()[1]), {tuple(line.split()) for line in lines}


def ours(paths: list[Path], depth: int) -> set[tuple[str, ...]]:
    command = [sys.executable, str(ROOT / "manage.py"), "pool", *map(str, paths), "--depth", str(depth)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {tuple(line.split("\t")[:2]) for line in done.stdout.splitlines()[1:]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--rows", type=int, default=100, help="documents of each query in a run")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--limit", type=float, default=1800, help="seconds after which trectools is stopped")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "soundings-benchmarks")
    options = parser.parse_args()
    if subprocess.run(
        [sys.executable, "-c", "import trectools"], capture_output=True, check=False
    ).returncode:
        print("Left out: trectools is not installed (pip install trectools).")
        return
    paths = generate_runs(options.folder, options.runs, options.queries, options.rows)
    _, start_up, _ = best_of(generate_runs(options.folder, 1, 1, 1), 1, 3)
    whole, processor, peak = best_of(paths, options.depth, 3)
    print(
        f"pool: {whole:.2f} s whole ({processor:.2f} s of processor), "
        f"{processor - start_up:.2f} s of it less start-up, peak {peak:,.0f} MB",
        flush=True,
    )
    pairs, fine = ours(paths, options.depth), True
    # RRF is asked for as many documents as there can be, so that its pool is that of all pairs too.
    for strategy, most in (("topX", options.depth), ("rrf", options.runs * options.depth)):
        try:
            seconds, pooling, found = theirs(paths, strategy, most, options.limit)
        except subprocess.TimeoutExpired:
            print(f"trectools {strategy}: stopped after {options.limit:g} s")
            continue
        ratio, net = seconds / whole, pooling / max(processor - start_up, 1e-3)
        same = found == pairs
        fine = fine and same and net >= FASTER_THAN
        print(
            f"trectools {strategy}: {seconds:.1f} s whole, {pooling:.1f} s of processor less start-up: "
            f"{ratio:.1f} × and {net:.0f} × ours (at least {FASTER_THAN} ×); "
            f"{'the same pool' if same else 'ANOTHER POOL'}",
            flush=True,
        )
    raise SystemExit(0 if fine else 1)


if __name__ == "__main__":
    main()
