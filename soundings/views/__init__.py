"""The site's own pages: accounts, home, a collection's overview, members and activity, the guide, health."""

from soundings.views.accounts import ChangePassword, ForgotPassword, NewPassword, SignIn, SignOut
from soundings.views.activity import activity
from soundings.views.guide import guide
from soundings.views.health import health
from soundings.views.home import collection, home
from soundings.views.invitations import invitation, invitation_new, invitation_withdraw
from soundings.views.members import member_remove, member_role, members
from soundings.views.token import ApiToken

__all__ = [
    "ApiToken",
    "ChangePassword",
    "ForgotPassword",
    "NewPassword",
    "SignIn",
    "SignOut",
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
]
