"""Uses a given share of one processor and touches nothing else until it is ended.

What `bench_prelabel_claims` holds a pass against.
"""

from __future__ import annotations

import sys
import time


def main() -> None:
    share, began = float(sys.argv[1]), time.monotonic()
    while True:
        while time.process_time() < share * (time.monotonic() - began):
            sum(range(1000))
        time.sleep(0.002)


if __name__ == "__main__":
    main()
