"""`evaluate` as a whole process beside ranx and pytrec-eval-terrier, each fresh and from the same TREC files.

    python -m benchmarks.bench_evaluate [--queries 100000] [--depth 100] [--repeat 3] [--skip-ranx]

Limits at 100,000 queries × 100: 20 times faster than ranx, 8 times faster than pytrec-eval-terrier, below 1.2
GB. Start-up of the interpreter and of all libraries is part of every figure.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from benchmarks.generate import generate_qrels, generate_runs

ROOT = Path(__file__).resolve().parents[1]
CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
FASTER_THAN = {"ranx": 20, "pytrec-eval": 8}
MOST_BYTES = 1.2e9

RANX = """
import json, sys
from ranx import Qrels, Run, evaluate
qrels, run = Qrels.from_file(sys.argv[1], kind="trec"), Run.from_file(sys.argv[2], kind="trec")
print(json.dumps({name: float(value) for name, value in evaluate(qrels, run, sys.argv[3:]).items()}))
"""
PYTREC_EVAL = """
import json, sys
import pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
cutoffs = [name.partition("@")[2] for name in sys.argv[3:]]
results = pytrec_eval.RelevanceEvaluator(qrels, {"recall." + ",".join(cutoffs)}).evaluate(run)
means = {k: sum(values["recall_" + k] for values in results.values()) / len(results) for k in cutoffs}
print(json.dumps({"recall@" + k: mean for k, mean in means.items()}))
"""


@dataclass(frozen=True)
class Measured:
    """The best wall time of some runs of a process, its processor time, its peak memory and what it
    printed."""

    seconds: float
    processor_seconds: float
    peak_bytes: int
    output: str


def measure(command: list[str], repeat: int) -> Measured:
    return min((measure_once(command) for _ in range(repeat)), key=lambda measured: measured.seconds)


def measure_once(command: list[str]) -> Measured:
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:3])} ended with {process.returncode}.")
    elapsed = time.perf_counter() - started
    return Measured(elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)


def means_of_ours(output: str) -> dict[str, float]:
    (figures,) = json.loads(output)["runs"].values()
    return {f"recall@{k}": figures[f"recall@{k}"]["mean"] for k in CUTOFFS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--skip-ranx", action="store_true")
    options = parser.parse_args()
    folder = Path(gettempdir()) / "soundings-benchmarks"
    qrels = generate_qrels(folder, options.queries, depth=options.depth)
    (run,) = generate_runs(folder, 1, options.queries, options.depth)
    files = [str(qrels), str(run)]
    names = [f"recall@{k}" for k in CUTOFFS]

    ours = measure([sys.executable, "manage.py", "evaluate", *files], options.repeat)
    peers = {"pytrec-eval": PYTREC_EVAL} | ({} if options.skip_ranx else {"ranx": RANX})
    measured = {
        name: measure([sys.executable, "-c", script, *files, *names], 1 if name == "ranx" else options.repeat)
        for name, script in peers.items()
    }
    as_json = measure(
        [sys.executable, "manage.py", "evaluate", *files, "--format", "json", "--preset", "trec_eval"], 1
    )
    report(ours, measured, means_of_ours(as_json.output))


def report(ours: Measured, peers: dict[str, Measured], means: dict[str, float]) -> None:
    """Print every figure beside its limit; exit code 1 when one is missed or the numbers differ."""
    print_line("evaluate", ours)
    kept = ours.peak_bytes <= MOST_BYTES
    checks = [f"memory: {verdict(kept)} (at most {MOST_BYTES / 1e9:.1f} GB)"]
    for name, peer in peers.items():
        ratio, processor = (peer.seconds / ours.seconds, peer.processor_seconds / ours.processor_seconds)
        print_line(name, peer, f"{ratio:6.1f} × the time of evaluate, {processor:.1f} × its processor time")
        theirs = json.loads(peer.output.splitlines()[-1])
        equal = all(abs(theirs[key] - means[key]) <= 1e-6 for key in means)
        fast = ratio >= FASTER_THAN[name]
        checks.append(f"{name}: {verdict(fast)} (at least {FASTER_THAN[name]} ×)")
        checks.append(f"{name}: {'equal means' if equal else 'DIFFERENT MEANS'}")
        kept = kept and fast and equal
    print("\n".join(checks))
    sys.exit(int(not kept))


def verdict(kept: bool) -> str:
    return "limit kept" if kept else "LIMIT MISSED"


def print_line(name: str, measured: Measured, note: str = "") -> None:
    print(
        f"{name:12} {measured.seconds:7.2f} s  processor {measured.processor_seconds:7.2f} s  "
        f"peak {measured.peak_bytes / 1e9:5.2f} GB  {note}"
    )


if __name__ == "__main__":
    main()
