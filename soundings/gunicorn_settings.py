"""How gunicorn runs under `serve`; the address and the number of processes come from the command line."""

wsgi_app = "soundings.wsgi:application"
worker_class = "gthread"
threads = 8
# Longer than a person reads: the next verdict finds its connection open.
keepalive = 75
# An upload of some gigabytes over a slow line must not look like a worker that hangs.
timeout = 300
graceful_timeout = 10
loglevel = "warning"
# One installation may serve several sites: no socket in the home folder.
control_socket_disable = True
