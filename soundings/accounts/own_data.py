"""What the site stores about a person, for that person: a JSON object a line, each with its `kind`.

Named field by field. A row of a verdict also says which pairs are gold questions and repeats; that is no
annotator's to know, and nothing of it is here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet

from labeling.models import JudgmentEvent, PairMessage, SupportEvent
from pooling.account_models import Preferences, SeenSession
from pooling.models import AdminAction, Invitation, Membership
from soundings.accounts.tokens import tokens_of
from soundings.sign_in.traces import told_rows

Row = dict[str, Any]
ACCOUNT = ("username", "email", "first_name", "last_name", "date_joined", "last_login")
PREFERENCES = ("language", "reading", "columns")
SIGN_INS = {"sign-in": AccessLog, "failed sign-in": AccessFailureLog, "tries at a password": AccessAttempt}
COLLECTION = {"collection": "collection__slug"}
PAIR = {**COLLECTION, "query": "query__external_id", "document": "document__external_id"}


def own_data_lines(user: User) -> Iterator[str]:
    """All lines about `user`, the account first; rows are read as they are written."""
    for kind, rows in _parts(user).items():
        for row in rows:
            yield json.dumps({"kind": kind, **row}, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n"


def _parts(user: User) -> dict[str, Iterator[Row]]:
    """The rows of each kind; none is read yet."""
    accepted, made = (Invitation.objects.filter(**{by: user}) for by in ("accepted_by", "invited_by"))
    verdicts = JudgmentEvent.objects.filter(annotator=user)
    said = ("verdict", "reason", "note", "active_ms", "span_start", "span_end", "created_at")
    messages = PairMessage.objects.filter(author=user)
    deeds = AdminAction.objects.filter(actor=user)
    changes = LogEntry.objects.filter(user=user)
    return {
        "account": _rows(get_user_model().objects.filter(pk=user.pk), *ACCOUNT),
        "preferences": _rows(Preferences.objects.filter(user=user), *PREFERENCES),
        "membership": _rows(Membership.objects.filter(user=user), "role", "since", **COLLECTION),
        "session": _rows(
            SeenSession.objects.filter(user=user), "browser", "address", "started_at", "seen_at"
        ),
        "token": _rows(tokens_of(user), "name", "scope", "created_at", "expires_at"),
        **{kind: _rows(rows, *columns) for kind, rows, columns in told_rows(user)},
        "invitation accepted": _rows(accepted, "role", "email", "accepted_at", **COLLECTION),
        "invitation made": _rows(made, "role", "email", "note", "created_at", **COLLECTION),
        **{
            kind: _rows(
                model.objects.filter(username=user.get_username()), "attempt_time", "ip_address", "user_agent"
            )
            for kind, model in SIGN_INS.items()
        },
        "verdict": _rows(verdicts, *said, **PAIR, queue="queue__public_name", what="kind"),
        "verdict on a fact": _rows(
            SupportEvent.objects.filter(annotator=user),
            *("verdict", "active_ms", "span_start", "span_end", "created_at"),
            **COLLECTION,
            query="fact__query__external_id",
            document="document__external_id",
            fact="fact__external_id",
            queue="queue__public_name",
            what="kind",
        ),
        "message": _rows(messages, "text", "sent_at", "answer", "answered_at", **PAIR),
        "action": _rows(deeds, "action", "subject", "at", "address", **COLLECTION),
        "change of a row": _rows(changes, "object_repr", "change_message", "action_time"),
    }


def _rows(rows: QuerySet[Any], *fields: str, **named: str) -> Iterator[Row]:
    """These columns by their own names, and others by the names given."""
    names, columns = [*fields, *named], [*fields, *named.values()]
    for row in rows.order_by("pk").values_list(*columns).iterator(chunk_size=2000):
        yield dict(zip(names, row, strict=True))
