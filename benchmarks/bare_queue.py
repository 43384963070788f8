"""The least that Django can do as a label queue: the peer of the judging benchmark.

Two views over two tables. No sign-in, no roles, no leases to renew, no events, no gold, one judgment for each
item; what it is asked and what it answers looks the same to the load generator. Served like the site itself:
gunicorn's `benchmarks.bare_settings` with two processes, connections kept. `BARE_TABLES` of
`benchmarks/judging_site.py` makes and fills the tables.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import django
from django.conf import settings

import soundings.installation.environment

CLAIM = """
UPDATE bare_item SET leased_until = now() + interval '10 minutes' WHERE id = (
  SELECT id FROM bare_item WHERE NOT done AND (leased_until IS NULL OR leased_until < now())
  ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id, query, text
"""
STORE = "INSERT INTO bare_judgment (key, item_id, annotator, verdict) VALUES (%s, %s, %s, %s)"
FINISH = "UPDATE bare_item SET done = true WHERE id = %s"

if not settings.configured:
    database = soundings.installation.environment.Environment().database("DATABASE_URL", default="")
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": database | {"CONN_MAX_AGE": 60}},
        MIDDLEWARE=["django.middleware.common.CommonMiddleware"],  # says how long an answer is
        ROOT_URLCONF="benchmarks.bare_queue",
        SECRET_KEY="only for a measurement",
        USE_TZ=True,
    )
    django.setup()

from django.core.handlers.wsgi import WSGIHandler  # noqa: E402  # needs the settings
from django.db import connection, transaction  # noqa: E402
from django.http import HttpRequest, HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402


def claim(request: HttpRequest, queue: int) -> JsonResponse:
    """The next free item."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM)
        row = cursor.fetchone()
    if row is None:
        return JsonResponse({"items": []})
    item = {"item": row[0], "version": 1, "lease": str(uuid4()), "query": row[1], "text": row[2]}
    return JsonResponse({"items": [item]})


def judge(request: HttpRequest, queue: int) -> JsonResponse:
    """Store verdicts."""
    results = []
    for verdict in json.loads(request.body):
        with transaction.atomic(), connection.cursor() as cursor:
            annotator = request.headers["Authorization"]
            cursor.execute(STORE, [verdict["key"], verdict["item"], annotator, verdict["verdict"]])
            cursor.execute(FINISH, [verdict["item"]])
        results.append({"key": verdict["key"], "status": "stored"})
    return JsonResponse({"results": results})


def health(request: HttpRequest) -> HttpResponse:
    """For who waits until it answers."""
    return HttpResponse("ok")


urlpatterns: list[Any] = [
    path("health/", health),
    path("api/queues/<int:queue>/claim/", claim),
    path("api/queues/<int:queue>/judgments/", judge),
]
application = WSGIHandler()
