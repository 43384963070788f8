"""An account that is deleted: the person goes, the judgments stay under a pseudonym.

The row of the account stays, because verdicts and lines of the trail point to it; it only gets another name
and can no longer be used. So the pseudonym is in every table, file and release that is made from then on, and
in what releases stored before.
"""

from __future__ import annotations

import json

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.crypto import salted_hmac
from django_tasks_db.models import DBTaskResult

from labeling.models import Bookmark, Lease, Queue
from labeling.models.imports import ImportedAnnotator
from labeling.models.labels import QrelsRelease
from labeling.queues.changes import hand_back
from pooling.account_models import ApiToken, Preferences, SeenSession
from pooling.interface.problems import InputError
from pooling.models import Invitation, Job, Membership, Role
from pooling.people.access import runs_site
from pooling.people.activity_log import record_action
from pooling.people.invitations import withdraw_those_of
from soundings.sign_in.chosen import forget_sign_in

SIGN_INS = (AccessAttempt, AccessFailureLog, AccessLog)


def pseudonym_of(account: int) -> str:
    """The name that a deleted account gets, always the same on one site."""
    return f"deleted-{salted_hmac('soundings.deleted_account', str(account)).hexdigest()[:10]}"


def may_delete_oneself() -> bool:
    return bool(settings.ACCOUNT_DELETION == "everyone")


def delete_account(user: User, *, by: User | None) -> str:
    """Delete an account for good, and return its pseudonym; `by` is None for a command.

    `InputError` for the last that runs the site, and for the only admin of a collection.
    """
    with transaction.atomic():
        user = get_user_model().objects.select_for_update().get(pk=user.pk)
        _refuse(user, by)
        name, email = user.get_username(), user.email
        pseudonym = pseudonym_of(user.pk)
        queues = Lease.objects.filter(annotator=user).values("item__queue")
        for queue in Queue.objects.filter(pk__in=queues).select_related("collection"):
            hand_back(queue, user, by=by)
        for membership in Membership.objects.filter(user=user).select_related("collection"):
            withdraw_those_of(user, membership.collection, by=by)
            record_action(membership.collection, by, "member removed", user, role=membership.role)
            membership.delete()
        _forget(user, name, email)
        _rename(user, name, pseudonym)
        record_action(None, by, "account deleted", user)
        user.username, user.email, user.first_name, user.last_name = pseudonym, "", "", ""
        user.is_active = user.is_staff = user.is_superuser = False
        user.last_login = None
        user.set_unusable_password()
        user.save()
        user.groups.clear()
        user.user_permissions.clear()
    return pseudonym


def _refuse(user: User, by: User | None) -> None:
    if user.is_superuser and by is not None and not by.is_superuser:
        raise PermissionDenied("Only a site admin may delete a site admin.")
    if not user.is_active and user.get_username() == pseudonym_of(user.pk):
        raise InputError("This account is deleted already.", conflict=True)
    others = get_user_model().objects.select_for_update().filter(is_active=True).exclude(pk=user.pk)
    if runs_site(user) and not any(runs_site(other) for other in others):
        raise InputError(
            "This is the last account that runs the site. Make another one a site admin first.", conflict=True
        )
    admins = Membership.objects.select_for_update().filter(role=Role.ADMIN)
    own = [admin for admin in admins if admin.user_id == user.pk]
    shared = {admin.collection_id for admin in admins if admin.user_id != user.pk}
    alone = [admin.collection.name for admin in own if admin.collection_id not in shared]
    if alone:
        names = ", ".join(f"“{name}”" for name in alone[:5])
        raise InputError(
            f"No other account is admin of {names}. Make someone else an admin first.", conflict=True
        )


def _forget(user: User, name: str, email: str) -> None:
    """Delete what is of nobody else: sessions, tokens, settings, sign-ins, offers and letters."""
    forget_sign_in(user)
    ApiToken.objects.filter(user=user).delete()
    Preferences.objects.filter(user=user).delete()
    Bookmark.objects.filter(annotator=user).delete()
    for kind in SIGN_INS:
        kind.objects.filter(username=name).delete()
    SeenSession.objects.filter(user=user).delete()
    for session in Session.objects.iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()
    Invitation.objects.filter(user=user).delete()
    addressed = Invitation.objects.filter(accepted_by=user)
    if email:
        addressed |= Invitation.objects.filter(email__iexact=email)
    addressed.update(email="", username="", note="")
    for task in DBTaskResult.objects.filter(task_path__contains="letter"):
        if email and email in json.dumps(task.args_kwargs):
            task.delete()


def _rename(user: User, name: str, pseudonym: str) -> None:
    ImportedAnnotator.objects.filter(user=user).update(name=pseudonym)
    kind = ContentType.objects.get_for_model(get_user_model())
    about = LogEntry.objects.filter(content_type=kind, object_id=str(user.pk))
    about.update(object_repr=pseudonym, change_message="")
    # Their checksums are of the labels, which hold no names.
    for release in QrelsRelease.objects.iterator(chunk_size=20):
        sidecar, annotators = release.sidecar, release.sidecar.get("annotators", {})
        if name != sidecar.get("released_by") and name not in annotators:
            continue
        if name == sidecar.get("released_by"):
            sidecar["released_by"] = pseudonym
        if name in annotators:
            annotators[pseudonym] = annotators.pop(name)
        release.save(update_fields=["sidecar"])
    for job in Job.objects.filter(result__has_key="people").iterator():
        for person in (job.result or {}).get("people", []):
            if name in (person["account"], person["name"]):
                person["account"] = person["name"] = pseudonym
        job.save(update_fields=["result"])
