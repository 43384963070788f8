from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import (
    AuthenticationForm,
    BaseUserCreationForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from pooling.account_models import Scope
from pooling.models import Role
from pooling.people.activity_log import record_action
from pooling.people.invitations import LONGEST_NOTE
from pooling.people.membership import adds_anybody
from soundings.accounts.mail import ask_for_password_letter
from soundings.accounts.tokens import LONGEST_DAYS, LONGEST_NAME


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": _("Wrong name or password. Both are case-sensitive."),
        "inactive": _("This account is disabled. Ask the person who runs this site."),
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["username"].label = _("User name")


HELP_ON_PASSWORDS = _("At least ten characters, and not a common word.")


class WeakFirst:
    """A weak password is refused in the field where people begin to enter it again, of the two."""

    def validate_password_for_user(self, user: User, *names: str) -> None:
        first = next(name for name in self.fields if name.endswith("password1"))  # type: ignore[attr-defined]
        super().validate_password_for_user(user, first)  # type: ignore[misc]


class NewPasswordForm(WeakFirst, SetPasswordForm):  # type: ignore[type-arg]
    by: ClassVar[dict[str, str]] = {"by": "link"}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["new_password1"].label = _("New password")
        self.fields["new_password1"].help_text = HELP_ON_PASSWORDS
        self.fields["new_password2"].label = _("New password, again")
        self.fields["new_password2"].help_text = ""

    def save(self, commit: bool = True) -> User:
        """Store the password and its line in the trail together."""
        user: User = super().save(commit=False)  # a hash takes long, and nobody should wait for it
        with transaction.atomic():
            user.save()
            record_action(None, user, "password changed", **self.by)
        return user


class ChangePasswordForm(NewPasswordForm, PasswordChangeForm):
    by: ClassVar[dict[str, str]] = {}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["old_password"].label = _("Your password now")


class ForgotPasswordForm(PasswordResetForm):
    """The address for the link; the answer is the same whether an account has this address or not."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["email"].label = _("Email address of your account")

    def save(self, *, request: HttpRequest, **options: Any) -> None:  # type: ignore[override]
        """Have the letter sent; the rest of Django's options are those of `soundings.accounts.mail`."""
        ask_for_password_letter(self.cleaned_data["email"], request)


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=LONGEST_NAME,
        help_text=_("What the token is for, such as the name of a program."),
    )
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=LONGEST_DAYS)
    scope = forms.ChoiceField(
        label=_("What it may do"), choices=Scope.choices, initial=Scope.ADMIN, required=False
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["days"].initial = settings.TOKEN_DAYS or 365


class JoinForm(WeakFirst, BaseUserCreationForm):  # type: ignore[type-arg]
    class Meta:
        model = get_user_model()
        fields = ["username", "email"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["username"].label = _("User name")
        self.fields["username"].help_text = _("Letters, digits and @ . + - _; others see it with your work.")
        self.fields["email"].label = _("Email address (optional)")
        self.fields["email"].help_text = _("To reset your password if you forget it.")
        self.fields["password1"].label = _("Password")
        self.fields["password1"].help_text = HELP_ON_PASSWORDS
        self.fields["password2"].label = _("Password, again")
        self.fields["password2"].help_text = ""


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class MemberForm(RoleForm):
    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    field_order = ["username", "role"]

    def __init__(self, by: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        asks = "They are asked to join, unless they are a member of another collection of yours."
        joins = "They become a member at once." if adds_anybody(by) else asks
        otherwise = "For someone without an account, create an invitation below."
        self.fields["username"].help_text = f"{joins} {otherwise}"


class InvitationForm(RoleForm):
    email = forms.EmailField(
        label="Email address (optional)",
        required=False,
        help_text="The link is sent there if this site sends email; you see it in any case.",
    )
    note = forms.CharField(
        label="Note (optional)",
        required=False,
        max_length=LONGEST_NOTE,
        help_text="Shown to admins in the list below, such as “for Anna”.",
    )
    days = forms.IntegerField(label="Valid for days", min_value=1, max_value=90, initial=14)
    field_order = ["role", "email", "note", "days"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # The page has another form with a role.
        self.fields["role"].widget.attrs["id"] = "id_invited_role"
