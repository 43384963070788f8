"""The health of the site, over HTTP."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import PROBLEM
from soundings.operations.checks import BAD, GOOD, LOOK, site_checks

NEEDS_SITE_ADMIN = "This is for site admins."


class CheckSerializer(serializers.Serializer[object]):
    """One part of the site."""

    name = serializers.CharField(help_text="Which part.")
    state = serializers.ChoiceField(choices=[GOOD, LOOK, BAD])
    detail = serializers.CharField(help_text="What is known of it, in one or two sentences.")


class SiteHealthSerializer(serializers.Serializer[object]):
    """All of them."""

    checks = CheckSerializer(many=True)


class SiteHealth(APIView):
    """How the parts of the site are."""

    @extend_schema(responses={200: SiteHealthSerializer, 403: PROBLEM})
    def get(self, request: Request) -> Response:
        """Ask database, worker, file storage, disk, cache and mail how they are; for site admins."""
        if not request.user.is_superuser:
            raise PermissionDenied(NEEDS_SITE_ADMIN)
        return Response(SiteHealthSerializer({"checks": site_checks()}).data)
