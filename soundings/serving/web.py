"""gunicorn as `serve` starts it: imports nothing from the folder it starts in, and ends with its keeper."""

from __future__ import annotations

import os
import signal
import sys

from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.arbiter import Arbiter

from soundings.serving.keeper import keeper_is_gone


class KeptArbiter(Arbiter):  # type: ignore[misc]  # untyped
    """Stops when the process that keeps it is gone; its own processes do the same when it is."""

    def murder_workers(self) -> None:
        """Every second: end the processes that hang, and itself where nobody keeps it."""
        super().murder_workers()
        if keeper_is_gone():
            os.kill(os.getpid(), signal.SIGTERM)


class Web(WSGIApplication):  # type: ignore[misc]  # untyped
    def chdir(self) -> None:
        """Stay here; gunicorn would put this folder first on the path of imports."""

    def run(self) -> None:
        try:
            KeptArbiter(self).run()
        except RuntimeError as error:
            sys.exit(f"Error: {error}")


if __name__ == "__main__":
    Web("%(prog)s [OPTIONS]").run()
