from __future__ import annotations

from copy import copy
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.http import require_http_methods, require_POST

from pooling.interface.forms import FIRST, EditForm, GroupedForm, show_problem
from pooling.interface.languages import ENGLISH, LANGUAGES
from pooling.interface.markdown import render_markdown
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for, require_creator
from pooling.people.membership import (
    LONGEST_HOSTS,
    change_collection,
    create_collection,
    free_slug,
    image_hosts_in,
)


class CollectionForm(EditForm, GroupedForm, forms.ModelForm):  # type: ignore[type-arg]
    language = forms.ChoiceField(
        choices=LANGUAGES,
        initial=ENGLISH,
        required=False,
        help_text="Of the texts. Words of a query are highlighted in all their forms.",
    )

    class Meta:
        model = Collection
        fields = ["name", "question", "guidelines", "language", "synonyms", "image_hosts"]
        help_texts = {
            "guidelines": "Markdown; shown below as annotators will see it.",
            "synonyms": "Highlighted for each other: a group on each line, its words separated by commas: "
            "tram, streetcar.",
            "image_hosts": "Documents show images of these hosts, such as images.example.org, one on each "
            "line. A host learns the IP address of everybody who sees its images. Empty: no images.",
        }
        widgets = {
            "guidelines": forms.Textarea(
                attrs={
                    "hx-post": reverse_lazy("guidelines_preview"),
                    "hx-trigger": "input changed delay:400ms",
                    "hx-target": "#guidelines-preview",
                    "hx-sync": "this:replace",
                }
            ),
            "synonyms": forms.Textarea(attrs={"rows": 4}),
            "image_hosts": forms.Textarea(
                attrs={"rows": 3, "maxlength": LONGEST_HOSTS, "spellcheck": "false"}
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.carry()

    def clean_language(self) -> str:
        return str(self.cleaned_data["language"] or self.instance.language)

    def clean_image_hosts(self) -> str:
        try:
            return "\n".join(image_hosts_in(self.cleaned_data["image_hosts"]))
        except InputError as error:
            raise forms.ValidationError(str(error)) from None


class NewCollectionForm(CollectionForm):
    """With the short name that addresses use and that stays."""

    GROUPS = {FIRST: ("name", "slug", "question"), "Guidelines for annotators": ("guidelines",)}

    language = None  # type: ignore[assignment]  # asked once there are texts

    class Meta(CollectionForm.Meta):
        fields = ["name", "slug", "question", "guidelines"]
        labels = {"slug": "Short name"}
        help_texts = {
            **CollectionForm.Meta.help_texts,
            "slug": "Letters, digits, hyphens and underscores; used in addresses. Empty: made from the name.",
        }
        error_messages = {
            "slug": {"invalid": "Use only the letters a to z, digits, hyphens and underscores."}
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False
        self.fields["slug"].widget.attrs["data-follows"] = "name"

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"]
        if Collection.objects.filter(slug=slug).exists():
            problem = "A collection with this short name already exists. Choose another one."
            raise forms.ValidationError(problem, code="unique")
        return slug or free_slug(self.cleaned_data.get("name", ""))


@login_required
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
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
    collection = collection_for(request.user, slug, ADMIN)
    # A model's form writes into its instance, and what differs is looked up in the collection.
    form = CollectionForm(request.POST or None, instance=copy(collection))
    if request.method == "POST" and form.is_valid():
        change_collection(collection, by=person(request), **form.cleaned_data)
        is_seen = "guidelines" in form.changed_data
        seen = " Annotators who are judging now see that the guidelines have changed." if is_seen else ""
        messages.success(request, f"Saved.{seen}")
        return redirect("collection", slug)
    preview = render_markdown(form["guidelines"].value() or "")
    context = {"form": form, "preview": preview, "collection": collection, "section": "settings"}
    return render(request, "pooling/collection_edit.html", context)
