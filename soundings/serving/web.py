"""gunicorn as `serve` starts it: it imports nothing from the folder that it is started in."""

from __future__ import annotations

from gunicorn.app.wsgiapp import WSGIApplication


class Web(WSGIApplication):  # type: ignore[misc]  # untyped
    """gunicorn with its own options."""

    def chdir(self) -> None:
        """Stay here; gunicorn would put this folder first on the path of imports."""


if __name__ == "__main__":
    Web("%(prog)s [OPTIONS]").run()
