"""gunicorn's settings under `serve`, for its small parent process; address and processes are arguments."""

import gc
import os
from typing import Any

from soundings.serving.keeper import IN_WEB

wsgi_app = "soundings.wsgi:application"
worker_class = "soundings.serving.patient.PatientWorker"
# More would wait for each other rather than for the database: a full house is slower with eight (measured).
threads = 4
# Of a thousand files that a process may have open by default, the rest is for what the site does.
worker_connections = 800
# An address may hold the runs of a whole track: the head of a request has its bound in `line`.
limit_request_line = 0
# Longer than a person reads: the next verdict finds its connection open.
keepalive = 75
# An upload of some gigabytes over a slow line must not look like a worker that hangs.
timeout = 300
graceful_timeout = 10
loglevel = "warning"

# Nothing of what is loaded is garbage: looking for some takes a sixth of the start, and is repeated for good.
gc.disable()


def when_ready(server: Any) -> None:
    """Before the first process is started: load what several of them can share."""
    if server.cfg.preload_app:
        from soundings.serving.warming import load_what_forks  # Cut: not in a process that does not answer

        load_what_forks()
        gc.freeze()


def post_worker_init(worker: object) -> None:
    """Before the first request: load what each process needs for itself, so that no page waits for it."""
    # Cut: in this process, and not in the one that looks after it.
    from soundings.serving.warming import load_the_rest, load_what_forks

    load_what_forks()
    load_the_rest()
    gc.freeze()
    gc.enable()
    if IN_WEB in os.environ:
        # Cut: models need a Django that is set up.
        from soundings.serving.housekeeping import keep_house_in_web

        keep_house_in_web()


# One installation may serve several sites: no socket in the home folder.
control_socket_disable = True
