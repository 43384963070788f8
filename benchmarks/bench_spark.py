"""`--engine spark` beside the local engine in one run: `evaluate` on 100,000 queries × 100, and `pool`.

    python -m benchmarks.bench_spark             and 5 runs × 500 queries × 100 for `pool`
    python -m benchmarks.bench_spark --large     and 50 runs × 700 queries × 1,000 for `pool` (2 GB of files)

Whole processes, start-up included. Fails when the two engines do not print the same.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.generate import generate_qrels, generate_runs
from pooling.merging.spark import missing

ROOT = Path(__file__).resolve().parent.parent


def measure(command: list[str], engine: str) -> tuple[float, bytes]:
    """(seconds, what was printed)."""
    started = time.perf_counter()
    arguments = [sys.executable, str(ROOT / "manage.py"), *command, "--engine", engine]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started, done.stdout


def compare(label: str, command: list[str]) -> bool:
    """Print one line; whether both printed the same."""
    (local, expected), (spark, found) = (measure(command, engine) for engine in ("local", "spark"))
    same = expected == found
    verdict = "the same output" if same else "DIFFERENT OUTPUT"
    print(f"{label}: local {local:.1f} s, spark {spark:.1f} s, {spark / local:.1f} ×; {verdict}", flush=True)
    return same


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also the 35 million lines")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "soundings-benchmarks")
    options = parser.parse_args()
    if (sentence := missing()) is not None:
        print(f"Left out: {sentence}")
        return
    qrels = generate_qrels(options.folder, 100_000)
    (run,) = generate_runs(options.folder, 1, 100_000, 100)
    small = generate_runs(options.folder, 5, 500, 100)
    fine = [
        compare("evaluate 100,000 × 100", ["evaluate", str(qrels), str(run), "--format", "json"]),
        compare("pool 5 × 500 × 100", ["pool", *map(str, small), "--depth", "100"]),
    ]
    if options.large:
        large = generate_runs(options.folder, 50, 700, 1000)
        fine.append(compare("pool 50 × 700 × 1,000", ["pool", *map(str, large), "--depth", "100"]))
    raise SystemExit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
