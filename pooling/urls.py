from django.urls import URLPattern, path

from pooling.engines import api as engines_api
from pooling.engines import views as engines
from pooling.interface import chart_library as charts
from pooling.interface.addresses import below, call, page
from pooling.jobs import api as jobs_api
from pooling.jobs import views as jobs
from pooling.people import api as people_api
from pooling.people import views as collection
from pooling.pools import api as pools_api
from pooling.pools import views as pools
from pooling.runs import api as runs_api
from pooling.runs import views as runs
from pooling.texts import api as texts_api
from pooling.texts import views as texts
from pooling.tidying import views as tidying
from pooling.tidying.api import Restored, Tidied, TidiedCollection, TidiedThings
from pooling.tidying.kinds import KINDS

urlpatterns: list[URLPattern] = [
    # Not below collections/, where every word is a collection's short name.
    page("new-collection/", collection.new, "collection_new"),
    page("new-collection/guidelines/", collection.guidelines_preview, "guidelines_preview"),
    *below(
        "collections/<slug:slug>/",
        page("edit/", collection.edit, "collection_edit"),
        page("queries/", texts.queries, "queries"),
        page("documents/", texts.documents, "documents"),
        page("runs/", runs.runs, "runs"),
        page("runs/import/", runs.import_, "run_import"),
        page("runs/<int:run_id>/", runs.run, "run"),
        page("pools/", pools.pools, "pools"),
        page("pools/new/", pools.new, "pool_new"),
        page("pools/<int:pool_id>/", pools.pool, "pool"),
        page("pools/<int:pool_id>/pairs/", pools.pairs, "pool_pairs"),
        page("pools/<int:pool_id>/extend/", pools.extend, "pool_extend"),
        page("pools/<int:pool_id>/pool.tsv", pools.download, "pool_download"),
        page("engines/", engines.engines, "engines"),
        page("engines/new/", engines.engine_new, "engine_new"),
        page("engines/<int:engine_id>/", engines.engine, "engine"),
        page("engines/<int:engine_id>/edit/", engines.engine_edit, "engine_edit"),
        page("engines/<int:engine_id>/ask/", engines.engine_ask, "engine_ask"),
        page("tidy/", tidying.tidied, "tidied"),
        page("tidy/<slug:kind>/<int:thing_id>/", tidying.tidy, "tidy"),
        page("jobs/", jobs.collection_jobs, "jobs"),
    ),
    *(
        path(f"collections/<slug:slug>/tidy/{kind}/", tidying.tidy_chosen, {"kind": kind}, f"tidy_{kind}")
        for kind in KINDS
    ),
    page("deleted-collections/<int:collection_id>/", tidying.collection_restore, "collection_restore"),
    # The script of the pictures; its version makes it safe to keep for ever.
    page("charts/vega-embed-<str:version>.js", charts.library, "chart_library"),
    page("jobs/", jobs.own_jobs, "own_jobs"),
    *below(
        "jobs/<int:job_id>/",
        page("", jobs.job, "job"),
        page("cancel/", jobs.job_cancel, "job_cancel"),
        page("resume/", jobs.job_resume, "job_resume"),
    ),
]
api_urlpatterns: list[URLPattern] = [
    call("collections/", people_api.Collections, "api_collections"),
    *below(
        "collections/<slug:slug>/",
        call("", TidiedCollection, "api_collection"),
        call("members/", people_api.Members, "api_members"),
        call("members/<str:username>/", people_api.OneMember, "api_member"),
        call("invitations/", people_api.Invitations, "api_invitations"),
        call("invitations/<int:invitation_id>/", people_api.OneInvitation, "api_invitation"),
        call("activity/", people_api.Activity, "api_activity"),
        call("queries/", texts_api.Queries, "api_queries"),
        call("documents/", texts_api.Documents, "api_documents"),
        call("runs/", runs_api.Runs, "api_runs"),
        call("pools/", pools_api.Pools, "api_pools"),
        call("queries/<path:external_id>/restore/", Restored, "api_query_restore", kind="query"),
        call("queries/<path:external_id>/", texts_api.OneQuery, "api_query"),
        call("documents/<path:external_id>/restore/", Restored, "api_document_restore", kind="document"),
        call("documents/<path:external_id>/", texts_api.OneDocument, "api_document"),
        call("restore/", Restored, "api_collection_restore", kind="collection"),
        call("tidied/", TidiedThings, "api_tidied"),
        call("jobs/", jobs_api.Jobs, "api_jobs"),
        call("engines/", engines_api.Engines, "api_engines"),
        call("engines/try/", engines_api.EngineTry, "api_engine_try"),
        call("engines/<int:engine_id>/runs/", engines_api.EngineRuns, "api_engine_runs"),
    ),
    call("offers/", people_api.Offers, "api_offers"),
    call("offers/<int:offer_id>/", people_api.OneOffer, "api_offer"),
    call("imports/<int:import_id>/", Tidied, "api_import", kind="import"),
    call("imports/<int:import_id>/restore/", Restored, "api_import_restore", kind="import"),
    *below(
        "runs/<int:run_id>/",
        call("", runs_api.OneRun, "api_run"),
        call("rows/", runs_api.RunRows, "api_run_rows"),
        call("file/", runs_api.RunFile, "api_run_file"),
        call("restore/", Restored, "api_run_restore", kind="run"),
    ),
    *below(
        "pools/<int:pool_id>/",
        call("", pools_api.OnePool, "api_pool"),
        call("pairs/", pools_api.PoolPairs, "api_pool_pairs"),
        call("file/", pools_api.PoolFile, "api_pool_file"),
        call("restore/", Restored, "api_pool_restore", kind="pool"),
        call("extend/", pools_api.PoolExtension, "api_pool_extend"),
    ),
    call("jobs/", jobs_api.OwnJobs, "api_own_jobs"),
    call("collections/<slug:collection__slug>/engines/<int:engine_id>/", engines_api.OneEngine, "api_engine"),
    call(
        "collections/<slug:collection__slug>/engines/<int:engine_id>/restore/",
        Restored,
        "api_engine_restore",
        kind="engine",
    ),
    *below(
        "jobs/<int:job_id>/",
        call("", jobs_api.OneJob, "api_job"),
        call("cancel/", jobs_api.JobCancel, "api_job_cancel"),
        call("resume/", jobs_api.JobResume, "api_job_resume"),
    ),
    call("strategies/", pools_api.Strategies, "api_strategies"),
]
