"""The site's own pages: sign-in, home, a collection's overview, its members, the guide, and health."""

from soundings.views.accounts import ChangePassword, SignIn, SignOut
from soundings.views.guide import guide
from soundings.views.health import health
from soundings.views.home import collection, home
from soundings.views.members import member_remove, member_role, members
from soundings.views.token import ApiToken

__all__ = [
    "ApiToken",
    "ChangePassword",
    "SignIn",
    "SignOut",
    "collection",
    "guide",
    "health",
    "home",
    "member_remove",
    "member_role",
    "members",
]
