"""Letters that the site sends, where it can send any."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

from pooling.models import Invitation

logger = logging.getLogger(__name__)


def send_invitation(invitation: Invitation, link: str) -> bool:
    """Mail the link to the invitation's address; whether it left. The link is on the page in any case."""
    if not settings.SENDS_MAIL or not invitation.email:
        return False
    text = render_to_string("soundings/invitation.txt", {"invitation": invitation, "link": link})
    # A name may hold a line break no more than a header may.
    subject = " ".join(f"Judge for {invitation.collection.name}".split())
    try:
        return send_mail(subject, text, None, [invitation.email]) == 1
    except (OSError, SMTPException) as error:
        logger.warning("an invitation could not be mailed: %s", error)
        return False
