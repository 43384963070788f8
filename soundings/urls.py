"""Every address of the site: the stages' pages, the HTTP interface under /api/, and the site's own."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

import evaluation.urls
import labeling.urls
import pooling.urls
from soundings.accounts import invitation_views, languages, member_views, removing_views, token_views
from soundings.accounts import views as account_views
from soundings.accounts.limits import Limits
from soundings.operations import api as operations_api
from soundings.operations import health
from soundings.operations import views as operations
from soundings.pages import find, guide, home
from soundings.sessions import views as sessions
from soundings.sign_in import provider_views as provider
from soundings.sign_in import second_factor_views as factor
from soundings.trail import api as trail_api
from soundings.trail import views as trail

# Below /api/ these answer as the HTTP interface does, elsewhere with a page.
handler400 = "soundings.pages.errors.not_understood"
handler403 = "soundings.pages.errors.not_allowed"
handler404 = "soundings.pages.errors.not_found"
handler500 = "soundings.pages.errors.our_fault"

urlpatterns = [
    # Claims and verdicts first: addresses are tried in this order, and nothing is asked for as often.
    path("api/", include(labeling.urls.api_urlpatterns)),
    path("api/", include(pooling.urls.api_urlpatterns)),
    path("api/", include(evaluation.urls.api_urlpatterns)),
    path("api/token/", token_views.NewToken.as_view(), name="api_token"),
    path("api/tokens/", token_views.Tokens.as_view(), name="api_tokens"),
    path("api/tokens/<int:token_id>/", token_views.OneToken.as_view(), name="api_token_revoke"),
    path("api/accounts/<str:username>/", removing_views.OneAccount.as_view(), name="api_account"),
    path("api/sessions/", sessions.Sessions.as_view(), name="api_sessions"),
    path("api/sessions/<int:session_id>/", sessions.OneSession.as_view(), name="api_session"),
    path("api/limits/", Limits.as_view(), name="api_limits"),
    path("api/find/", find.Find.as_view(), name="api_find"),
    path("api/site/health/", operations_api.SiteHealth.as_view(), name="api_site_health"),
    path("api/site/trail/lines/", trail_api.TrailLines.as_view(), name="api_trail_lines"),
    path("api/site/trail/check/", trail_api.TrailCheck.as_view(), name="api_trail_check"),
    path(
        "api/collections/<slug:slug>/activity/lines/",
        trail_api.ActivityLines.as_view(),
        name="api_activity_lines",
    ),
    path("api/schema/", SpectacularAPIView.as_view(), name="api_schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api_schema", template_name="soundings/api_docs.html"),
        name="api_docs",
    ),
    path("", home.home, name="home"),
    path("health/", health.health, name="health"),
    path("ready/", operations.ready, name="ready"),
    path("metrics/", operations.metrics, name="metrics"),
    path("site/health/", operations.site_health, name="site_health"),
    path("site/trail/", trail.site_trail, name="site_trail"),
    path("sign-in/", account_views.SignIn.as_view(), name="sign_in"),
    path("sign-in/provider/", provider.provider_start, name="provider_start"),
    path("sign-in/provider/return/", provider.provider_return, name="provider_return"),
    path("sign-in/code/", factor.second_factor_code, name="second_factor_code"),
    path("sign-out/", account_views.SignOut.as_view(), name="sign_out"),
    path("account/", token_views.account, name="account"),
    path("account/data/", token_views.own_data, name="own_data"),
    path("account/sessions/end/", sessions.sessions_end, name="sessions_end"),
    path("account/sessions/<int:session_id>/end/", sessions.session_end, name="session_end"),
    path("account/second-factor/", factor.second_factor, name="second_factor"),
    path("account/second-factor/off/", factor.second_factor_off, name="second_factor_off"),
    path("account/second-factor/codes/", factor.second_factor_codes, name="second_factor_codes"),
    path(
        "account/second-factor/codes/file/", factor.second_factor_codes_file, name="second_factor_codes_file"
    ),
    path("account/second-factor/codes/new/", factor.second_factor_codes_new, name="second_factor_codes_new"),
    path("account/delete/", removing_views.account_deletion, name="account_deletion"),
    path("account/tokens/<int:token_id>/revoke/", token_views.token_revoke, name="token_revoke"),
    path("password/", account_views.ChangePassword.as_view(), name="password"),
    path("password/forgotten/", account_views.ForgotPassword.as_view(), name="password_forgotten"),
    path(
        "password/new/<uidb64>/<token>/", account_views.NewPassword.as_view(), name="password_reset_confirm"
    ),
    path("invitations/<str:token>/", invitation_views.invitation, name="invitation"),
    path("offers/<int:offer_id>/accept/", invitation_views.offer_accept, name="offer_accept"),
    path("offers/<int:offer_id>/decline/", invitation_views.offer_decline, name="offer_decline"),
    path("language/", languages.set_language, name="set_language"),
    path("words/<slug:language>.js", languages.script_words, name="script_words"),
    path("find/", find.find_anything, name="find"),
    path("guide/", guide.guide, name="guide"),
    path("guide/<slug:page>/", guide.guide, name="guide_page"),
    path("", include(pooling.urls)),
    path("", include(labeling.urls)),
    path("", include(evaluation.urls)),
    # After pooling's pages, of which collections/new/ would match too.
    path("collections/<slug:slug>/", home.collection, name="collection"),
    path("collections/<slug:slug>/find/", find.find_anything, name="collection_find"),
    path("collections/<slug:slug>/members/", member_views.members, name="members"),
    path(
        "collections/<slug:slug>/members/<int:member_id>/role/", member_views.member_role, name="member_role"
    ),
    path(
        "collections/<slug:slug>/members/<int:member_id>/remove/",
        member_views.member_remove,
        name="member_remove",
    ),
    path("collections/<slug:slug>/invitations/", invitation_views.invitation_new, name="invitation_new"),
    path(
        "collections/<slug:slug>/invitations/<int:invitation_id>/withdraw/",
        invitation_views.invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("collections/<slug:slug>/activity/", trail.activity, name="activity"),
    # One door, with one throttle and one second factor.
    path("admin/login/", account_views.admin_sign_in),
    path("admin/", admin.site.urls),
]
