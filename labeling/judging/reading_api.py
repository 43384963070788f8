from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.judging.choices import CHOICES, reading_of, remember_reading
from pooling.interface.api import answers, parsed, person, takes


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
