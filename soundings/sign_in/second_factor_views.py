from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from pooling.interface.pages import person
from soundings.installation.sign_in import REQUIRED
from soundings.sign_in import second_factor as factor
from soundings.sign_in.forms import CodeForm, TurnOnForm
from soundings.sign_in.passwords import BY_PASSWORD, has_password

View = Callable[..., HttpResponse]
#: So many wrong codes are more than one mistypes.
WORTH_SAYING = 3
CODES_FILE = "soundings-recovery-codes.txt"


def where_on(view: View) -> View:
    """A page that is there only where passwords may have a second factor."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        if not factor.is_on():
            raise Http404
        return view(request, *args, **named)

    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@where_on
@never_cache
@sensitive_post_parameters("code")
def second_factor_code(request: HttpRequest) -> HttpResponse:
    step = factor.first_step_of(request)
    if step is None:
        messages.error(request, _("Too much time has passed. Sign in again."))
        return redirect("sign_in")
    form = CodeForm(request.POST or None)
    wrong = factor.wrong_codes(step.user)
    if request.method == "POST" and form.is_valid():
        if factor.proves(request, step.user, form.cleaned_data["code"]):
            del request.session[factor.FIRST_STEP]
            login(request, step.user, backend=BY_PASSWORD)
            factor.note_code(request, step.user)
            if wrong >= WORTH_SAYING:
                messages.warning(request, _somebody_tried(wrong))
            return redirect(step.next_page)
        form.add_error("code", factor.what_to_enter(request, step.user))
    elif factor.takes_two_codes(request, step.user):
        form.fields["code"].help_text = factor.what_to_enter(request, step.user)
    return render(
        request, "soundings/second_factor_code.html", {"form": form}, status=400 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
@where_on
@login_required
@sensitive_post_parameters("code", "password")
def second_factor(request: HttpRequest) -> HttpResponse:
    """The state of one's second factor; POST sets it up."""
    user = person(request)
    if factor.asks_for_code(user):
        context = {
            "form": CodeForm(),
            "left": len(factor.recovery_codes(user)),
            "may_end": settings.SECOND_FACTOR != REQUIRED,
        }
        return render(request, "soundings/second_factor.html", context)
    if not has_password(user):
        raise PermissionDenied(_("You sign in without a password, so there is nothing to add a code to."))
    form = TurnOnForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        if not authenticate(request, username=user.get_username(), password=given["password"]):
            form.add_error("password", _("This is not your password."))
        elif factor.turn_on(request, user, given["code"]):
            messages.success(request, _("From now on, signing in takes a code as well."))
            return redirect("second_factor_codes")
        else:
            form.add_error("code", _("Wrong code. Wait for the next one and try again."))
    secret = factor.secret_to_scan(request, new=request.method != "POST")
    context = {
        "form": form,
        "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        "picture": factor.picture_of(user, secret),
        "is_required": settings.SECOND_FACTOR == REQUIRED,
    }
    return render(request, "soundings/second_factor_new.html", context, status=400 if form.errors else 200)


@require_POST
@where_on
@login_required
@sensitive_post_parameters("code")
def second_factor_off(request: HttpRequest) -> HttpResponse:
    """Go back to the password alone, with a code."""
    user = person(request)
    if settings.SECOND_FACTOR == REQUIRED:
        raise PermissionDenied(_("This site requires a second factor."))
    if factor.asks_for_code(user) and factor.proves(request, user, request.POST.get("code", "")):
        factor.turn_off(user)
        messages.success(request, _("The second factor is off."))
        return redirect("account")
    messages.error(request, factor.what_to_enter(request, user))
    return redirect("second_factor")


@require_http_methods(["GET", "HEAD", "POST"])
@where_on
@login_required
@sensitive_post_parameters("code")
def second_factor_codes(request: HttpRequest) -> HttpResponse:
    user = person(request)
    if not factor.asks_for_code(user):
        return redirect("second_factor")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if factor.proves(request, user, form.cleaned_data["code"]):
            factor.prove(request)
            return redirect("second_factor_codes")
        form.add_error("code", factor.what_to_enter(request, user))
    context = {"form": form, "codes": factor.recovery_codes(user) if factor.has_proved(request) else None}
    return render(request, "soundings/second_factor_codes.html", context, status=400 if form.errors else 200)


@require_GET
@where_on
@login_required
def second_factor_codes_file(request: HttpRequest) -> HttpResponse:
    user = person(request)
    if not (factor.asks_for_code(user) and factor.has_proved(request)):
        return redirect("second_factor_codes")
    text = "".join(f"{code}\n" for code in factor.recovery_codes(user))
    return HttpResponse(
        text,
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{CODES_FILE}"'},
    )


@require_POST
@where_on
@login_required
def second_factor_codes_new(request: HttpRequest) -> HttpResponse:
    user = person(request)
    if factor.asks_for_code(user) and factor.has_proved(request):
        factor.renew_recovery_codes(user)
        messages.success(request, _("These are your new recovery codes. Those before no longer work."))
    return redirect("second_factor_codes")


def _somebody_tried(wrong: int) -> str:
    return _(
        "{count} wrong codes were entered since you last signed in. If that was not you, somebody knows your "
        "password: change it."
    ).format(count=wrong)
