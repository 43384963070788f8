"""`evaluate` as a whole process beside ranx and pytrec-eval-terrier, each fresh and from the same TREC files.

    python -m benchmarks.bench_evaluate [--queries 100000] [--depth 100] [--repeat 3] [--skip-ranx] [--all]

Limits at 100,000 queries × 100: 20 times faster than ranx, 8 times faster than pytrec-eval-terrier, below 1.2
GB. With --all every measure is computed at seven cutoffs, by the peers those of the list that they know, and
the limits are 15 and 6 times. Start-up of the interpreter and of all libraries is part of every figure.
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
from evaluation.measures import MEASURES

ROOT = Path(__file__).resolve().parents[1]
CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
FASTER_THAN = {"ranx": 20, "pytrec-eval": 8}
FASTER_WITH_ALL = {"ranx": 15, "pytrec-eval": 6}
#: Measure here -> its name there. Those that end in @ are computed at every cutoff.
IN_RANX = {
    "recall@": "recall@",
    "precision@": "precision@",
    "f1@": "f1@",
    "success@": "hit_rate@",
    "ndcg@": "ndcg@",
    "map@": "map@",
    "mrr@": "mrr@",
    "map": "map",
    "mrr": "mrr",
    "rprecision": "r-precision",
    "bpref": "bpref",
}
IN_PYTREC_EVAL = {
    "recall@": "recall_",
    "precision@": "P_",
    "success@": "success_",
    "ndcg@": "ndcg_cut_",
    "map@": "map_cut_",
    "map": "map",
    "mrr": "recip_rank",
    "rprecision": "Rprec",
    "bpref": "bpref",
    "infap": "infAP",
}
#: Computed there by another convention, so that the times compare and the numbers do not: documents without
#: a label count as not relevant.
OTHERWISE = {"ranx": {"bpref"}}
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
asked = {}
for name in sys.argv[3:]:
    base, _, k = name.rpartition("_") if name[-1].isdigit() else (name, "", "")
    asked.setdefault(base, []).append(k)
measures = {base + ("." + ",".join(ks) if ks[0] else "") for base, ks in asked.items()}
results = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
means = {name: sum(values[name] for values in results.values()) / len(results) for name in sys.argv[3:]}
print(json.dumps(means))
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
    # With the bytecode that an installed package has, whatever is set here.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env=environment
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:3])} ended with {process.returncode}.")
    elapsed = time.perf_counter() - started
    return Measured(elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)


def names_there(names: dict[str, str], every: bool) -> dict[str, str]:
    """Key here -> name there, such as recall@10 -> recall_10; only those of recall unless `every`."""
    result: dict[str, str] = {}
    for here, there in names.items():
        if here.endswith("@") and (every or here == "recall@"):
            result |= {f"{here}{k}": f"{there}{k}" for k in CUTOFFS}
        elif every and not here.endswith("@"):
            result[here] = there
    return result


def means_of_ours(files: list[str], measures: list[str]) -> dict[str, float]:
    command = [sys.executable, "manage.py", "evaluate", *files, "--format", "json", "--preset", "trec_eval"]
    output = measure([*command, "--measure", *measures], 1).output
    (figures,) = json.loads(output)["runs"].values()
    return {key: figure["mean"] for key, figure in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--skip-ranx", action="store_true")
    parser.add_argument("--all", action="store_true", help="every measure at seven cutoffs")
    options = parser.parse_args()
    folder = Path(gettempdir()) / "soundings-benchmarks"
    qrels = generate_qrels(folder, options.queries, depth=options.depth)
    (run,) = generate_runs(folder, 1, options.queries, options.depth)
    files = [str(qrels), str(run)]
    at_each = [f"{measure}@{k}" for measure in ("map", "mrr") for k in CUTOFFS]
    measures = [*MEASURES, *at_each] if options.all else ["recall"]
    scripts = {"pytrec-eval": (PYTREC_EVAL, IN_PYTREC_EVAL)}
    if not options.skip_ranx:
        scripts["ranx"] = (RANX, IN_RANX)

    # Alternating, so that all meet the same neighbours on a shared machine.
    ours = [
        sys.executable,
        "manage.py",
        "evaluate",
        *files,
        *(["--measure", *measures] if options.all else []),
    ]
    names = {peer: names_there(known, options.all) for peer, (_, known) in scripts.items()}
    commands = {
        peer: [sys.executable, "-c", script, *files, *names[peer].values()]
        for peer, (script, _) in scripts.items()
    }
    measured: dict[str, list[Measured]] = {name: [] for name in ("ours", *commands)}
    for turn in range(options.repeat):
        measured["ours"].append(measure_once(ours))
        for peer, command in commands.items():
            if peer != "ranx" or not turn:
                measured[peer].append(measure_once(command))
    best = {name: min(many, key=lambda one: one.seconds) for name, many in measured.items()}
    limits = FASTER_WITH_ALL if options.all else FASTER_THAN
    report(best.pop("ours"), best, names, means_of_ours(files, measures), limits)


def report(
    ours: Measured,
    peers: dict[str, Measured],
    names: dict[str, dict[str, str]],
    means: dict[str, float],
    limits: dict[str, int],
) -> None:
    """Print every figure beside its limit; exit code 1 when one is missed or the numbers differ."""
    print_line("evaluate", ours)
    kept = ours.peak_bytes <= MOST_BYTES
    checks = [f"memory: {verdict(kept)} (at most {MOST_BYTES / 1e9:.1f} GB)"]
    for name, peer in peers.items():
        ratio, processor = (peer.seconds / ours.seconds, peer.processor_seconds / ours.processor_seconds)
        print_line(name, peer, f"{ratio:6.1f} × the time of evaluate, {processor:.1f} × its processor time")
        theirs = json.loads(peer.output.splitlines()[-1])
        compared = {key: there for key, there in names[name].items() if key not in OTHERWISE.get(name, ())}
        differing = [key for key, there in compared.items() if abs(theirs[there] - means[key]) > 1e-6]
        fast = ratio >= limits[name]
        checks.append(f"{name}: {verdict(fast)} (at least {limits[name]} ×)")
        checks.append(f"{name}: {len(compared)} means, {note_of(differing)}")
        kept = kept and fast and not differing
    print("\n".join(checks))
    sys.exit(int(not kept))


def note_of(differing: list[str]) -> str:
    return f"DIFFERENT: {', '.join(differing)}" if differing else "all equal"


def verdict(kept: bool) -> str:
    return "limit kept" if kept else "LIMIT MISSED"


def print_line(name: str, measured: Measured, note: str = "") -> None:
    print(
        f"{name:12} {measured.seconds:7.2f} s  processor {measured.processor_seconds:7.2f} s  "
        f"peak {measured.peak_bytes / 1e9:5.2f} GB  {note}"
    )


if __name__ == "__main__":
    main()
