from django.urls import URLPattern

from labeling.adaptive import api as selection_api
from labeling.adjudication import api as adjudication_api
from labeling.adjudication import views as adjudication_views
from labeling.exposure import api as prelabel_use_api
from labeling.fact_pages import api as fact_keeping_api
from labeling.fact_pages import draft_requests
from labeling.fact_pages import support_api as supports_api
from labeling.fact_pages import support_views as supports
from labeling.fact_pages import views as fact_keeping
from labeling.gold import api as gold_api
from labeling.gold import plausibility_views as plausibility
from labeling.gold import views as gold_views
from labeling.gold_pages import api as gold_keeping_api
from labeling.gold_pages import practice_views
from labeling.gold_pages import views as gold_keeping
from labeling.judging import api as judging_api
from labeling.judging import choices
from labeling.judging import views as judging
from labeling.judgment_imports import views as judgment_imports
from labeling.prelabels import api as prelabel_api
from labeling.prelabels import import_calls as prelabel_imports
from labeling.prelabels import views as prelabel_views
from labeling.progress import api as progress_api
from labeling.progress import message_views
from labeling.progress import own_views as own_pages
from labeling.progress import views as progress_views
from labeling.qrels import api as qrels_api
from labeling.qrels import judgment_views as judgment_downloads
from labeling.qrels import views as qrels_views
from labeling.quality import api as quality_api
from labeling.quality import disagreements, score_audit_views
from labeling.quality import views as quality_views
from labeling.quality import worth_api as prelabeler_api
from labeling.quality import worth_views as prelabeler_views
from labeling.queues import api as queues_api
from labeling.queues import search_views
from labeling.queues import views as queues_views
from pooling.interface.addresses import below, call, page
from pooling.tidying.api import Restored, Tidied

