"""OpenID Connect by django-allauth, with nonce and signature checked; imported where a provider is set."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any, NoReturn, TypedDict, cast

import jwt
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from requests import RequestException

from pooling.people.link_tokens import new_token
from soundings.sign_in.chosen import the_provider
from soundings.sign_in.taking_in import PROVIDER, Claims, plain

#: What signs ID tokens; with a shared secret, anyone who has it could.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
REQUIRED = ["exp", "iat", "iss", "aud", "sub"]
#: Clocks of two machines differ by so many seconds at most.
LEEWAY = 60
#: What a provider's answer can fail with, whatever it leaves out.
UNUSABLE = (RequestException, OAuth2Error, jwt.PyJWTError, KeyError, TypeError, ValueError)

Finish = Callable[[HttpRequest, Claims, str], HttpResponse]
Refuse = Callable[[HttpRequest, str], HttpResponse]


class Configuration(TypedDict, total=False):
    """The provider's description, as far as it is read here."""

    issuer: str
    jwks_uri: str
    userinfo_endpoint: str


class ProviderError(Exception):
    """The provider does not answer as it should; the text is for the log."""


class CompanyAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # untyped
    """There is one provider, that of the settings, whatever rows there are."""

    def list_apps(
        self, request: HttpRequest | None, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        ours = the_provider()
        wanted = {"server_url": ours.issuer, "oauth_pkce_enabled": True}
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=PROVIDER,
                name=ours.name,
                client_id=ours.client_id,
                secret=ours.client_secret,
                settings=wanted,
            )
        ]

    def on_authentication_error(self, request: HttpRequest, provider: Any, **more: Any) -> None:
        raise ImmediateHttpResponse(getattr(request, "refuse_sign_in", _raise)(request, _in_words(**more)))


class Signing(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # untyped
    def __init__(self, request: HttpRequest, finish: Finish | None = None) -> None:
        super().__init__(request, PROVIDER)
        self.finish = finish
        self.state: dict[str, Any] = {}

    @property
    def openid_config(self) -> Configuration:
        """The provider's description; `OAuth2Error` where it names another issuer."""
        try:
            config = cast("Configuration", super().openid_config)
            if config["issuer"].rstrip("/") != the_provider().issuer:
                raise OAuth2Error("the provider calls itself by another address than SOUNDINGS_OIDC_ISSUER")
        except (KeyError, AttributeError, ValueError) as error:
            raise OAuth2Error(f"the configuration cannot be read ({type(error).__name__})") from error
        return config

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return request.build_absolute_uri(reverse("provider_return"))

    def complete_login(self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any) -> NoReturn:
        """Check what the provider said, and leave the rest to `finish`."""
        assert self.finish is not None
        try:
            claims = self._claims(kwargs["response"]["id_token"], token.token)
        except UNUSABLE as error:
            raise OAuth2Error(f"the ID token is not valid ({type(error).__name__}: {error})") from error
        raise ImmediateHttpResponse(self.finish(request, claims, str(self.state.get("next") or "")))

    def _claims(self, id_token: str, access_token: str) -> Claims:
        signed = self._verified(id_token)
        if not hmac.compare_digest(str(signed.get("nonce")), str(self.state["nonce"])):
            raise OAuth2Error("another nonce")
        subject = signed["sub"]
        if not (isinstance(subject, str) and 0 < len(subject) <= 191 and plain(subject) == subject):
            raise OAuth2Error("no subject")
        if "userinfo_endpoint" not in self.openid_config:
            return cast("Claims", signed)
        info = self._fetch_user_info(access_token)
        if info["sub"] != signed["sub"]:
            raise OAuth2Error("two subjects")
        return cast("Claims", {**info, **signed})

    def _verified(self, id_token: str) -> dict[str, object]:
        """The claims of an ID token that this provider signed, for us, and that has not ended."""
        with get_adapter().get_requests_session() as session:
            answer = session.get(self.openid_config["jwks_uri"])
            answer.raise_for_status()
        keys = jwt.PyJWKSet.from_dict(answer.json()).keys
        wanted = jwt.get_unverified_header(id_token).get("kid")
        key = next((one for one in keys if wanted in (None, one.key_id)), None)
        if key is None:
            raise OAuth2Error("signed with a key that the provider does not have")
        client = the_provider().client_id
        claims: dict[str, object] = jwt.decode(
            id_token,
            key.key,
            algorithms=ALGORITHMS,
            issuer=self.openid_config["issuer"],
            audience=client,
            leeway=LEEWAY,
            options={"require": REQUIRED},
        )
        if claims.get("azp", client) != client:
            raise OAuth2Error("for another client")
        return claims


class Company(OpenIDConnectProvider):  # type: ignore[misc]  # untyped
    """The provider of the settings, which sends people back to our address."""

    def get_oauth2_adapter(self, request: HttpRequest) -> Signing:
        return Signing(request)


class Return(OAuth2CallbackView):  # type: ignore[misc]  # untyped
    """The way back; the state tells what was sent along."""

    def _get_state(self, request: HttpRequest, provider: Any) -> Any:
        state, refused = super()._get_state(request, provider)
        self.adapter.state = state or {}
        return state, refused


def address_to_ask(request: HttpRequest, next_page: str) -> str:
    """The page of the provider where somebody signs in; `ProviderError` where it does not answer."""
    nonce = new_token()
    provider = Company(request, app=get_adapter().list_apps(request)[0])
    try:
        answer = provider.redirect(
            request, "login", next_url=next_page, auth_params={"nonce": nonce}, nonce=nonce
        )
    except UNUSABLE as error:
        raise ProviderError(f"{type(error).__name__}: {error}") from error
    except ImmediateHttpResponse as refused:  # how django-allauth tells an error of its own
        raise ProviderError("the configuration of the provider cannot be used") from refused
    return str(answer["Location"])


def come_back(request: HttpRequest, finish: Finish, refuse: Refuse) -> HttpResponse:
    """The response of `finish` to the claims, or of `refuse` to the reason why there are none."""
    request.refuse_sign_in = refuse  # type: ignore[attr-defined]
    try:
        return cast("HttpResponse", Return.adapter_view(Signing(request, finish))(request))
    except UNUSABLE as error:
        return refuse(request, f"{type(error).__name__}: {error}")


def _raise(request: HttpRequest, reason: str) -> NoReturn:
    raise ProviderError(reason)


def _in_words(*, error: Any = None, exception: Exception | None = None, **more: Any) -> str:
    """Why the provider's answer was refused, for the log."""
    if exception is not None:
        return f"{type(exception).__name__}: {exception}"
    return (
        "the state is not of this browser" if "state_id" in (more.get("extra_context") or {}) else str(error)
    )
