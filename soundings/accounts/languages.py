"""Languages: annotators' pages in the one of cookie and account, all else in English."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.translation.trans_real import DjangoTranslation
from django.views import i18n
from django.views.decorators.http import require_POST, require_safe

from pooling.account_models import Preferences
from pooling.interface.pages import person, speak

#: The names of addresses whose pages are translated whatever one's role is. Views that show something else to
#: admins call `speak` themselves.
SPOKEN = frozenset(
    {
        "account",
        "account_deletion",
        "all_work",
        "document_search",
        "invitation",
        "judge",
        "judge_facts",
        "message_send",
        "offer_accept",
        "offer_decline",
        "own_work",
        "password",
        "password_forgotten",
        "password_reset_confirm",
        "practice",
        "provider_return",
        "provider_start",
        "second_factor",
        "second_factor_code",
        "second_factor_codes",
        "second_factor_codes_new",
        "second_factor_off",
        "session_end",
        "sessions_end",
        "sign_in",
        "token_revoke",
        "work_reply",
    }
)
#: In which language the judging page wants to be told what is wrong.
HEADER = "X-Language"
AN_HOUR = 3600  # seconds


class Languages(LocaleMiddleware):
    """Middleware: English, except on the pages of annotators and for what their scripts ask."""

    def process_request(self, request: HttpRequest) -> None:
        """A page says its language in a header, because a browser sends its own with every request."""
        wanted = request.headers.get(HEADER, "")
        language = wanted if wanted in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
        translation.activate(language)
        request.LANGUAGE_CODE = language

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        """Now the address is known."""
        if request.resolver_match and request.resolver_match.url_name in SPOKEN:
            speak(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Somebody who has just signed in gets the language of their account."""
        if language := getattr(request, "language_of_account", ""):
            response.set_cookie(
                settings.LANGUAGE_COOKIE_NAME,
                language,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                samesite="Lax",
            )
        return super().process_response(request, response)


def bring_language(request: HttpRequest, user: User) -> None:
    kept = Preferences.objects.filter(user=user).values_list("language", flat=True).first()
    if kept in dict(settings.LANGUAGES):
        request.language_of_account = kept  # type: ignore[attr-defined]


@require_POST
def set_language(request: HttpRequest) -> HttpResponseBase:
    """Choose a language: for this browser, and for the account of anyone who is signed in."""
    if request.user.is_authenticated:
        remember_language(person(request), request.POST.get("language", ""))
    return i18n.set_language(request)


def remember_language(user: User, language: str) -> None:
    """Keep it with the account; nothing else than a language of the site."""
    if language not in dict(settings.LANGUAGES):
        return
    Preferences.objects.update_or_create(user=user, defaults={"language": language})


class ScriptWords(i18n.JavaScriptCatalog):
    """Messages of the scripts, as a script; the language is in the address, so that a browser may keep it."""

    domain = "djangojs"

    def get(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        """Our own strings alone, without those of Django's admin."""
        language = named["language"]
        if language not in dict(settings.LANGUAGES):
            raise Http404
        paths = [str(path) for path in settings.LOCALE_PATHS]
        with translation.override(language):
            self.translation = DjangoTranslation(language, domain=self.domain, localedirs=paths)
            response = self.render_to_response(self.get_context_data())
        response["Cache-Control"] = f"public, max-age={AN_HOUR}"
        return response


script_words = require_safe(ScriptWords.as_view())
