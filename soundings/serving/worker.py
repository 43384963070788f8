"""`python -m soundings.serving.worker QUEUE …`: the background worker as `serve` starts it."""

from __future__ import annotations

import gc
import logging
import os
import sys

import django


def main() -> int:
    gc.disable()  # nothing of what is loaded is garbage
    django.setup()
    from soundings.serving.work import Work  # Cut: it needs models, and these a Django that is set up

    gc.freeze()
    gc.enable()
    return Work(sys.argv[1:]).run()


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # Threads in the middle of a task do not end by themselves.
    os._exit(code)
