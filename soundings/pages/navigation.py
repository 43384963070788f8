"""Navigation of a collection: five groups of pages, declared once for masthead, tabs, menu and finder.

A view says with `section` in its context to which page it belongs; a deeper page, such as that of one run,
belongs to the page that lists it. A page more is one line of `GROUPS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from pooling.models import Collection, Role
from pooling.people.access import ADMIN, MEMBERS, READERS
from soundings.pages.next_step import Next, next_of
from soundings.pages.overview import state_of, with_state

register = template.Library()


@dataclass(frozen=True)
class Page:
    """A page of a collection: `section`, label, address, who may see it, and other words to find it by."""

    section: str
    label: str
    address: str
    roles: tuple[Role, ...] = READERS
    words: str = ""


@dataclass(frozen=True)
class Action:
    """Something to begin: offered by the finder as well as by a button of a page."""

    label: str
    address: str
    roles: tuple[Role, ...] = ADMIN
    words: str = ""


@dataclass(frozen=True)
class Group:
    """Pages of one kind, the first of which the group leads to, and what can be begun there."""

    label: str
    pages: tuple[Page, ...]
    actions: tuple[Action, ...] = ()


GROUPS = (
    Group(
        _("Overview"),
        (
            Page("overview", _("Overview"), "collection", MEMBERS, "home summary next step"),
            Page("members", _("Members"), "members", words="people roles invitations"),
            Page("activity", _("Activity"), "activity", ADMIN, "log history"),
            Page("jobs", _("Jobs"), "jobs", words="background work progress imports"),
            Page("tidied", _("Archive"), "tidied", ADMIN, "archived deleted restore trash undo"),
            Page("settings", _("Guidelines"), "collection_edit", ADMIN, "settings question name edit"),
        ),
        (Action("Invite a member", "members"),),
    ),
    Group(
        _("Data"),
        (
            Page("queries", _("Queries"), "queries", words="topics"),
            Page("documents", _("Documents"), "documents", words="corpus texts"),
            Page("runs", _("Runs"), "runs", words="retrievers systems ranked lists"),
            Page("engines", _("Engines"), "engines", ADMIN, "live search elasticsearch sql database"),
            Page("pools", _("Pools"), "pools", words="pairs"),
        ),
        (
            Action("Import queries", "queries"),
            Action("Import documents", "documents", words="corpus"),
            Action("Import runs", "run_import"),
            Action("Add an engine", "engine_new", words="live search"),
            Action("Build a pool", "pool_new", words="new"),
            Action("Plan a campaign", "plan", words="cost budget"),
        ),
    ),
    Group(
        _("Judging"),
        (
            Page("queues", _("Queues"), "queues", MEMBERS, "judge progress"),
            Page("gold", _("Gold"), "gold", ADMIN, "questions known answers"),
            Page("facts", _("Facts"), "facts", words="nuggets answers supports claims"),
            Page("quality", _("Quality"), "collection_quality", words="agreement annotators"),
            Page("prelabels", _("Pre-labels"), "prelabelers", ADMIN, "models llm"),
            Page("messages", _("Messages"), "messages", ADMIN, "annotators broken questions answer"),
        ),
        (
            Action("Open a queue", "queue_new", words="new"),
            Action("Import gold questions", "gold_import"),
            Action("Import facts", "facts_import", words="nuggets claims"),
            Action("Open a queue of facts", "fact_queue_new", words="new supports"),
            Action("Draw an audit by scores", "score_audits"),
            Action("Explain a label", "label", READERS, "why pair"),
        ),
    ),
    Group(
        _("Results"),
        (
            Page("reports", _("Reports"), "reports", words="recall evaluate answer"),
            Page("trend", _("Trend"), "report_trend", words="reports over time history compare"),
            Page("releases", _("Qrels"), "releases", words="releases labels"),
            Page("replays", _("Replays"), "replays", words="strategies simulate"),
        ),
        (
            Action("New report", "report_new", words="evaluate make"),
            Action("Make a release", "release_new", words="new qrels freeze"),
            Action("Import qrels", "qrels_import", words="labels"),
            Action("New replay", "replay_new"),
        ),
    ),
    Group(
        _("Watching"),
        (
            Page("canaries", _("Canaries"), "canaries", words="alerts"),
            Page("latency_reports", _("Indexes"), "latency_reports", words="latency approximate exact"),
            Page("webhooks", _("Webhooks"), "webhooks", ADMIN, "messages events alerts"),
        ),
        (
            Action("New canary", "canary_new"),
            Action("New latency report", "latency_new", words="index"),
            Action("Add a webhook", "webhook_new", words="new"),
        ),
    ),
)


@dataclass(frozen=True)
class Tab:
    """A page as somebody may see it; `current` is the value of `aria-current`: page, true or nothing."""

    label: str
    url: str
    current: str


@dataclass(frozen=True)
class Place:
    """A group as somebody may see it, and whether the page is one of its pages."""

    label: str
    url: str
    is_current: bool
    tabs: tuple[Tab, ...]


@register.simple_tag(takes_context=True)
def places(context: Context) -> list[Place]:
    """The groups of the collection that the page is about, as who looks at it may see them; else none."""
    collection = context.get("collection")
    role = getattr(collection, "role", None)
    if collection is None or role is None:
        return []
    request = context.get("request")
    return _places(collection, Role(role), str(context.get("section", "")), request.path if request else "")


def _places(collection: Collection, role: Role, section: str, path: str) -> list[Place]:
    groups = []
    for group in GROUPS:
        allowed = [page for page in group.pages if role in page.roles]
        tabs = tuple(_tab(page, collection, section, path) for page in allowed)
        if tabs:
            is_current = any(tab.current for tab in tabs)
            groups.append(Place(gettext(group.label), tabs[0].url, is_current, tabs))
    return groups


def _tab(page: Page, collection: Collection, section: str, path: str) -> Tab:
    url = reverse(page.address, args=[collection.slug])
    is_here = page.section == section
    return Tab(gettext(page.label), url, ("page" if path == url else "true") if is_here else "")


@register.simple_tag(takes_context=True)
def first_steps(context: Context) -> Next | None:
    """An admin's next step after what was just done, on the way from an empty collection to its first report
    or queue; None on the overview, which says it itself, and None where it leads to the same page."""
    collection, request = context.get("collection"), context.get("request")
    if collection is None or request is None or getattr(collection, "role", None) != Role.ADMIN:
        return None
    if context.get("section") == "overview":
        return None
    row: Any = with_state(Collection.objects.filter(pk=collection.pk)).first()
    if row is None or row.has_queues or row.released is not None:
        return None
    following = next_of(state_of(row, ()))
    return None if following.url == request.path else following


def actions_of(collection: Collection, role: Role) -> list[tuple[Action, str]]:
    """Actions that `role` may begin in a collection, each with its address."""
    return [
        (action, reverse(action.address, args=[collection.slug]))
        for group in GROUPS
        for action in group.actions
        if role in action.roles
    ]


def pages_of(collection: Any, role: Role) -> list[tuple[Group, Page, str]]:
    """The pages of a collection that somebody with `role` may see, each with its group and address."""
    return [
        (group, page, reverse(page.address, args=[collection.slug]))
        for group in GROUPS
        for page in group.pages
        if role in page.roles
    ]
