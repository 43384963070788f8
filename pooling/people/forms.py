"""Forms for collections."""

from __future__ import annotations

from django import forms

from pooling.models import Collection


class CollectionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Name, question and guidelines of a collection."""

    class Meta:
        model = Collection
        fields = ["name", "question", "guidelines"]


class NewCollectionForm(CollectionForm):
    """The same with the short name that addresses use and that stays."""

    class Meta(CollectionForm.Meta):
        fields = ["name", "slug", "question", "guidelines"]
        labels = {"slug": "Short name"}
        help_texts = {"slug": "Letters, digits, hyphens and underscores. Used in addresses."}
        error_messages = {
            "slug": {
                "invalid": "Use only the letters a to z, digits, hyphens and underscores.",
                "unique": "A collection with this short name already exists. Choose another one.",
            }
        }
