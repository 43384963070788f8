"""Claims ten items of a queue and gives them back, ten times a second, until a word on stdin.

Prints a JSON object for each claim: `at`, when it began by the monotonic clock, and by part (`begin`: waiting
for the database's lock, on SQLite; `commit`: bringing it to the disk; `all`) a list of seconds: by the clock,
of this process's processor, and of waiting for a processor (Linux). Started by `bench_prelabel_claims.py`.
"""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django

PAUSE = 0.1


def main() -> None:
    django.setup()
    from django.contrib.auth.models import User
    from django.db import connection

    from labeling.judging.leases import claim, release
    from labeling.models import Queue

    queue, ben = Queue.objects.get(pk=int(sys.argv[1])), User.objects.get(username="ben")
    parts: dict[str, list[float]] = {}

    @contextmanager
    def timed(part: str) -> Iterator[None]:
        before = _clocks()
        yield
        taken = [after - start for after, start in zip(_clocks(), before, strict=True)]
        parts[part] = [sum(pair) for pair in zip(parts.get(part, [0.0] * 3), taken, strict=True)]

    def execute(run: Callable[..., Any], statement: str, *rest: Any) -> Any:
        if not statement.startswith("BEGIN"):
            return run(statement, *rest)
        with timed("begin"):
            return run(statement, *rest)

    commit = connection.commit

    def timed_commit() -> None:
        with timed("commit"):
            commit()

    connection.commit = timed_commit  # type: ignore[method-assign]
    with connection.execute_wrapper(execute):
        while True:
            parts.clear()
            at = time.monotonic()
            with timed("all"):
                leases = claim(queue, ben, 10).leases
            print(json.dumps({"at": at, **parts}), flush=True)
            release(queue, ben, [lease.token for lease in leases])
            if select.select([sys.stdin], [], [], PAUSE)[0]:
                return


def _clocks() -> tuple[float, float, float]:
    """Seconds of the clock, of the processor, and of waiting for one."""
    waited = int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    return time.monotonic(), time.process_time(), waited


if __name__ == "__main__":
    main()
