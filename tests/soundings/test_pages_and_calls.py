"""What a page does, a call does: pages that change something name their calls, or say why there are none."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

#: Page -> the calls that do the same.
CALLS = {
    "account": ["POST api_token", "GET api_tokens"],
    "account_deletion": ["DELETE api_account"],
    "session_end": ["DELETE api_session"],
    "sessions_end": ["DELETE api_sessions"],
    "adjudication": ["POST api_adjudication", "DELETE api_adjudication"],
    "adjudication_rules": ["POST api_adjudication_rules", "DELETE api_adjudication_rules"],
    "annotator_gold": ["POST api_quarantine", "POST api_restore"],
    "canary_edit": ["PATCH api_canary"],
    "canary_new": ["POST api_canaries"],
    "canary_queries": ["POST api_canary_queries"],
    "canary_test": ["POST api_canary_test"],
    "collection_edit": ["PATCH api_collection"],
    "collection_new": ["POST api_collections"],
    "collection_restore": ["POST api_collection_restore"],
    "delivery_again": ["POST api_delivery_again"],
    "document_search": ["GET api_search", "POST api_search"],
    "documents": ["POST api_documents"],
    "engine_ask": ["POST api_engine_runs"],
    "engine_edit": ["PUT api_engine", "POST api_engine_try"],
    "engine_new": ["POST api_engines", "POST api_engine_try"],
    "fact_queue_new": ["POST api_fact_queues"],
    "facts_draft": ["POST api_facts_draft"],
    "facts_import": ["POST api_facts_import"],
    "judge_facts": ["POST api_fact_claim", "POST api_fact_pages", "POST api_fact_undo"],
    "query_facts": ["POST api_facts", "PATCH api_fact", "POST api_fact_merge"],
    "gold": ["POST api_gold"],
    "gold_change": ["PATCH api_gold_question"],
    "gold_decide": ["POST api_gold_suggestions"],
    "gold_edit": ["PATCH api_gold_question"],
    "gold_import": ["POST api_gold_import"],
    "gold_make": ["POST api_gold"],
    "gold_suggestions": ["POST api_gold_suggestions"],
    "invitation_new": ["POST api_invitations"],
    "invitation_withdraw": ["DELETE api_invitation"],
    "job_cancel": ["POST api_job_cancel"],
    "job_resume": ["POST api_job_resume"],
    "judge": [
        "POST api_queue_claim",
        "POST api_queue_judgments",
        "POST api_queue_skip",
        "POST api_queue_undo",
    ],
    "judgments_import": ["POST api_judgment_imports", "DELETE api_judgment_import"],
    "label": ["POST api_label", "DELETE api_label", "POST api_gold", "PATCH api_gold_question"],
    "latency_new": ["POST api_latency_reports"],
    "measure": ["POST api_measure"],
    "member_remove": ["DELETE api_member"],
    "member_role": ["PATCH api_member"],
    "members": ["POST api_members"],
    "message_answer": ["POST api_message_answer"],
    "message_send": ["POST api_queue_messages"],
    "offer_accept": ["POST api_offer"],
    "offer_decline": ["DELETE api_offer"],
    "plan": ["POST api_plan"],
    "pool_extend": ["POST api_pool_extend"],
    "pool_new": ["POST api_pools"],
    "practice": ["POST api_practice"],
    "prelabel_key": ["PUT api_prelabel_key"],
    "prelabel_pass": ["POST api_prelabel_pass", "DELETE api_prelabel_pass"],
    "prelabeler_sample": ["POST api_prelabeler_samples"],
    "prelabels_import": ["POST api_prelabel_imports"],
    "prelabels_order": ["POST api_prelabels_order"],
    "prelabels_start": ["POST api_prelabel_estimate", "POST api_prelabels"],
    "prelabels_use": ["PATCH api_prelabel_use"],
    "qrels_import": ["POST api_qrels"],
    "qrels_withdraw": ["POST api_label_file_withdraw"],
    "queries": ["POST api_queries"],
    "queue": ["PATCH api_queue"],
    "queue_finish": ["POST api_queue_finish"],
    "queue_gold": ["PATCH api_queue_gold"],
    "queue_hand_back": ["POST api_hand_back"],
    "queue_new": ["POST api_pool_queue"],
    "queue_state": ["PATCH api_queue"],
    "release_new": ["POST api_releases"],
    "replay_new": ["POST api_replays"],
    "report_again": ["POST api_report_again"],
    "report_decide": ["POST api_deciding"],
    "report_new": ["POST api_reports"],
    "report_share": ["POST api_report_links"],
    "report_unshare": ["DELETE api_report_link"],
    "run_import": ["POST api_runs"],
    "score_audits": ["POST api_score_audits"],
    "tidied": ["PATCH api_run", "DELETE api_run", "POST api_run_restore"],
    "tidy": ["PATCH api_pool", "DELETE api_pool", "POST api_pool_restore"],
    "token_revoke": ["DELETE api_token_revoke"],
    "webhook": ["PATCH api_webhook"],
    "webhook_delivery_again": ["POST api_webhook_delivery_again"],
    "webhook_new": ["POST api_webhooks"],
    "webhook_remove": ["DELETE api_webhook"],
    "webhook_test": ["POST api_webhook_test"],
    "work_decision": ["POST api_implausible"],
    "work_decision_undo": ["POST api_implausible_undo"],
    "work_reply": ["POST api_work_reply"],
}
#: Pages that only a browser needs, and why.
BROWSER_ONLY = {
    "guidelines_preview": "shows Markdown while somebody types",
    "invitation": "makes an account, with a password that a person chooses",
    "password": "a password is given to the site alone, by the person",
    "password_forgotten": "leads to a letter to the person",
    "password_reset_confirm": "a password is given to the site alone, by the person",
    "set_language": "of pages; answers to programs are in English",
    "provider_start": "leads a browser to the provider",
    "second_factor": "a secret is given to the person's app alone",
    "second_factor_code": "a session of a browser; programs send the code when they make a token",
    "second_factor_codes": "recovery codes are for people",
    "second_factor_codes_new": "recovery codes are for people",
    "second_factor_off": "a code is given to the site alone, by the person",
    "sign_in": "a session of a browser; programs make a token",
    "sign_out": "a session of a browser; programs revoke a token",
}


def patterns() -> Iterator[URLPattern]:
    """Every address of the site but those of Django's admin."""

    def within(found: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
        for one in found:
            if isinstance(one, URLPattern):
                yield one
            elif one.app_name != "admin":
                yield from within(one.url_patterns)

    yield from within(get_resolver().url_patterns)


def changing_pages() -> set[str]:
    """The names of pages that take a POST, as their decorators or methods say."""
    return {str(one.name) for one in patterns() if not str(one.name).startswith("api_") and _takes_post(one)}


def _takes_post(pattern: URLPattern) -> bool:
    view = getattr(pattern.callback, "view_class", None)
    if view is not None:
        return hasattr(view, "post")
    source = inspect.getsource(inspect.unwrap(pattern.callback))
    return "POST" in source.split("\ndef ")[0]


def calls() -> set[str]:
    """The calls of the HTTP interface, such as `POST api_runs`."""
    found = set()
    for one in patterns():
        view = getattr(one.callback, "view_class", getattr(one.callback, "cls", None))
        if str(one.name).startswith("api_") and view is not None:
            found |= {f"{name.upper()} {one.name}" for name in view.http_method_names if hasattr(view, name)}
    return found


def test_every_page_that_changes_something_has_its_call_or_says_why_not() -> None:
    assert changing_pages() == CALLS.keys() | BROWSER_ONLY.keys()


def test_these_calls_exist() -> None:
    assert {call for named in CALLS.values() for call in named} - calls() == set()
