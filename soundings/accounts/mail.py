"""Letters that the worker sends, a few in an hour; no page tells whether one was sent, or to whom."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django_tasks import task

from pooling.models import Invitation
from pooling.people.letters import account, may_send
from pooling.storage.secrets import seal, unseal
from soundings.accounts.throttling import client_address

logger = logging.getLogger(__name__)


def ask_for_password_letter(email: str, request: HttpRequest) -> None:
    """Have a link for a new password sent to the accounts with this address, if there are any."""
    if may_send(to=email, by=f"address {client_address(request)}"):
        send_password_letter.enqueue(email, request.get_host(), request.is_secure())


def send_invitation(invitation: Invitation, link: str, *, by: User) -> bool:
    """Send the link, sealed on its way to the worker, to the invitation's address; False if too many."""
    if not may_send(to=invitation.email, by=account(by)):
        return False
    send_invitation_letter.enqueue(invitation.pk, seal(link))
    return True


@task(queue_name="messages")
def send_password_letter(email: str, host: str, secure: bool) -> None:
    form = PasswordResetForm({"email": email})
    if form.is_valid():
        form.save(
            domain_override=host,
            use_https=secure,
            subject_template_name="soundings/password_letter_subject.txt",
            email_template_name="soundings/password_letter.txt",
        )


@task(queue_name="messages")
def send_invitation_letter(invitation_id: int, sealed_link: str) -> None:
    """Send the link, and note that it left."""
    invitation = Invitation.objects.select_related("collection", "invited_by").get(pk=invitation_id)
    context = {"invitation": invitation, "link": unseal(sealed_link)}
    text = render_to_string("soundings/invitation.txt", context)
    # A name may hold a line break no more than a header may.
    subject = " ".join(f"Judge for {invitation.collection.name}".split())
    try:
        send_mail(subject, text, None, [invitation.email])
    except (OSError, SMTPException) as error:
        logger.warning("invitation %s could not be mailed: %s", invitation_id, error)
    else:
        Invitation.objects.filter(pk=invitation_id).update(mailed_at=timezone.now())
