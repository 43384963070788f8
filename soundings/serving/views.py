"""Pages for operators and their programs: /metrics/, /ready/, and the page Health."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import django
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.mail import get_connection
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

import soundings
from pooling.formats.wording import counted
from pooling.interface.api import answers
from pooling.interface.shapes import shape
from pooling.jobs.lists import time_in_words
from pooling.models import Job
from pooling.people.access import require_site_admin
from soundings.accounts.throttling import client_address
from soundings.installation.migrating import missing_migrations
from soundings.serving.figures import exposition
from soundings.serving.health import worker_state

GOOD, LOOK, BAD = "ok", "look", "failed"
# Below this share of the disk, imports may soon be refused.
LITTLE_ROOM = 0.1
PROBE = "health/probe"
# What an installation may have beyond the least.
EXTRAS = {
    "s3": "django-storages",
    "redis": "redis",
    "metrics": "prometheus-client",
    "sentry": "sentry-sdk",
    "sso": "django-allauth",
}


@dataclass(frozen=True)
class Check:
    """One part of the site."""

    name: Annotated[str, "Which part."]
    state: Annotated[str, {"choices": [GOOD, LOOK, BAD]}]
    detail: Annotated[str, "What is known of it, in one or two sentences."]


def site_checks() -> list[Check]:
    """Ask every part of the site, one after the other; one that fails does not keep the others from it."""
    return [
        _check("Database", _database),
        _check("Worker", _worker),
        _check("Oldest job", _oldest_job),
        _check("File storage", _storage),
        _check("Disk", _disk),
        _check("Cache", _cache),
        _check("Mail", _mail),
        Check("Versions", GOOD, _versions()),
    ]


def _check(name: str, ask: Callable[[], tuple[str, str]]) -> Check:
    started = time.perf_counter()
    try:
        state, detail = ask()
    except Exception as error:  # whatever it is, the page says so
        return Check(name, BAD, f"Does not answer ({type(error).__name__}); the server's log says more.")
    return Check(name, state, f"{detail} Answered in {1000 * (time.perf_counter() - started):.0f} ms.")


def _database() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT version()" if connection.vendor == "postgresql" else "SELECT sqlite_version()")
        version = str(cursor.fetchone()[0]).partition(" on ")[0]
    version = version.removeprefix(connection.display_name).strip()  # PostgreSQL says its own name
    missing = missing_migrations()
    behind = f"{counted(missing, 'migration')} behind; run migrate." if missing else "Tables are up to date."
    return (LOOK if missing else GOOD), f"{connection.display_name} {version}. {behind}"


def _worker() -> tuple[str, str]:
    states = {
        "ok": (GOOD, "Work is taken."),
        "behind": (
            LOOK,
            "Work has waited for two minutes and nobody does it; look at the log of the worker.",
        ),
        "none": (GOOD, "Work is done by another task backend."),
    }
    return states[worker_state()]


def _oldest_job() -> tuple[str, str]:
    waiting = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING)).order_by("created_at")
    job = waiting.select_related("collection").first()
    if job is None:
        return GOOD, "No job is waiting or running."
    age = time_in_words(timezone.now() - job.created_at)
    return GOOD, f"{job.kind} of “{job.collection.name}”, {job.state}, {age} old; {waiting.count()} in all."


def _storage() -> tuple[str, str]:
    name = default_storage.save(PROBE, ContentFile(b"probe"))
    try:
        with default_storage.open(name) as file:
            is_same = file.read() == b"probe"
    finally:
        default_storage.delete(name)
    kind = str(settings.STORAGES["default"]["BACKEND"]).rpartition(".")[2]
    return (GOOD if is_same else BAD), f"{kind}: a file was written, read and deleted."


def _disk() -> tuple[str, str]:
    usage = shutil.disk_usage(settings.DATA_DIR)
    share = usage.free / usage.total
    return (GOOD if share > LITTLE_ROOM else LOOK), (
        f"{usage.free / 1e9:.1f} GB of {usage.total / 1e9:.1f} GB free in the data folder "
        f"({100 * share:.0f} %)."
    )


def _cache() -> tuple[str, str]:
    cache.set("health-probe", 1, 10)
    kind = str(settings.CACHES["default"]["BACKEND"]).rpartition(".")[2]
    kept = cache.get("health-probe") == 1
    return (GOOD if kept else BAD), f"{kind}: {'a value was kept.' if kept else 'does not keep values.'}"


def _mail() -> tuple[str, str]:
    if not settings.SENDS_MAIL:
        return GOOD, "No mail server is set (SOUNDINGS_MAIL_URL); links are shown instead of sent."
    with get_connection():
        return GOOD, "The mail server takes connections."


def _versions() -> str:
    extras = [f"{extra} ({number})" for extra, name in EXTRAS.items() if (number := _version(name))]
    return (
        f"Soundings {soundings.__version__}, Django {django.__version__}, "
        f"Python {platform.python_version()}; "
        f"extras: {', '.join(extras) or 'none'}."
    )


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


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
