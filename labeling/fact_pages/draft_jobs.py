"""Drafting of facts by the background worker."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.http import urlencode

from labeling.fact_pages.drafting import DraftOptions, check_drafts, draft_facts, queries_named
from labeling.prelabels.costs import Prices
from pooling.interface.results import Progress, Result
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_once
from pooling.models import Collection, Job


class DraftedFacts(Result):
    """What a model proposed."""

    queries: Annotated[int, "That were asked about."]
    facts: Annotated[int, "Proposals, for people to confirm."]
    requests: int
    cost: Annotated[float, "By the usage that the server reported, or at most."]
    failed: Annotated[dict[str, str], "Query to why there is no usable answer."]
    left: Annotated[list[str], "Queries that the budget did not reach."]


def request_drafts(collection: Collection, options: DraftOptions, user: User) -> Job:
    """Let the background worker draft facts, once for two clicks; `InputError` for what cannot be asked."""
    check_drafts(collection, options, user)
    queries_named(collection, options.queries)
    prices = options.prices and [str(options.prices.input), str(options.prices.output)]
    arguments = {
        "model": options.model,
        "base_url": options.base_url,
        "queries": options.queries,
        "budget": None if options.budget is None else str(options.budget),
        "prices": prices,
    }
    return start_once(collection, "draft", arguments, user)


@job_kind("draft", title="Drafting facts", begins_at="facts", can_be_cancelled=False, line="models")
def _draft_in_background(job: Job, progress: Progress) -> DraftedFacts:
    arguments = dict(job.arguments)
    budget, prices = arguments.pop("budget"), arguments.pop("prices")
    options = DraftOptions(
        **arguments,
        budget=None if budget is None else Decimal(budget),
        prices=None if prices is None else Prices(*map(Decimal, prices)),
    )
    done = draft_facts(job.collection, options, progress, user=job.created_by)
    page = reverse("facts", args=[job.collection.slug])
    if options.queries and len(options.queries) == 1:
        page = f"{page}query/?{urlencode({'query': options.queries[0]})}"
    return {
        "detail": " ".join([done.sentence, *done.remarks]),
        "url": page,
        "queries": done.queries,
        "facts": done.facts,
        "requests": done.requests,
        "cost": float(done.cost),
        "failed": done.failed,
        "left": done.left,
    }
