"""Making a collection and changing its name, question and guidelines."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from pooling.interface.forms import show_problem
from pooling.interface.markdown import render_markdown
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, collection_for, require_creator
from pooling.people.forms import CollectionForm, NewCollectionForm
from pooling.people.membership import change_collection, create_collection


@login_required
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """A form for a new collection; the person who fills it becomes its admin."""
    require_creator(request.user)
    form = NewCollectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            collection = create_collection(request.user, **form.cleaned_data)  # type: ignore[arg-type]
            messages.success(request, f"Created “{collection.name}”. Its queries come first.")
            return redirect("queries", collection.slug)
        except InputError as error:
            show_problem(form, error)
    preview = render_markdown(form["guidelines"].value() or "")
    return render(request, "pooling/collection_new.html", {"form": form, "preview": preview})


@login_required
@require_POST
def guidelines_preview(request: HttpRequest) -> HttpResponse:
    """Guidelines as annotators would see them, while somebody writes them."""
    return HttpResponse(render_markdown(request.POST.get("guidelines", "")))


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for what annotators read: name, question and guidelines."""
    collection = collection_for(request.user, slug, ADMIN)
    form = CollectionForm(request.POST or None, instance=collection)
    if request.method == "POST" and form.is_valid():
        change_collection(collection, by=person(request), **form.cleaned_data)
        messages.success(request, "Saved. Annotators see the new text on their next page.")
        return redirect("collection", slug)
    preview = render_markdown(form["guidelines"].value() or "")
    context = {"form": form, "preview": preview, "collection": collection, "section": "settings"}
    return render(request, "pooling/collection_edit.html", context)
