"""Letters that were waiting for the worker under this name when the tasks moved are still sent."""

from soundings.accounts.mail import send_invitation_letter, send_password_letter

__all__ = ["send_invitation_letter", "send_password_letter"]
