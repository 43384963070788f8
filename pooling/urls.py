"""The addresses of this stage: pages, and the HTTP interface below /api/."""

from django.urls import URLPattern, path

from pooling.engines import api as engines_api
from pooling.engines import views as engines
from pooling.interface import chart_views as charts
from pooling.jobs import api as jobs_api
from pooling.jobs import views as jobs
from pooling.people import api as people_api
from pooling.people import views as collection
from pooling.pools import api as pools_api
from pooling.pools import views as pools
from pooling.pools.strategies_api import Strategies
from pooling.runs import api as runs_api
from pooling.runs import views as runs
from pooling.texts import api as texts_api
from pooling.texts import views as texts
from pooling.tidying import views as tidying
from pooling.tidying.api import Restored, Tidied, TidiedCollection, TidiedThings
from pooling.tidying.kinds import KINDS

urlpatterns: list[URLPattern] = [
    # Not below collections/, where every word is a collection's short name.
    path("new-collection/", collection.new, name="collection_new"),
    path("new-collection/guidelines/", collection.guidelines_preview, name="guidelines_preview"),
    path("collections/<slug:slug>/edit/", collection.edit, name="collection_edit"),
    # collections/<slug>/queries/ and documents/
    path("collections/<slug:slug>/queries/", texts.queries, name="queries"),
    path("collections/<slug:slug>/documents/", texts.documents, name="documents"),
    # collections/<slug>/runs/
    path("collections/<slug:slug>/runs/", runs.runs, name="runs"),
    path("collections/<slug:slug>/runs/import/", runs.import_, name="run_import"),
    path("collections/<slug:slug>/runs/<int:run_id>/", runs.run, name="run"),
    # collections/<slug>/pools/
    path("collections/<slug:slug>/pools/", pools.pools, name="pools"),
    path("collections/<slug:slug>/pools/new/", pools.new, name="pool_new"),
    path("collections/<slug:slug>/pools/<int:pool_id>/", pools.pool, name="pool"),
    path("collections/<slug:slug>/pools/<int:pool_id>/pairs/", pools.pairs, name="pool_pairs"),
    path("collections/<slug:slug>/pools/<int:pool_id>/extend/", pools.extend, name="pool_extend"),
    path("collections/<slug:slug>/pools/<int:pool_id>/pool.tsv", pools.download, name="pool_download"),
    # collections/<slug>/engines/
    path("collections/<slug:slug>/engines/", engines.engines, name="engines"),
    path("collections/<slug:slug>/engines/new/", engines.engine_new, name="engine_new"),
    path("collections/<slug:slug>/engines/<int:engine_id>/", engines.engine, name="engine"),
    path("collections/<slug:slug>/engines/<int:engine_id>/edit/", engines.engine_edit, name="engine_edit"),
    path("collections/<slug:slug>/engines/<int:engine_id>/ask/", engines.engine_ask, name="engine_ask"),
    # collections/<slug>/tidy/
    path("collections/<slug:slug>/tidy/", tidying.tidied, name="tidied"),
    *(
        path(f"collections/<slug:slug>/tidy/{kind}/", tidying.tidy_chosen, {"kind": kind}, f"tidy_{kind}")
        for kind in KINDS
    ),
    path("collections/<slug:slug>/tidy/<slug:kind>/<int:thing_id>/", tidying.tidy, name="tidy"),
    path("deleted-collections/<int:collection_id>/", tidying.collection_restore, name="collection_restore"),
    # The script of the pictures; its version makes it safe to keep for ever.
    path("charts/vega-embed-<str:version>.js", charts.library, name="chart_library"),
    # collections/<slug>/jobs/ and jobs/
    path("collections/<slug:slug>/jobs/", jobs.collection_jobs, name="jobs"),
    path("jobs/", jobs.own_jobs, name="own_jobs"),
    path("jobs/<int:job_id>/", jobs.job, name="job"),
    path("jobs/<int:job_id>/cancel/", jobs.job_cancel, name="job_cancel"),
    path("jobs/<int:job_id>/resume/", jobs.job_resume, name="job_resume"),
]
api_urlpatterns: list[URLPattern] = [
    path("collections/", people_api.Collections.as_view(), name="api_collections"),
    path("collections/<slug:slug>/", TidiedCollection.as_view(), name="api_collection"),
    path("collections/<slug:slug>/members/", people_api.Members.as_view(), name="api_members"),
    path(
        "collections/<slug:slug>/members/<str:username>/", people_api.OneMember.as_view(), name="api_member"
    ),
    path("collections/<slug:slug>/invitations/", people_api.Invitations.as_view(), name="api_invitations"),
    path(
        "collections/<slug:slug>/invitations/<int:invitation_id>/",
        people_api.OneInvitation.as_view(),
        name="api_invitation",
    ),
    path("offers/", people_api.Offers.as_view(), name="api_offers"),
    path("offers/<int:offer_id>/", people_api.OneOffer.as_view(), name="api_offer"),
    path("collections/<slug:slug>/activity/", people_api.Activity.as_view(), name="api_activity"),
    path("collections/<slug:slug>/queries/", texts_api.Queries.as_view(), name="api_queries"),
    path("collections/<slug:slug>/documents/", texts_api.Documents.as_view(), name="api_documents"),
    path("collections/<slug:slug>/runs/", runs_api.Runs.as_view(), name="api_runs"),
    path("collections/<slug:slug>/pools/", pools_api.Pools.as_view(), name="api_pools"),
    path(
        "collections/<slug:slug>/queries/<path:external_id>/restore/",
        Restored.as_view(kind="query"),
        name="api_query_restore",
    ),
    path(
        "collections/<slug:slug>/queries/<path:external_id>/",
        texts_api.OneQuery.as_view(),
        name="api_query",
    ),
    path(
        "collections/<slug:slug>/documents/<path:external_id>/restore/",
        Restored.as_view(kind="document"),
        name="api_document_restore",
    ),
    path(
        "collections/<slug:slug>/documents/<path:external_id>/",
        texts_api.OneDocument.as_view(),
        name="api_document",
    ),
    path(
        "collections/<slug:slug>/restore/",
        Restored.as_view(kind="collection"),
        name="api_collection_restore",
    ),
    path("imports/<int:import_id>/", Tidied.as_view(kind="import"), name="api_import"),
    path("imports/<int:import_id>/restore/", Restored.as_view(kind="import"), name="api_import_restore"),
    path("runs/<int:run_id>/", runs_api.OneRun.as_view(), name="api_run"),
    path("runs/<int:run_id>/rows/", runs_api.RunRows.as_view(), name="api_run_rows"),
    path("runs/<int:run_id>/file/", runs_api.RunFile.as_view(), name="api_run_file"),
    path("runs/<int:run_id>/restore/", Restored.as_view(kind="run"), name="api_run_restore"),
    path("pools/<int:pool_id>/", pools_api.OnePool.as_view(), name="api_pool"),
    path("pools/<int:pool_id>/pairs/", pools_api.PoolPairs.as_view(), name="api_pool_pairs"),
    path("pools/<int:pool_id>/file/", pools_api.PoolFile.as_view(), name="api_pool_file"),
    path("pools/<int:pool_id>/restore/", Restored.as_view(kind="pool"), name="api_pool_restore"),
    path("pools/<int:pool_id>/extend/", pools_api.PoolExtension.as_view(), name="api_pool_extend"),
    path("collections/<slug:slug>/tidied/", TidiedThings.as_view(), name="api_tidied"),
    path("collections/<slug:slug>/jobs/", jobs_api.Jobs.as_view(), name="api_jobs"),
    path("jobs/", jobs_api.OwnJobs.as_view(), name="api_own_jobs"),
    path("collections/<slug:slug>/engines/", engines_api.Engines.as_view(), name="api_engines"),
    path("collections/<slug:slug>/engines/try/", engines_api.EngineTry.as_view(), name="api_engine_try"),
    path(
        "collections/<slug:collection__slug>/engines/<int:engine_id>/",
        engines_api.OneEngine.as_view(),
        name="api_engine",
    ),
    path(
        "collections/<slug:collection__slug>/engines/<int:engine_id>/restore/",
        Restored.as_view(kind="engine"),
        name="api_engine_restore",
    ),
    path(
        "collections/<slug:slug>/engines/<int:engine_id>/runs/",
        engines_api.EngineRuns.as_view(),
        name="api_engine_runs",
    ),
    path("jobs/<int:job_id>/", jobs_api.OneJob.as_view(), name="api_job"),
    path("jobs/<int:job_id>/cancel/", jobs_api.JobCancel.as_view(), name="api_job_cancel"),
    path("jobs/<int:job_id>/resume/", jobs_api.JobResume.as_view(), name="api_job_resume"),
    path("strategies/", Strategies.as_view(), name="api_strategies"),
]
