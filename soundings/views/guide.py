"""The user guide's pages; open to everybody, since they say nothing about anybody's collection."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from pooling.interface.markdown import render_markdown
from soundings.guide import PAGES, guide_page


@require_safe
def guide(request: HttpRequest, page: str = "") -> HttpResponse:
    """One page of the guide beside the list of all; without a name, go to the first."""
    if not page:
        return redirect("guide_page", "start")
    if page not in PAGES:
        raise Http404(f"The guide has no page “{page}”.")
    shown = guide_page(page)
    context = {"page": shown, "pages": PAGES, "html": render_markdown(shown.text)}
    return render(request, "soundings/guide.html", context)
