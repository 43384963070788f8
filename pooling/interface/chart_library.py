"""The script that draws pictures which answer to the pointer: vega-embed with Vega and Vega-Lite, out of
vl-convert, which brings it along, kept as a file. Nothing is fetched from elsewhere.

It is made when it is first asked for, in a separate process, because that takes seconds of processor time.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from uuid import uuid4

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

from pooling.interface.charting import grammar_version

_ONE_AT_A_TIME = Lock()
SECONDS = 120


@cache
def library_version() -> str:
    """Of vl-convert, whose bundle it is; part of the address, so that it may be kept for ever."""
    return version("vl-convert-python")


def chart_library() -> Path:
    path = Path(settings.DERIVED_DIR) / "charts" / f"vega-embed-{library_version()}.js.gz"
    with _ONE_AT_A_TIME:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{uuid4().hex}")
            command = [sys.executable, "-m", "pooling.interface.chart_library", str(part.resolve())]
            subprocess.run(command, check=True, timeout=SECONDS, cwd=settings.BASE_DIR)  # noqa: S603
            part.replace(path)
    return path


def write_library(path: Path) -> None:
    import vl_convert

    # Without a snippet it defines window.vegaEmbed.
    script = vl_convert.javascript_bundle(vl_version=grammar_version())  # type: ignore[call-arg]
    path.write_bytes(gzip.compress(script.encode(), mtime=0))


@require_safe
def library(request: HttpRequest, version: str) -> HttpResponse:
    """The script of one version; open to everybody, as every static file is."""
    if version != library_version():
        raise Http404("This version of the script is gone; reload the page.")
    content = chart_library().read_bytes()
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(content if zipped else gzip.decompress(content), content_type="text/javascript")
    if zipped:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    patch_cache_control(response, public=True, max_age=31_536_000, immutable=True)
    return response


if __name__ == "__main__":
    write_library(Path(sys.argv[1]))
