"""What admins did to a collection, for its admins."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from pooling.models import AdminAction
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table


def _who(action: AdminAction) -> str:
    return action.actor.get_username() if action.actor else "a command"


def _details(action: AdminAction) -> str:
    return ", ".join(f"{name}: {value}" for name, value in action.detail.items())


ACTIVITY = Table(
    "activity",
    "action",
    columns=(
        Column("when", "When", "at", to_the_minute=True, style="quiet"),
        Column("action", "Action"),
        Column("subject", "Subject", natural=True),
        Column("who", "Who", _who, sort="actor__username"),
        Column("details", "Details", _details, sort=False, style="quiet"),
    ),
    sort="-when",
    search=("action__icontains", "subject__icontains", "actor__username__icontains"),
    search_hint="Action, subject or name",
    caption="What admins did in this collection. Entries are never changed or removed.",
    empty=Empty("No activity yet."),
)


@require_safe
@login_required
def activity(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The list, newest first."""
    collection = collection_for(request.user, slug, ADMIN)
    rows = collection.admin_actions.select_related("actor")
    context = {
        "collection": collection,
        "section": "activity",
        "table": ACTIVITY.shown(request, rows, collection),
    }
    return answer(request, "soundings/activity.html", context)