urlpatterns: list[URLPattern] = [
    *below(
        "collections/<slug:slug>/",
        page("queues/", progress_views.queues, "queues"),
        page("queues/new/", queues_views.queue_new, "queue_new"),
        page("quality/", quality_views.collection_quality, "collection_quality"),
        page("facts/", fact_keeping.facts, "facts"),
        page("facts/import/", fact_keeping.facts_import, "facts_import"),
        page("facts/download/<slug:format>/", fact_keeping.facts_download, "facts_download"),
        page("facts/query/", fact_keeping.query_facts, "query_facts"),
        page("facts/draft/", draft_requests.facts_draft, "facts_draft"),
        page("facts/queue/", supports.fact_queue_new, "fact_queue_new"),
        page("messages/", message_views.message_list, "messages"),
        page("prelabels/", prelabeler_views.prelabelers, "prelabelers"),
        page("audits/", score_audit_views.score_audits, "score_audits"),
        page("gold/", gold_keeping.gold, "gold"),
        page("gold/import/", gold_keeping.gold_import, "gold_import"),
        page("gold/suggestions/", gold_keeping.gold_suggestions, "gold_suggestions"),
        page("gold/proposals/", gold_keeping.gold_proposals, "gold_proposals"),
        page("gold/decide/", gold_keeping.gold_decide, "gold_decide"),
        page("gold/edit/", gold_keeping.gold_edit, "gold_edit"),
        page("gold/make/", gold_keeping.gold_make, "gold_make"),
        page("qrels/", qrels_views.releases, "releases"),
        page("labels/", adjudication_views.label, "label"),
        page("judgments/", judgment_downloads.judgments_download, "judgments_download"),
        page("judgments/import/", judgment_imports.judgments_import, "judgments_import"),
        page("qrels/new/", qrels_views.release_new, "release_new"),
        page("qrels/import/", qrels_views.qrels_import, "qrels_import"),
        page("qrels/imports/<int:file_id>/withdraw/", qrels_views.qrels_withdraw, "qrels_withdraw"),
        page("qrels/<int:release_id>/", qrels_views.release, "release"),
        page(
            "qrels/<int:release_id>/download/<slug:format>/", qrels_views.release_download, "release_download"
        ),
    ),
    *below(
        "queues/<int:queue_id>/",
        page("facts/", supports.fact_queue, "fact_queue"),
        page("facts/judge/", supports.judge_facts, "judge_facts"),
        page("", progress_views.queue, "queue"),
        page("judged/", progress_views.queue_judged, "queue_judged"),
        page("state/", progress_views.queue_state, "queue_state"),
        page("hand-back/", progress_views.queue_hand_back, "queue_hand_back"),
        page("finish/", progress_views.queue_finish, "queue_finish"),
        page("quality/", quality_views.quality, "quality"),
        page("decisions/", plausibility.work_decision, "work_decision"),
        page("decisions/<int:decision_id>/undo/", plausibility.work_decision_undo, "work_decision_undo"),
        page("mine/questions/<int:decision_id>/", plausibility.work_reply, "work_reply"),
        page("disagreements/", disagreements.disagreements, "disagreements"),
        page("quality/<slug:picture>/<slug:variant>/", quality_views.quality_picture, "quality_picture"),
        page("messages/", message_views.message_send, "message_send"),
        page("judge/", judging.judge, "judge"),
        page("search/", search_views.search, "document_search"),
        page("adjudication/", adjudication_views.adjudication, "adjudication"),
        page("adjudication/rules/", adjudication_views.by_rule, "adjudication_rules"),
        page("mine/", progress_views.own_work_page, "own_work"),
        page("prelabels/", prelabel_views.prelabels, "prelabels"),
        page("prelabels/start/", prelabel_views.prelabels_start, "prelabels_start"),
        page("prelabels/import/", prelabel_imports.prelabels_import, "prelabels_import"),
        page("prelabels/key/", prelabel_views.prelabel_key, "prelabel_key"),
        page("prelabels/use/", prelabel_views.prelabels_use, "prelabels_use"),
        page(
            "prelabels/<int:prelabeler_id>/<slug:format>/",
            prelabel_views.prelabels_download,
            "prelabels_download",
        ),
        page("prelabels/order/", prelabeler_views.order, "prelabels_order"),
        page("practice/", practice_views.practice, "practice"),
        page("gold/", gold_views.queue_gold, "queue_gold"),
        page("gold/<str:name>/", gold_views.annotator_gold, "annotator_gold"),
    ),
    page("messages/<int:message_id>/answer/", message_views.message_answer, "message_answer"),
    page("account/work/", own_pages.all_work, "all_work"),
    page("account/work/hours.csv", own_pages.hours_file, "hours_file"),
    page("prelabel-passes/<int:pass_id>/", prelabel_views.prelabel_pass, "prelabel_pass"),
    *below(
        "prelabelers/<int:prelabeler_id>/",
        page("", prelabeler_views.prelabeler, "prelabeler"),
        page("sample/", prelabeler_views.sample, "prelabeler_sample"),
        page("calibration/<slug:variant>/", prelabeler_views.calibration, "prelabeler_calibration"),
    ),
    page("gold/<int:question_id>/", gold_keeping.gold_change, "gold_change"),
]
api_urlpatterns: list[URLPattern] = [
    call("pools/<int:pool_id>/queue/", queues_api.PoolQueue, "api_pool_queue"),
    *below(
        "queues/<int:queue_id>/",
        call("", queues_api.OneQueue, "api_queue"),
        call("restore/", Restored, "api_queue_restore", kind="queue"),
        call("claim/", judging_api.Claims, "api_queue_claim"),
        call("judgments/", judging_api.Judgments, "api_queue_judgments"),
        call("messages/", message_views.QueueMessages, "api_queue_messages"),
        call("skip/", judging_api.Skips, "api_queue_skip"),
        call("undo/", judging_api.Undos, "api_queue_undo"),
        call("renew/", judging_api.Renewals, "api_queue_renew"),
        call("own-verdicts/", judging_api.OwnVerdicts, "api_own_verdicts"),
        call("release/", judging_api.Returns, "api_queue_release"),
        call("adjudication/", adjudication_api.Adjudication, "api_adjudication"),
        call("adjudication/rules/", adjudication_api.AdjudicationByRule, "api_adjudication_rules"),
        call("search/", search_views.Search, "api_search"),
        call("quality/", quality_api.Quality, "api_quality"),
        call("disagreements/", quality_api.Disagreements, "api_disagreements"),
        call("questions/", plausibility.WorkQuestions, "api_work_questions"),
        call("questions/<int:decision_id>/reply/", plausibility.WorkReply, "api_work_reply"),
        call("implausible/", plausibility.Implausible, "api_implausible"),
        call("implausible/<int:decision_id>/undo/", plausibility.DecisionUndone, "api_implausible_undo"),
        call("progress/", progress_api.Progress, "api_queue_progress"),
        call("selection/", selection_api.AdaptiveOrder, "api_selection"),
        call("finish/", selection_api.FinishQueries, "api_queue_finish"),
        call("prelabels/", prelabel_api.Prelabels, "api_prelabels"),
        call("prelabels/estimate/", prelabel_api.PrelabelEstimate, "api_prelabel_estimate"),
        call("prelabels/imports/", prelabel_imports.PrelabelImports, "api_prelabel_imports"),
        call("prelabels/key/", prelabel_api.ModelKey, "api_prelabel_key"),
        call("prelabels/qrels/", prelabel_api.PrelabelsDownload, "api_prelabels_download"),
        call("prelabels/use/", prelabel_use_api.PrelabelUseCall, "api_prelabel_use"),
        call("prelabels/order/", prelabeler_api.ScoreOrder, "api_prelabels_order"),
        call("practice/", practice_views.Practice, "api_practice"),
        call("gold/", gold_api.QueueGold, "api_queue_gold"),
        call("gold/<str:name>/", gold_api.AnnotatorGold, "api_annotator_gold"),
        call("annotators/<str:name>/hand-back/", quality_api.HandBack, "api_hand_back"),
        call("annotators/<str:name>/quarantine/", gold_api.QuarantineCall, "api_quarantine"),
        call("annotators/<str:name>/restore/", gold_api.RestoreCall, "api_restore"),
        call("facts/", supports_api.FactQueueProgress, "api_fact_queue"),
        call("facts/claim/", supports_api.FactClaim, "api_fact_claim"),
        call("facts/pages/", supports_api.FactPages, "api_fact_pages"),
        call("facts/release/", supports_api.FactRelease, "api_fact_release"),
        call("facts/skip/", supports_api.FactSkip, "api_fact_skip"),
        call("facts/undo/", supports_api.FactUndo, "api_fact_undo"),
    ),
    call("releases/<int:release_id>/", qrels_api.OneRelease, "api_release"),
    call("releases/<int:release_id>/restore/", Restored, "api_release_restore", kind="release"),
    *below(
        "collections/<slug:slug>/",
        call("queues/", progress_api.Queues, "api_queues"),
        call("messages/", message_views.Messages, "api_messages"),
        call("search-finds/", search_views.FindsBySearch, "api_search_finds"),
        call("prelabelers/", prelabeler_api.Prelabelers, "api_prelabelers"),
        call("facts/", fact_keeping_api.Facts, "api_facts"),
        call("facts/drafts/", draft_requests.FactDrafts, "api_facts_draft"),
        call("facts/import/", fact_keeping_api.FactsFile, "api_facts_import"),
        call("facts/files/<slug:format>/", fact_keeping_api.FactsDownload, "api_facts_download"),
        call("facts/queues/", supports_api.FactQueues, "api_fact_queues"),
        call("gold/", gold_api.Gold, "api_gold"),
        call("gold/import/", gold_api.GoldFile, "api_gold_import"),
        call("gold/suggestions/", gold_keeping_api.GoldSuggestions, "api_gold_suggestions"),
        call("labels/", adjudication_api.Label, "api_label"),
        call("judgments/", judgment_downloads.JudgmentsDownload, "api_judgments_download"),
        call("judgments/imports/", judgment_imports.JudgmentImports, "api_judgment_imports"),
        call("releases/", qrels_api.Releases, "api_releases"),
        call("qrels/imports/", qrels_api.LabelFiles, "api_label_files"),
        call(
            "qrels/imports/<int:file_id>/withdraw/", qrels_api.LabelFileWithdrawal, "api_label_file_withdraw"
        ),
        call("qrels/", qrels_api.Qrels, "api_qrels"),
        # The contract has the download without a slash at its end.
        call("qrels", qrels_api.QrelsDownload, "api_qrels_download"),
    ),
    call("messages/<int:message_id>/answer/", message_views.MessageAnswer, "api_message_answer"),
    call("prelabel-passes/<int:pass_id>/", prelabel_api.PrelabelPass, "api_prelabel_pass"),
    *below(
        "prelabelers/<int:prelabeler_id>/",
        call("", prelabeler_api.OnePrelabeler, "api_prelabeler"),
        call("samples/", prelabeler_api.Samples, "api_prelabeler_samples"),
        call("audits/", score_audit_views.ScoreAudits, "api_score_audits"),
    ),
    call("reading/", choices.Reading, "api_reading"),
    call("work/", own_pages.OwnWorkCall, "api_work"),
    call("work/hours/", own_pages.OwnHours, "api_work_hours"),
    call("facts/<int:fact_id>/", fact_keeping_api.OneFact, "api_fact"),
    call("facts/<int:fact_id>/merge/", fact_keeping_api.Merge, "api_fact_merge"),
    call("gold/<int:question_id>/", gold_api.OneGoldQuestion, "api_gold_question"),
    call("judgment-imports/<int:import_id>/", Tidied, "api_judgment_import", kind="judgment-import"),
    call(
        "judgment-imports/<int:import_id>/restore/",
        Restored,
        "api_judgment_import_restore",
        kind="judgment-import",
    ),
]
