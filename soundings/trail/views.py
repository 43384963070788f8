from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface.api import answers
from pooling.interface.downloads import streamed
from pooling.interface.serializers import FILE
from pooling.interface.shapes import shape
from pooling.models import AdminAction
from pooling.people.access import ADMIN, collection_for, require_site_admin
from pooling.people.chain import ChainCheck, check_chain
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table
from soundings.trail.choosing import WHAT, CollectionTrailForm, TrailForm, chosen_lines, lines_of
from soundings.trail.lines import FILE_NAME, MEDIA_TYPE, activity_lines, actor_name, trail_lines, with_names
from soundings.trail.writing import kept_of

CHOOSING = [
    OpenApiParameter("who", str, description="User name of who did it, or to whom it was done."),
    OpenApiParameter("since", str, description="First day, such as 2027-01-31."),
    OpenApiParameter("until", str, description="Last day."),
    OpenApiParameter("what", str, enum=[one.key for one in WHAT.choices if one.key]),
]


class TrailLines(APIView):
    @extend_schema(
        operation_id="site_trail_lines",
        parameters=[*CHOOSING, OpenApiParameter("collection", str, description="Its short name.")],
        responses=FILE,
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Download the trail as JSON lines with all that the checksums cover; for site admins."""
        require_site_admin(request.user)
        rows = chosen_lines(AdminAction.objects.all(), TrailForm(request.query_params))
        return streamed(trail_lines(rows), FILE_NAME, MEDIA_TYPE)


class TrailCheck(APIView):
    @answers(
        shape(ChainCheck, "Checked", more=["newest"]),
        operation_id="site_trail_check",
        parameters=[OpenApiParameter("kept", str, description="NUMBER:CHECKSUM of an earlier check.")],
    )
    def get(self, request: Request) -> object:
        """Check the chain of the trail; for site admins."""
        require_site_admin(request.user)
        return check_chain(kept_of(request.query_params.get("kept", "")))


class ActivityLines(APIView):
    @extend_schema(operation_id="collections_activity_lines", parameters=CHOOSING, responses=FILE)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Download what happened in a collection as JSON lines; for its admins."""
        collection = collection_for(request.user, slug, ADMIN)
        rows = chosen_lines(collection.admin_actions.all(), CollectionTrailForm(request.query_params))
        return streamed(activity_lines(rows), FILE_NAME, MEDIA_TYPE)


SEARCH = (
    "action__icontains",
    "subject__icontains",
    "actor__username__icontains",
    "about__username__icontains",
)


def _details(action: AdminAction) -> str:
    given = {name: value for name, value in action.detail.items() if value not in ("", None, [])}
    return "; ".join(f"{name}: {_in_words(value)}" for name, value in given.items())


def _in_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _collection(action: AdminAction) -> str:
    if action.collection_id is None:
        return ""
    return action.collection.slug if action.collection else f"collection {action.collection_id}"


WHEN = Column("when", "When", "at", to_the_minute=True, style="quiet")
ACTION = Column("action", "Action")
SUBJECT = Column("subject", "Subject", "subject_name", natural=True, sort="subject")
WHO = Column("who", "Who", actor_name, sort="actor__username")
DETAILS = Column("details", "Details", _details, sort=False, style="quiet")
ACTIVITY = Table(
    "activity",
    "action",
    columns=(WHEN, ACTION, SUBJECT, WHO, DETAILS),
    sort="-when",
    search=SEARCH,
    search_hint="Action, subject or name",
    filters=(WHAT,),
    caption="What happened in this collection. Entries are never changed or removed.",
    empty=Empty("No activity of this person or on these days."),
)
TRAIL = Table(
    "trail",
    "action",
    columns=(
        WHEN,
        ACTION,
        SUBJECT,
        WHO,
        Column("collection", "Collection", _collection, sort="collection__slug"),
        Column("address", "From", "address", style="mono"),
        DETAILS,
        Column("number", "Line", number=True, hidden=True),
    ),
    sort="-when",
    search=SEARCH,
    search_hint="Action, subject or name",
    filters=(WHAT,),
    caption="What happened on the site. Entries are never changed or removed.",
    empty=Empty("No activity of this person or on these days."),
)


@require_safe
@login_required
def activity(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN)
    form = CollectionTrailForm(request.GET)
    form.full_clean()
    rows = lines_of(collection.admin_actions.all(), form.cleaned_data)
    context = {
        "collection": collection,
        "section": "activity",
        "form": form,
        "table": ACTIVITY.shown(request, with_names(rows), collection),
        "lines": _address(reverse("api_activity_lines", args=[slug]), form),
    }
    return answer(request, "soundings/activity.html", context)


@require_safe
@login_required
def site_trail(request: HttpRequest) -> HttpResponseBase:
    """The site's trail, newest first; `?check=1` checks the chain as well."""
    require_site_admin(request.user)
    form = TrailForm(request.GET)
    form.full_clean()
    rows = lines_of(AdminAction.objects.all(), form.cleaned_data)
    context = {
        "form": form,
        "table": TRAIL.shown(request, with_names(rows)),
        "checked": check_chain() if request.GET.get("check") else None,
        "lines": _address(reverse("api_trail_lines"), form),
    }
    return answer(request, "soundings/trail.html", context)


def _address(page: str, form: TrailForm) -> str:
    filters = {name: form.data[name] for name, value in form.cleaned_data.items() if value}
    return f"{page}?{urlencode(filters)}" if filters else page
