from __future__ import annotations

import gzip

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

from pooling.interface.chart_library import chart_library, library_version


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
