"""The site's own pages: accounts, home, a collection's overview, members and activity, the guide, health."""

from soundings.views.accounts import ChangePassword, ForgotPassword, NewPassword, SignIn, SignOut
from soundings.views.activity import activity
from soundings.views.guide import guide
from soundings.views.health import health
from soundings.views.home import collection, home
from soundings.views.invitations import (
    invitation,
    invitation_new,
    invitation_withdraw,
    offer_accept,
    offer_decline,
)
from soundings.views.members import member_remove, member_role, members
from soundings.views.token import NewToken, OneToken, Tokens, account, token_revoke

__all__ = [
    "ChangePassword",
    "ForgotPassword",
    "NewPassword",
    "NewToken",
    "OneToken",
    "SignIn",
    "SignOut",
    "Tokens",
    "account",
    "activity",
    "collection",
    "guide",
    "health",
    "home",
    "invitation",
    "invitation_new",
    "invitation_withdraw",
    "member_remove",
    "member_role",
    "members",
    "offer_accept",
    "offer_decline",
    "token_revoke",
]
