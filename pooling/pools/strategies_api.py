from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface.api import answers
from pooling.strategies import STRATEGIES


class StrategySerializer(serializers.Serializer[Any]):
    """A strategy that a pool can be built with or a replay compare."""

    name = serializers.CharField()
    group = serializers.CharField(help_text="Fixed orders, Orders that learn, or Samples.")
    summary = serializers.CharField()
    learns = serializers.BooleanField(
        source="make.learns",
        help_text="Whether labels change its order; a pool uses its order before any labels.",
    )
    audit_share = serializers.FloatField(help_text="Default share of a budget drawn at random.")


class Strategies(APIView):
    @answers(StrategySerializer(many=True), operation_id="strategies_list")
    def get(self, request: Request) -> object:
        """List them with what each does in a line."""
        return STRATEGIES.values()
