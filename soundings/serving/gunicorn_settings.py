"""How gunicorn runs under `serve`; the address and the number of processes come from the command line."""

from threading import Thread

from soundings.serving.warming import draw_first_picture, load_the_rest, load_what_forks

wsgi_app = "soundings.wsgi:application"
worker_class = "gthread"
# More would wait for each other rather than for the database: a full house is slower with eight (measured).
threads = 4
# Longer than a person reads: the next verdict finds its connection open.
keepalive = 75
# An upload of some gigabytes over a slow line must not look like a worker that hangs.
timeout = 300
graceful_timeout = 10
loglevel = "warning"


# The site is loaded once, and the processes that answer are copies of it.
preload_app = True


def when_ready(server: object) -> None:
    """Before the first process is started: load what all of them can share."""
    load_what_forks()


def post_worker_init(worker: object) -> None:
    """Before the first request: load what each process needs for itself, so that no page waits for it."""
    load_the_rest()
    Thread(target=draw_first_picture, daemon=True).start()


# One installation may serve several sites: no socket in the home folder.
control_socket_disable = True
