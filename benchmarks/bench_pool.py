"""`pool` as a whole process on generated runs, against the limits of the design.

    python -m benchmarks.bench_pool            5 runs × 500 queries × 100
    python -m benchmarks.bench_pool --large    and 50 runs × 700 queries × 1,000 (2 GB of files)

Start-up is what `pool` needs for one run of one line, interpreter and libraries included; it is measured in
the same way in the same minute and subtracted. Peak memory is that of the process, from the operating system.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.generate import generate_runs

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 3


def pool_command(
    paths: list[Path], depth: int, *, strategy: str = "rrf", output: Path | str = os.devnull
) -> list[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "pool", *map(str, paths), "--depth", str(depth)]
    return [*command, "--strategy", strategy, "--output", str(output)]


def measure(command: list[str]) -> tuple[float, float, float]:
    """(seconds, seconds of processor time, peak MB) of a whole process."""
    started = time.perf_counter()
    _, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, command[0], command), 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{' '.join(command)[:200]} failed with status {status}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def best_of(command: list[str], repeats: int) -> tuple[float, float, float]:
    """The quickest of some repeats: other work on the machine only ever adds to a time."""
    return min(measure(command) for _ in range(repeats))


def report(label: str, paths: list[Path], depth: int, limits: tuple[float, float], start_up: float) -> bool:
    """Print one line; whether both limits hold. A start-up of 0 means that nothing is subtracted."""
    seconds, processor, peak = best_of(pool_command(paths, depth), REPEATS if start_up else 1)
    net = seconds - start_up
    within = net <= limits[0] and peak <= limits[1]
    print(
        f"{label}, depth {depth}: {seconds:.2f} s whole ({processor:.2f} s of processor), "
        f"{net:.2f} s less start-up of {start_up:.2f} s "
        f"(limit {limits[0]:g} s), peak {peak:,.0f} MB (limit {limits[1]:,.0f} MB): "
        f"{'within' if within else 'OVER'} the limits"
    )
    return within


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also the 35 million lines")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "soundings-benchmarks")
    options = parser.parse_args()
    start_up, _, _ = best_of(pool_command(generate_runs(options.folder, 1, 1, 1), 1), REPEATS)
    small = generate_runs(options.folder, 5, 500, 100)
    fine = [report("5 runs × 500 queries × 100", small, 100, (1.0, 3000.0), start_up)]
    if options.large:
        large = generate_runs(options.folder, 50, 700, 1000)
        fine += [
            report("50 runs × 700 queries × 1,000", large, depth, (10.0, 3000.0), 0.0)
            for depth in (100, 1000)
        ]
    raise SystemExit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
