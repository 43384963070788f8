from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface.api import answers, person
from pooling.interface.counting import counted
from pooling.interface.shapes import shape
from pooling.interface.uploads import HOUR, uploads_of
from pooling.people.letters import letters_in_the_last_hour
from soundings.accounts.call_limits import MINUTE, calls_of


class LimitKind(models.TextChoices):
    CALLS = "calls", gettext_lazy("Calls of the HTTP interface, in this minute")
    UPLOADS = "uploads", gettext_lazy("Files sent, in this hour")
    LETTERS = "letters", gettext_lazy("Mails caused, in the last hour")


@dataclass(frozen=True)
class Limit:
    """The rest of a limit, in a stretch of this many seconds."""

    of: Annotated[LimitKind, {"choices": LimitKind.choices}]
    most: int
    left: int
    seconds: int

    @property
    def label(self) -> str:
        return str(self.of.label)


def limits_of(user: User) -> list[Limit]:
    """The limits of an account, as the site sets them; nothing is counted by asking."""
    calls = counted(calls_of(user), MINUTE, 0).number
    files = counted(uploads_of(user), HOUR, 0).number
    mails = settings.LETTERS_PER_HOUR if settings.SENDS_MAIL else 0
    limits = [
        (LimitKind.CALLS, settings.CALLS_PER_MINUTE, calls, MINUTE),
        (LimitKind.UPLOADS, settings.UPLOADS_PER_HOUR, files, HOUR),
        (LimitKind.LETTERS, mails, letters_in_the_last_hour(user), HOUR),
    ]
    return [Limit(of, most, max(most - number, 0), seconds) for of, most, number, seconds in limits if most]


class LimitsSerializer(serializers.Serializer[Any]):
    """All that the site sets for an account."""

    limits = shape(Limit)(many=True)


class Limits(APIView):
    @answers(LimitsSerializer, operation_id="limits_retrieve")
    def get(self, request: Request) -> object:
        """The limits that the site sets for your account, and what is left of them."""
        return {"limits": limits_of(person(request))}
