"""Somebody's choices for reading documents: size, width, typeface and contrast, kept with their account."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.utils.translation import gettext_noop
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.account_models import Preferences
from pooling.interface.api import answers, parsed, person, takes

#: What can be chosen, by its name and label; the first value of each is where it starts.
CHOICES: dict[str, tuple[str, dict[str, str]]] = {
    "size": (
        gettext_noop("Text size"),
        {
            "normal": gettext_noop("Normal"),
            "large": gettext_noop("Large"),
            "largest": gettext_noop("Very large"),
        },
    ),
    "width": (
        gettext_noop("Line width"),
        {"normal": gettext_noop("Normal"), "narrow": gettext_noop("Narrow"), "wide": gettext_noop("Wide")},
    ),
    "face": (gettext_noop("Typeface"), {"serif": gettext_noop("Serif"), "sans": gettext_noop("Sans serif")}),
    "contrast": (gettext_noop("Contrast"), {"normal": gettext_noop("Normal"), "high": gettext_noop("High")}),
}


def reading_of(user: User | AnonymousUser) -> dict[str, str]:
    """Somebody's choices, with the first value of what they did not choose."""
    kept = getattr(user, "preferences", None)
    chosen = kept.reading if kept else {}
    return {
        name: value if (value := chosen.get(name)) in values else next(iter(values))
        for name, (_, values) in CHOICES.items()
    }


def remember_reading(user: User, chosen: dict[str, str]) -> dict[str, str]:
    """Keep the choices that `chosen` names, and leave the others; all of them as they are now."""
    kept, _ = Preferences.objects.get_or_create(user=user)
    kept.reading = {**kept.reading, **chosen}
    kept.save(update_fields=["reading"])
    user.preferences = kept
    return reading_of(user)


class ReadingSerializer(serializers.Serializer[Any]):
    """Text size, line width, typeface and contrast."""

    size = serializers.ChoiceField(choices=list(CHOICES["size"][1]), required=False)
    width = serializers.ChoiceField(choices=list(CHOICES["width"][1]), required=False)
    face = serializers.ChoiceField(choices=list(CHOICES["face"][1]), required=False)
    contrast = serializers.ChoiceField(choices=list(CHOICES["contrast"][1]), required=False)


class Reading(APIView):
    @answers(ReadingSerializer)
    def get(self, request: Request) -> Response:
        """What you chose."""
        return Response(reading_of(person(request)))

    @takes(ReadingSerializer, gives=ReadingSerializer)
    def patch(self, request: Request) -> Response:
        """Change some of it; the answer has all."""
        return Response(remember_reading(person(request), parsed(ReadingSerializer, request)))
