"""Settings of gunicorn for the bare Django queue: those of the site, without what loads the site."""

import gc

from soundings.serving.gunicorn_settings import *  # noqa: F403


def when_ready(server: object) -> None:
    """Nothing of the site is shared."""


def post_worker_init(worker: object) -> None:
    gc.freeze()
    gc.enable()
