"""The settings of a company's site, for tests that run apart: a provider, and a second factor."""

import os

os.environ["SOUNDINGS_OIDC_ISSUER"] = "http://127.0.0.1:1"  # the fixture `provider` says which one
os.environ["SOUNDINGS_OIDC_CLIENT_ID"] = "soundings"
os.environ["SOUNDINGS_OIDC_CLIENT_SECRET"] = "zzz-client-secret"
os.environ["SOUNDINGS_OIDC_NAME"] = "Harbour Login"
os.environ["SOUNDINGS_SECOND_FACTOR"] = "optional"

from soundings.settings import *  # noqa: F403
