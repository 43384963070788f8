"""`python -m soundings.serving.worker QUEUE …`: the background worker as `serve` starts it."""

from __future__ import annotations

import logging
import os
import sys

import django


def main() -> int:
    """Do the work of these queues until told to stop."""
    django.setup()
    from soundings.serving.work import Work  # Cut: it needs models, and these a Django that is set up

    return Work(sys.argv[1:]).run()


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # Threads in the middle of a task do not end by themselves.
    os._exit(code)
