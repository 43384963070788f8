"""Every address of the site: the stages' pages, the HTTP interface under /api/, and the site's own."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

import evaluation.urls
import labeling.urls
import pooling.urls
from pooling.interface.addresses import below, call, page
from soundings.accounts import invitation_views, languages, member_views, removing_views, token_views
from soundings.accounts import views as account_views
from soundings.accounts.limits import Limits
from soundings.pages import find, guide, home
from soundings.serving import health
from soundings.serving import views as operations
from soundings.sign_in import provider_views as provider
from soundings.sign_in import second_factor_views as factor
from soundings.sign_in import views as sessions
from soundings.trail import views as trail

# Below /api/ these answer as the HTTP interface does, elsewhere with a page.
handler400 = "soundings.pages.refusing.not_understood"
handler403 = "soundings.pages.refusing.not_allowed"
handler404 = "soundings.pages.refusing.missing_page"
handler500 = "soundings.pages.refusing.our_fault"

urlpatterns = [
    # Claims and verdicts first: addresses are tried in this order, and nothing is asked for as often.
    path("api/", include(labeling.urls.api_urlpatterns)),
    path("api/", include(pooling.urls.api_urlpatterns)),
    path("api/", include(evaluation.urls.api_urlpatterns)),
    call("api/token/", token_views.NewToken, "api_token"),
    call("api/tokens/", token_views.Tokens, "api_tokens"),
    call("api/tokens/<int:token_id>/", token_views.OneToken, "api_token_revoke"),
    call("api/accounts/<str:username>/", removing_views.OneAccount, "api_account"),
    call("api/sessions/", sessions.Sessions, "api_sessions"),
    call("api/sessions/<int:session_id>/", sessions.OneSession, "api_session"),
    call("api/limits/", Limits, "api_limits"),
    call("api/find/", find.Find, "api_find"),
    call("api/site/health/", operations.SiteHealth, "api_site_health"),
    call("api/site/trail/lines/", trail.TrailLines, "api_trail_lines"),
    call("api/site/trail/check/", trail.TrailCheck, "api_trail_check"),
    call("api/collections/<slug:slug>/activity/lines/", trail.ActivityLines, "api_activity_lines"),
    call("api/schema/", SpectacularAPIView, "api_schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api_schema", template_name="soundings/api_docs.html"),
        name="api_docs",
    ),
    page("", home.home, "home"),
    page("health/", health.health, "health"),
    page("ready/", operations.ready, "ready"),
    page("metrics/", operations.metrics, "metrics"),
    page("site/health/", operations.site_health, "site_health"),
    page("site/trail/", trail.site_trail, "site_trail"),
    page("sign-in/", account_views.SignIn.as_view(), "sign_in"),
    page("sign-in/provider/", provider.provider_start, "provider_start"),
    page("sign-in/provider/return/", provider.provider_return, "provider_return"),
    page("sign-in/code/", factor.second_factor_code, "second_factor_code"),
    page("sign-out/", account_views.SignOut.as_view(), "sign_out"),
    page("account/", token_views.account, "account"),
    page("account/data/", token_views.own_data, "own_data"),
    page("account/sessions/end/", sessions.sessions_end, "sessions_end"),
    page("account/sessions/<int:session_id>/end/", sessions.session_end, "session_end"),
    page("account/second-factor/", factor.second_factor, "second_factor"),
    page("account/second-factor/off/", factor.second_factor_off, "second_factor_off"),
    page("account/second-factor/codes/", factor.second_factor_codes, "second_factor_codes"),
    page("account/second-factor/codes/file/", factor.second_factor_codes_file, "second_factor_codes_file"),
    page("account/second-factor/codes/new/", factor.second_factor_codes_new, "second_factor_codes_new"),
    page("account/delete/", removing_views.account_deletion, "account_deletion"),
    page("account/tokens/<int:token_id>/revoke/", token_views.token_revoke, "token_revoke"),
    page("password/", account_views.ChangePassword.as_view(), "password"),
    page("password/forgotten/", account_views.ForgotPassword.as_view(), "password_forgotten"),
    page("password/new/<uidb64>/<token>/", account_views.NewPassword.as_view(), "password_reset_confirm"),
    page("invitations/<str:token>/", invitation_views.invitation, "invitation"),
    page("offers/<int:offer_id>/accept/", invitation_views.offer_accept, "offer_accept"),
    page("offers/<int:offer_id>/decline/", invitation_views.offer_decline, "offer_decline"),
    page("language/", languages.set_language, "set_language"),
    page("words/<slug:language>.js", languages.script_words, "script_words"),
    page("find/", find.find_anything, "find"),
    page("guide/", guide.guide, "guide"),
    page("guide/<slug:page>/", guide.guide, "guide_page"),
    path("", include(pooling.urls)),
    path("", include(labeling.urls)),
    path("", include(evaluation.urls)),
    # After pooling's pages, of which collections/new/ would match too.
    *below(
        "collections/<slug:slug>/",
        page("", home.collection, "collection"),
        page("find/", find.find_anything, "collection_find"),
        page("members/", member_views.members, "members"),
        page("members/<int:member_id>/role/", member_views.member_role, "member_role"),
        page("members/<int:member_id>/remove/", member_views.member_remove, "member_remove"),
        page("invitations/", invitation_views.invitation_new, "invitation_new"),
        page(
            "invitations/<int:invitation_id>/withdraw/",
            invitation_views.invitation_withdraw,
            "invitation_withdraw",
        ),
        page("activity/", trail.activity, "activity"),
    ),
    # One door, with one throttle and one second factor.
    path("admin/login/", account_views.admin_sign_in),
    path("admin/", admin.site.urls),
]
