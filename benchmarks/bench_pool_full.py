"""`pool` of 350 million rows (50 runs × 7,000 queries × 1,000) from Parquet, within 12 GB.

    python -m benchmarks.bench_pool_full --folder FOLDER [--depth 100 1000] [--strategy depth rrf]

Not one of `make bench`: it writes about 3 GB of runs, kept in the folder, and as much again while it works.
Peak memory is that of the process, from the operating system.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench_pool import measure, pool_command
from benchmarks.generate import generate_parquet_run

MOST_MB = 12_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="where the runs are kept")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--rows", type=int, default=1000, help="documents of each query in a run")
    parser.add_argument("--depth", type=int, nargs="+", default=[100])
    parser.add_argument("--strategy", nargs="+", default=["depth", "rrf"])
    options = parser.parse_args()
    if options.folder is None:
        print("Left out: the full size needs a folder with 8 GB free; name it with --folder.")
        return
    paths = [
        generate_parquet_run(options.folder, index, options.queries, options.rows)
        for index in range(options.runs)
    ]
    rows = options.runs * options.queries * options.rows
    size = sum(path.stat().st_size for path in paths)
    print(f"{rows:,} rows, {size / 1e9:.2f} GB of Parquet", flush=True)
    output = options.folder / "pool.tsv"
    fine = True
    for depth in options.depth:
        for strategy in options.strategy:
            seconds, processor, peak = measure(pool_command(paths, depth, strategy=strategy, output=output))
            pairs = sum(block.count(b"\n") for block in blocks(output)) - 1
            output.unlink()
            fine = fine and peak <= MOST_MB
            print(
                f"depth {depth}, {strategy}: {seconds:.0f} s whole ({processor:.0f} s of processor), "
                f"peak {peak:,.0f} MB (limit {MOST_MB:,} MB), {pairs:,} pairs",
                flush=True,
            )
    raise SystemExit(0 if fine else 1)


def blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            yield block


if __name__ == "__main__":
    main()
