from __future__ import annotations

from django.http.response import HttpResponseBase
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
from soundings.trail.choosing import WHAT, CollectionTrailForm, TrailForm, chosen_lines
from soundings.trail.keeping import kept_of
from soundings.trail.lines import FILE_NAME, MEDIA_TYPE, activity_lines, trail_lines

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
