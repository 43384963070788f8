"""The addresses of this stage: pages, and the HTTP interface below /api/."""

from django.urls import URLPattern, path

from labeling.adaptive import api as selection_api
from labeling.adjudication import api as adjudication_api
from labeling.adjudication import label_views
from labeling.adjudication import views as adjudication_views
from labeling.exposure import api as prelabel_use_api
from labeling.fact_keeping import api as fact_keeping_api
from labeling.fact_keeping import views as fact_keeping
from labeling.gold import api as gold_api
from labeling.gold import views as gold_views
from labeling.gold_keeping import api as gold_keeping_api
from labeling.gold_keeping import views as gold_keeping
from labeling.judging import api as judging_api
from labeling.judging import views as judging
from labeling.judgment_imports import api as judgment_import_api
from labeling.judgment_imports import views as judgment_imports
from labeling.messages import api as message_api
from labeling.messages import views as message_views
from labeling.own_pages import api as own_work_api
from labeling.own_pages import views as own_pages
from labeling.plausibility import api as plausibility_api
from labeling.plausibility import views as plausibility_views
from labeling.practice import api as practice_api
from labeling.practice import views as practice_views
from labeling.prelabels import api as prelabel_api
from labeling.prelabels import import_calls as prelabel_imports
from labeling.prelabels import views as prelabel_views
from labeling.progress import api as progress_api
from labeling.progress import views as progress_views
from labeling.progress import views as queue_views
from labeling.qrels import api as qrels_api
from labeling.qrels import judgment_views as judgment_downloads
from labeling.qrels import views as qrels_views
from labeling.quality import api as quality_api
from labeling.quality import disagreements
from labeling.quality import views as quality_views
from labeling.queues import api as queues_api
from labeling.queues import views as queues_views
from labeling.reading import api as reading_api
from labeling.score_audits import api as score_audit_api
from labeling.score_audits import views as score_audit_views
from labeling.search import api as search_api
from labeling.search import views as search_views
from labeling.supports import api as supports_api
from labeling.supports import views as supports
from labeling.verification import api as prelabeler_api
from labeling.verification import views as prelabeler_views
from pooling.tidying.api import Restored, Tidied

