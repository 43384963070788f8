"""Claims ten items of a queue and gives them back, ten times a second; prints the seconds of each claim.

Started by `bench_prelabels.py` with the queue and the number of rounds; ends early at a word on stdin.
"""

from __future__ import annotations

import select
import sys
import time

import django

PAUSE = 0.1


def main() -> None:
    django.setup()
    from django.contrib.auth.models import User

    from labeling.models import Queue
    from labeling.queues import claim, release

    queue, ben = Queue.objects.get(pk=int(sys.argv[1])), User.objects.get(username="ben")
    for _ in range(int(sys.argv[2])):
        began = time.perf_counter()
        leases = claim(queue, ben, 10).leases
        print(time.perf_counter() - began, flush=True)
        release(queue, ben, [lease.token for lease in leases])
        if select.select([sys.stdin], [], [], PAUSE)[0] and sys.stdin.readline():
            return


if __name__ == "__main__":
    main()
