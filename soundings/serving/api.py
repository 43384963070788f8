from __future__ import annotations

from django.core.exceptions import PermissionDenied
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface.api import answers
from pooling.interface.shapes import shape
from soundings.serving.checks import Check, site_checks

NEEDS_SITE_ADMIN = "This is for site admins."


class SiteHealthSerializer(serializers.Serializer[object]):
    """All of them."""

    checks = shape(Check)(many=True)


class SiteHealth(APIView):
    @answers(SiteHealthSerializer)
    def get(self, request: Request) -> object:
        """Ask database, worker, file storage, disk, cache and mail how they are; for site admins."""
        if not request.user.is_superuser:
            raise PermissionDenied(NEEDS_SITE_ADMIN)
        return {"checks": site_checks()}
