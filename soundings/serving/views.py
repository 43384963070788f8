"""Pages for operators and their programs: /metrics/, /ready/, and the page Health."""

from __future__ import annotations

import hmac
import ipaddress
import logging

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface.api import answers
from pooling.interface.shapes import shape
from pooling.people.access import require_site_admin
from soundings.accounts.throttling import client_address
from soundings.installation.migrating import missing_migrations
from soundings.serving.checks import Check, site_checks
from soundings.serving.figures import exposition

logger = logging.getLogger(__name__)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures, for a program with the token or in one of the networks; for anybody else nothing."""
    if not (_has_token(request) or _is_near(request)):
        raise Http404("No such page.")
    content, media_type = exposition()
    return HttpResponse(content, content_type=media_type)


def _has_token(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and hmac.compare_digest(given.encode(), wanted.encode())


def _is_near(request: HttpRequest) -> bool:
    given = client_address(request)
    if given is None:
        return False
    client_network = ipaddress.ip_network(given)
    return any(_within(client_network, network) for network in settings.METRICS_NETWORKS)


def _within(inner: Network, outer: Network) -> bool:
    if isinstance(inner, ipaddress.IPv4Network):
        return isinstance(outer, ipaddress.IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, ipaddress.IPv6Network) and inner.subnet_of(outer)


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Readiness for requests: `{"status"}`, 503 while the database is away or behind.

    /health/ says whether the process lives; this, whether it can answer. A load balancer asks this one.
    """
    try:
        missing = missing_migrations()
    except DatabaseError as error:
        logger.warning("the database does not answer: %s", type(error).__name__)
        return JsonResponse({"status": "the database does not answer"}, status=503)
    if missing:
        return JsonResponse({"status": "the database is behind; run migrate"}, status=503)
    return JsonResponse({"status": "ok"})


@require_safe
@login_required
def site_health(request: HttpRequest) -> HttpResponse:
    require_site_admin(request.user)
    return render(request, "soundings/site_health.html", {"checks": site_checks()})


class SiteHealthSerializer(serializers.Serializer[object]):
    """All of them."""

    checks = shape(Check)(many=True)


class SiteHealth(APIView):
    @answers(SiteHealthSerializer)
    def get(self, request: Request) -> object:
        """Ask database, worker, file storage, disk, cache and mail how they are; for site admins."""
        require_site_admin(request.user)
        return {"checks": site_checks()}
