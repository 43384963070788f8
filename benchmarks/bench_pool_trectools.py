"""`pool` beside trectools' pool maker, both as fresh processes from the same TREC files, to the same pool.

    python -m benchmarks.bench_pool_trectools [--runs 5] [--queries 500] [--rows 100] [--depth 100]
                                              [--peer PYTHON] [--strategy depth rrf]

Needs trectools, which is no dependency of this project: `pip install trectools` here, or in an environment of
its own whose interpreter --peer names. Limit: 20 times less processor time, whole processes, from the start
of the interpreter to the file written. `depth` stands beside its topX. trectools writes no pool with its
figures, so its side writes the pairs alone, ours the whole table.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bench_pool import best_of, pool_command
from benchmarks.generate import generate_runs

FASTER_THAN = 20
IN_TRECTOOLS = {"depth": "topX", "rrf": "rrf"}
SCRIPT = """
import resource, sys
from trectools import TrecPoolMaker
strategy, most, output, memory, *paths = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
pool = TrecPoolMaker().make_pool_from_files(paths, strategy=strategy, topX=int(most))
with open(output, "w") as file:
    for query, documents in pool.pool.items():
        for document in documents:
            file.write(f"{query}\\t{document}\\n")
"""


def pairs_in(path: Path) -> set[str]:
    with path.open() as file:
        return {"\t".join(line.rstrip("\n").split("\t")[:2]) for line in file}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--rows", type=int, default=100, help="documents of each query in a run")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--strategy", nargs="+", choices=IN_TRECTOOLS, default=list(IN_TRECTOOLS))
    parser.add_argument("--peer", default=sys.executable, help="a Python that has trectools")
    parser.add_argument("--repeats", type=int, default=3, help="the quickest counts")
    parser.add_argument("--most-gb", type=float, default=16, help="memory after which trectools gives up")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "soundings-benchmarks")
    options = parser.parse_args()
    if subprocess.run([options.peer, "-c", "import trectools"], capture_output=True, check=False).returncode:
        print("Left out: trectools is not installed (pip install trectools).")
        return
    paths = generate_runs(options.folder, options.runs, options.queries, options.rows)
    fine = [compare(paths, strategy, options) for strategy in options.strategy]
    raise SystemExit(0 if all(fine) else 1)


def compare(paths: list[Path], strategy: str, options: argparse.Namespace) -> bool:
    """Print one line for each side; whether the limit holds and both made the same pool."""
    our_pool, their_pool = (options.folder / name for name in ("pool.tsv", "trectools.tsv"))
    command = pool_command(paths, options.depth, strategy=strategy, output=our_pool)
    seconds, processor, peak = best_of(command, options.repeats)
    print(f"pool {strategy}: {told(seconds, processor, peak)}", flush=True)
    # RRF is asked for as many documents as there can be, so that its pool is that of all pairs too.
    most = options.depth * (options.runs if strategy == "rrf" else 1)
    memory = int(options.most_gb * 1e9)
    arguments = [IN_TRECTOOLS[strategy], str(most), str(their_pool), str(memory), *map(str, paths)]
    command = [options.peer, "-W", "ignore", "-c", SCRIPT, *arguments]
    try:
        theirs = best_of(command, options.repeats)
    except SystemExit:
        print(f"trectools {IN_TRECTOOLS[strategy]}: cannot, with {options.most_gb:g} GB of memory")
        return True
    ratio = theirs[1] / processor
    same = pairs_in(our_pool) - {"query_id\tdocument_id"} == pairs_in(their_pool)
    verdict = "the same pool" if same else "ANOTHER POOL"
    print(
        f"trectools {IN_TRECTOOLS[strategy]}: {told(*theirs)}: {ratio:.1f} × ours "
        f"(at least {FASTER_THAN} ×); {verdict}",
        flush=True,
    )
    return same and ratio >= FASTER_THAN


def told(seconds: float, processor: float, peak: float) -> str:
    return f"{seconds:.2f} s whole ({processor:.2f} s of processor), peak {peak:,.0f} MB"


if __name__ == "__main__":
    main()
