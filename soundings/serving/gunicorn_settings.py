"""How gunicorn runs under `serve`; the address and the number of processes come from the command line."""

from importlib import import_module
from threading import Thread

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


def post_worker_init(worker: object) -> None:
    """Load what ordering an adaptive queue needs while the first requests are served: no verdict waits for
    it.
    """
    Thread(target=import_module, args=["labeling.adaptive.next_documents"], daemon=True).start()


# One installation may serve several sites: no socket in the home folder.
control_socket_disable = True
