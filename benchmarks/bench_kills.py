"""The site as a team runs it, every process killed in turn under load: what is lost, and how long it takes.

    python -m benchmarks.bench_kills [--folder FOLDER] [--seconds 20]

Two web processes and two workers with their own host names and process numbers, as containers have them
(`unshare`, which needs root), PostgreSQL, Redis and a server of object storage of this run's own. Annotators
judge through both web processes, and somebody imports a corpus. Each process in turn gets `kill -9`, is
started again after five seconds, as a container would be, and the run counts acknowledged verdicts that are
not stored, the longest time without one, jobs that are not ended or taken up within a minute, and whether
somebody who was signed in still is. Exit code 1 when anything was lost or took longer.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.killed_site import KINDS, Killed, team_site

LIMIT_SECONDS = 60.0
HEAD = (
    f"{'killed':<12} {'verdicts':>8} {'lost':>5} {'longest gap':>12} {'jobs':>4} {'ended after':>12}  sign-in"
)


def main() -> None:
    arguments = parse()
    folder = Path(arguments.folder or tempfile.mkdtemp(prefix="bench-kills-"))
    folder.chmod(0o755)  # the server of the database runs as another account
    wrong = 0
    try:
        with team_site(folder) as site:
            print(HEAD, flush=True)
            for kind in arguments.only or KINDS:
                found = asyncio.run(site.kill_under_load(kind, arguments.seconds))
                wrong += report(found)
    finally:
        if not arguments.folder:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if wrong else 0)


def report(found: Killed) -> int:
    """Print a line, and count what should not be."""
    ended = max(found.job_seconds, default=0.0)
    print(
        f"{found.kind:<12} {found.verdicts:>8} {found.lost:>5} {found.longest_gap:>10.1f} s {found.jobs:>4} "
        f"{ended:>10.1f} s  {'stayed' if found.stayed_signed_in else 'LOST'}; {found.told()}",
        flush=True,
    )
    return found.lost + found.unended + (ended > LIMIT_SECONDS) + (not found.stayed_signed_in)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", help="where data and logs lie; kept (default: a temporary one)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of load for each kill")
    parser.add_argument("--only", nargs="+", choices=KINDS, help="kill these alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