urlpatterns: list[URLPattern] = [
    # collections/<slug>/queues/
    path("collections/<slug:slug>/queues/", progress_views.queues, name="queues"),
    path("collections/<slug:slug>/queues/new/", queues_views.queue_new, name="queue_new"),
    path("collections/<slug:slug>/quality/", quality_views.collection_quality, name="collection_quality"),
    # collections/<slug>/facts/
    path("collections/<slug:slug>/facts/", fact_keeping.facts, name="facts"),
    path("collections/<slug:slug>/facts/import/", fact_keeping.facts_import, name="facts_import"),
    path(
        "collections/<slug:slug>/facts/download/<slug:format>/",
        fact_keeping.facts_download,
        name="facts_download",
    ),
    path("collections/<slug:slug>/facts/query/", fact_keeping.query_facts, name="query_facts"),
    path("collections/<slug:slug>/facts/queue/", supports.fact_queue_new, name="fact_queue_new"),
    path("queues/<int:queue_id>/facts/", supports.fact_queue, name="fact_queue"),
    path("queues/<int:queue_id>/facts/judge/", supports.judge_facts, name="judge_facts"),
    # queues/<id>/
    path("queues/<int:queue_id>/", queue_views.queue, name="queue"),
    path("queues/<int:queue_id>/judged/", queue_views.queue_judged, name="queue_judged"),
    path("queues/<int:queue_id>/state/", queue_views.queue_state, name="queue_state"),
    path("queues/<int:queue_id>/hand-back/", queue_views.queue_hand_back, name="queue_hand_back"),
    path("queues/<int:queue_id>/finish/", queue_views.queue_finish, name="queue_finish"),
    path("queues/<int:queue_id>/quality/", quality_views.quality, name="quality"),
    path("queues/<int:queue_id>/decisions/", plausibility_views.work_decision, name="work_decision"),
    path(
        "queues/<int:queue_id>/decisions/<int:decision_id>/undo/",
        plausibility_views.work_decision_undo,
        name="work_decision_undo",
    ),
    path(
        "queues/<int:queue_id>/mine/questions/<int:decision_id>/",
        plausibility_views.work_reply,
        name="work_reply",
    ),
    path("queues/<int:queue_id>/disagreements/", disagreements.disagreements, name="disagreements"),
    path(
        "queues/<int:queue_id>/quality/<slug:picture>/<slug:variant>/",
        quality_views.quality_picture,
        name="quality_picture",
    ),
    path("queues/<int:queue_id>/messages/", message_views.message_send, name="message_send"),
    path("collections/<slug:slug>/messages/", message_views.message_list, name="messages"),
    path("messages/<int:message_id>/answer/", message_views.message_answer, name="message_answer"),
    path("account/work/", own_pages.all_work, name="all_work"),
    path("account/work/hours.csv", own_pages.hours_file, name="hours_file"),
    path("queues/<int:queue_id>/judge/", judging.judge, name="judge"),
    path("queues/<int:queue_id>/search/", search_views.search, name="document_search"),
    path("queues/<int:queue_id>/adjudication/", adjudication_views.adjudication, name="adjudication"),
    path("queues/<int:queue_id>/adjudication/rules/", adjudication_views.by_rule, name="adjudication_rules"),
    path("queues/<int:queue_id>/mine/", progress_views.own_work_page, name="own_work"),
    path("queues/<int:queue_id>/prelabels/", prelabel_views.prelabels, name="prelabels"),
    path("queues/<int:queue_id>/prelabels/start/", prelabel_views.prelabels_start, name="prelabels_start"),
    path(
        "queues/<int:queue_id>/prelabels/import/", prelabel_imports.prelabels_import, name="prelabels_import"
    ),
    path("queues/<int:queue_id>/prelabels/key/", prelabel_views.prelabel_key, name="prelabel_key"),
    path("queues/<int:queue_id>/prelabels/use/", prelabel_views.prelabels_use, name="prelabels_use"),
    path(
        "queues/<int:queue_id>/prelabels/<int:prelabeler_id>/<slug:format>/",
        prelabel_views.prelabels_download,
        name="prelabels_download",
    ),
    path("queues/<int:queue_id>/prelabels/order/", prelabeler_views.order, name="prelabels_order"),
    path("prelabel-passes/<int:pass_id>/", prelabel_views.prelabel_pass, name="prelabel_pass"),
    # collections/<slug>/prelabels/ and prelabelers/<id>/
    path("collections/<slug:slug>/prelabels/", prelabeler_views.prelabelers, name="prelabelers"),
    path("collections/<slug:slug>/audits/", score_audit_views.score_audits, name="score_audits"),
    path("prelabelers/<int:prelabeler_id>/", prelabeler_views.prelabeler, name="prelabeler"),
    path("prelabelers/<int:prelabeler_id>/sample/", prelabeler_views.sample, name="prelabeler_sample"),
    path(
        "prelabelers/<int:prelabeler_id>/calibration/<slug:variant>/",
        prelabeler_views.calibration,
        name="prelabeler_calibration",
    ),
    path("queues/<int:queue_id>/practice/", practice_views.practice, name="practice"),
    path("queues/<int:queue_id>/gold/", gold_views.queue_gold, name="queue_gold"),
    path("queues/<int:queue_id>/gold/<str:name>/", gold_views.annotator_gold, name="annotator_gold"),
    # collections/<slug>/gold/
    path("collections/<slug:slug>/gold/", gold_keeping.gold, name="gold"),
    path("collections/<slug:slug>/gold/import/", gold_keeping.gold_import, name="gold_import"),
    path("collections/<slug:slug>/gold/suggestions/", gold_keeping.gold_suggestions, name="gold_suggestions"),
    path("collections/<slug:slug>/gold/proposals/", gold_keeping.gold_proposals, name="gold_proposals"),
    path("collections/<slug:slug>/gold/decide/", gold_keeping.gold_decide, name="gold_decide"),
    path("collections/<slug:slug>/gold/edit/", gold_keeping.gold_edit, name="gold_edit"),
    path("collections/<slug:slug>/gold/make/", gold_keeping.gold_make, name="gold_make"),
    path("gold/<int:question_id>/", gold_keeping.gold_change, name="gold_change"),
    # collections/<slug>/qrels/
    path("collections/<slug:slug>/qrels/", qrels_views.releases, name="releases"),
    path("collections/<slug:slug>/labels/", label_views.label, name="label"),
    path(
        "collections/<slug:slug>/judgments/",
        judgment_downloads.judgments_download,
        name="judgments_download",
    ),
    path(
        "collections/<slug:slug>/judgments/import/",
        judgment_imports.judgments_import,
        name="judgments_import",
    ),
    path("collections/<slug:slug>/qrels/new/", qrels_views.release_new, name="release_new"),
    path("collections/<slug:slug>/qrels/import/", qrels_views.qrels_import, name="qrels_import"),
    path(
        "collections/<slug:slug>/qrels/imports/<int:file_id>/withdraw/",
        qrels_views.qrels_withdraw,
        name="qrels_withdraw",
    ),
    path("collections/<slug:slug>/qrels/<int:release_id>/", qrels_views.release, name="release"),
    path(
        "collections/<slug:slug>/qrels/<int:release_id>/download/<slug:format>/",
        qrels_views.release_download,
        name="release_download",
    ),
]
api_urlpatterns: list[URLPattern] = [
    path("pools/<int:pool_id>/queue/", queues_api.PoolQueue.as_view(), name="api_pool_queue"),
    # queues/<id>/
    path("queues/<int:queue_id>/", queues_api.OneQueue.as_view(), name="api_queue"),
    path("queues/<int:queue_id>/restore/", Restored.as_view(kind="queue"), name="api_queue_restore"),
    path("releases/<int:release_id>/", qrels_api.OneRelease.as_view(), name="api_release"),
    path("releases/<int:release_id>/restore/", Restored.as_view(kind="release"), name="api_release_restore"),
    path("collections/<slug:slug>/queues/", progress_api.Queues.as_view(), name="api_queues"),
    path("queues/<int:queue_id>/claim/", judging_api.Claims.as_view(), name="api_queue_claim"),
    path("queues/<int:queue_id>/judgments/", judging_api.Judgments.as_view(), name="api_queue_judgments"),
    path("queues/<int:queue_id>/messages/", message_api.QueueMessages.as_view(), name="api_queue_messages"),
    path("collections/<slug:slug>/messages/", message_api.Messages.as_view(), name="api_messages"),
    path("messages/<int:message_id>/answer/", message_api.MessageAnswer.as_view(), name="api_message_answer"),
    path("queues/<int:queue_id>/skip/", judging_api.Skips.as_view(), name="api_queue_skip"),
    path("queues/<int:queue_id>/undo/", judging_api.Undos.as_view(), name="api_queue_undo"),
    path("queues/<int:queue_id>/renew/", judging_api.Renewals.as_view(), name="api_queue_renew"),
    path("queues/<int:queue_id>/own-verdicts/", judging_api.OwnVerdicts.as_view(), name="api_own_verdicts"),
    path("queues/<int:queue_id>/release/", judging_api.Returns.as_view(), name="api_queue_release"),
    path(
        "queues/<int:queue_id>/adjudication/",
        adjudication_api.Adjudication.as_view(),
        name="api_adjudication",
    ),
    path(
        "queues/<int:queue_id>/adjudication/rules/",
        adjudication_api.AdjudicationByRule.as_view(),
        name="api_adjudication_rules",
    ),
    path("queues/<int:queue_id>/search/", search_api.Search.as_view(), name="api_search"),
    path(
        "collections/<slug:slug>/search-finds/", search_api.FoundBySearch.as_view(), name="api_search_finds"
    ),
    path("queues/<int:queue_id>/quality/", quality_api.Quality.as_view(), name="api_quality"),
    path(
        "queues/<int:queue_id>/disagreements/", quality_api.Disagreements.as_view(), name="api_disagreements"
    ),
    path(
        "queues/<int:queue_id>/questions/",
        plausibility_api.WorkQuestions.as_view(),
        name="api_work_questions",
    ),
    path(
        "queues/<int:queue_id>/questions/<int:decision_id>/reply/",
        plausibility_api.WorkReply.as_view(),
        name="api_work_reply",
    ),
    path(
        "queues/<int:queue_id>/implausible/", plausibility_api.Implausible.as_view(), name="api_implausible"
    ),
    path(
        "queues/<int:queue_id>/implausible/<int:decision_id>/undo/",
        plausibility_api.DecisionUndone.as_view(),
        name="api_implausible_undo",
    ),
    path("queues/<int:queue_id>/progress/", progress_api.Progress.as_view(), name="api_queue_progress"),
    path("queues/<int:queue_id>/selection/", selection_api.AdaptiveOrder.as_view(), name="api_selection"),
    path("queues/<int:queue_id>/finish/", selection_api.FinishQueries.as_view(), name="api_queue_finish"),
    path("queues/<int:queue_id>/prelabels/", prelabel_api.Prelabels.as_view(), name="api_prelabels"),
    path(
        "queues/<int:queue_id>/prelabels/estimate/",
        prelabel_api.PrelabelEstimate.as_view(),
        name="api_prelabel_estimate",
    ),
    path(
        "queues/<int:queue_id>/prelabels/imports/",
        prelabel_imports.PrelabelImports.as_view(),
        name="api_prelabel_imports",
    ),
    path("queues/<int:queue_id>/prelabels/key/", prelabel_api.ModelKey.as_view(), name="api_prelabel_key"),
    path(
        "queues/<int:queue_id>/prelabels/qrels/",
        prelabel_api.PrelabelsDownload.as_view(),
        name="api_prelabels_download",
    ),
    path(
        "queues/<int:queue_id>/prelabels/use/",
        prelabel_use_api.PrelabelUseCall.as_view(),
        name="api_prelabel_use",
    ),
    path(
        "queues/<int:queue_id>/prelabels/order/",
        prelabeler_api.ScoreOrder.as_view(),
        name="api_prelabels_order",
    ),
    path("prelabel-passes/<int:pass_id>/", prelabel_api.PrelabelPass.as_view(), name="api_prelabel_pass"),
    path(
        "collections/<slug:slug>/prelabelers/", prelabeler_api.Prelabelers.as_view(), name="api_prelabelers"
    ),
    path("prelabelers/<int:prelabeler_id>/", prelabeler_api.OnePrelabeler.as_view(), name="api_prelabeler"),
    path(
        "prelabelers/<int:prelabeler_id>/samples/",
        prelabeler_api.Samples.as_view(),
        name="api_prelabeler_samples",
    ),
    path(
        "prelabelers/<int:prelabeler_id>/audits/",
        score_audit_api.ScoreAudits.as_view(),
        name="api_score_audits",
    ),
    path("reading/", reading_api.Reading.as_view(), name="api_reading"),
    path("work/", own_work_api.OwnWork.as_view(), name="api_work"),
    path("work/hours/", own_work_api.OwnHours.as_view(), name="api_work_hours"),
    path("queues/<int:queue_id>/practice/", practice_api.Practice.as_view(), name="api_practice"),
    path("queues/<int:queue_id>/gold/", gold_api.QueueGold.as_view(), name="api_queue_gold"),
    path(
        "queues/<int:queue_id>/gold/<str:name>/", gold_api.AnnotatorGold.as_view(), name="api_annotator_gold"
    ),
    path(
        "queues/<int:queue_id>/annotators/<str:name>/hand-back/",
        quality_api.HandBack.as_view(),
        name="api_hand_back",
    ),
    path(
        "queues/<int:queue_id>/annotators/<str:name>/quarantine/",
        gold_api.QuarantineCall.as_view(),
        name="api_quarantine",
    ),
    path(
        "queues/<int:queue_id>/annotators/<str:name>/restore/",
        gold_api.RestoreCall.as_view(),
        name="api_restore",
    ),
    # facts and what documents say of them
    path("collections/<slug:slug>/facts/", fact_keeping_api.Facts.as_view(), name="api_facts"),
    path(
        "collections/<slug:slug>/facts/import/", fact_keeping_api.FactsFile.as_view(), name="api_facts_import"
    ),
    path(
        "collections/<slug:slug>/facts/files/<slug:format>/",
        fact_keeping_api.FactsDownload.as_view(),
        name="api_facts_download",
    ),
    path("collections/<slug:slug>/facts/queues/", supports_api.FactQueues.as_view(), name="api_fact_queues"),
    path("facts/<int:fact_id>/", fact_keeping_api.OneFact.as_view(), name="api_fact"),
    path("facts/<int:fact_id>/merge/", fact_keeping_api.Merge.as_view(), name="api_fact_merge"),
    path("queues/<int:queue_id>/facts/", supports_api.FactQueueProgress.as_view(), name="api_fact_queue"),
    path("queues/<int:queue_id>/facts/claim/", supports_api.FactClaim.as_view(), name="api_fact_claim"),
    path("queues/<int:queue_id>/facts/pages/", supports_api.FactPages.as_view(), name="api_fact_pages"),
    path("queues/<int:queue_id>/facts/skip/", supports_api.FactSkip.as_view(), name="api_fact_skip"),
    path("queues/<int:queue_id>/facts/undo/", supports_api.FactUndo.as_view(), name="api_fact_undo"),
    # collections/<slug>/gold/
    path("collections/<slug:slug>/gold/", gold_api.Gold.as_view(), name="api_gold"),
    path("collections/<slug:slug>/gold/import/", gold_api.GoldFile.as_view(), name="api_gold_import"),
    path(
        "collections/<slug:slug>/gold/suggestions/",
        gold_keeping_api.GoldSuggestions.as_view(),
        name="api_gold_suggestions",
    ),
    path("gold/<int:question_id>/", gold_api.OneGoldQuestion.as_view(), name="api_gold_question"),
    # collections/<slug>/: labels; the contract has the download without a slash at its end
    path("collections/<slug:slug>/labels/", adjudication_api.Label.as_view(), name="api_label"),
    path(
        "collections/<slug:slug>/judgments/",
        judgment_downloads.JudgmentsDownload.as_view(),
        name="api_judgments_download",
    ),
    path(
        "collections/<slug:slug>/judgments/imports/",
        judgment_import_api.JudgmentImports.as_view(),
        name="api_judgment_imports",
    ),
    path(
        "judgment-imports/<int:import_id>/",
        Tidied.as_view(kind="judgment-import"),
        name="api_judgment_import",
    ),
    path(
        "judgment-imports/<int:import_id>/restore/",
        Restored.as_view(kind="judgment-import"),
        name="api_judgment_import_restore",
    ),
    path("collections/<slug:slug>/releases/", qrels_api.Releases.as_view(), name="api_releases"),
    path("collections/<slug:slug>/qrels/imports/", qrels_api.LabelFiles.as_view(), name="api_label_files"),
    path(
        "collections/<slug:slug>/qrels/imports/<int:file_id>/withdraw/",
        qrels_api.LabelFileWithdrawal.as_view(),
        name="api_label_file_withdraw",
    ),
    path("collections/<slug:slug>/qrels/", qrels_api.Qrels.as_view(), name="api_qrels"),
    path("collections/<slug:slug>/qrels", qrels_api.QrelsDownload.as_view(), name="api_qrels_download"),
]
