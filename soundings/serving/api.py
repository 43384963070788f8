from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface.api import answers
from pooling.interface.shapes import shape
from pooling.people.access import require_site_admin
from soundings.serving.checks import Check, site_checks


class SiteHealthSerializer(serializers.Serializer[object]):
    """All of them."""

    checks = shape(Check)(many=True)


class SiteHealth(APIView):
    @answers(SiteHealthSerializer)
    def get(self, request: Request) -> object:
        """Ask database, worker, file storage, disk, cache and mail how they are; for site admins."""
        require_site_admin(request.user)
        return {"checks": site_checks()}
