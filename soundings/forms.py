"""The site's forms: sign-in, password and members."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm

from pooling.models import Role


class SignInForm(AuthenticationForm):
    """User name and password."""

    error_messages = {
        "invalid_login": "That name and password do not belong together. Capitals matter in both.",
        "inactive": "This account is switched off. Please ask the person who runs this site.",
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["username"].label = "User name"


class ChangePasswordForm(PasswordChangeForm):
    """The old password once and the new one twice."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["old_password"].label = "Your password now"
        self.fields["new_password1"].label = "New password"
        self.fields["new_password1"].help_text = "At least ten characters, and not a common word."
        self.fields["new_password2"].label = "New password, again"
        self.fields["new_password2"].help_text = ""


class RoleForm(forms.Form):
    """A role for somebody who is a member already."""

    role = forms.ChoiceField(choices=Role.choices)


class MemberForm(RoleForm):
    """Somebody with an account, and the role they get."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="The account must exist; the person who runs the site makes one with create_user.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    field_order = ["username", "role"]
