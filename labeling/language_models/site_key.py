"""The key that a site has for its first server: who may spend on it, and how much in a month.

A pass sets aside what it may cost before it begins, so the sum of a month holds whatever runs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from labeling.models import PrelabelJob
from pooling.interface.problems import InputError
from pooling.people.access import is_site_admin

ZERO = Decimal(0)


@dataclass(frozen=True)
class MonthOfSiteKey:
    """What passes may spend on the site's key in a month, and have: what they set aside counts as spent."""

    limit: Decimal
    spent: Decimal

    @property
    def left(self) -> Decimal:
        """Never below 0."""
        return max(self.limit - self.spent, ZERO)

    def __str__(self) -> str:
        """Such as “12.50 of 100.00 USD left this month”."""
        return f"{self.left:,.2f} of {self.limit:,.2f} {settings.LLM_CURRENCY} left this month"


def may_use_site_key(by: User | None) -> bool:
    """Whether somebody may spend on the key; None is the site itself, at a terminal."""
    return by is None or settings.SITE_KEY_USERS == "admins" or is_site_admin(by)


def month_of_site_key() -> MonthOfSiteKey | None:
    """This month; None where the site names no sum."""
    return _month_without(None) if settings.SITE_KEY_MONTHLY_SUM else None


def set_aside(job: PrelabelJob) -> None:
    """Note that a pass begins on the site's key, with a budget that the month has; in a transaction.

    `InputError` where the month has less than the budget, or nothing, or where no price is known.
    """
    _take_turns()
    month = _this_month()
    if job.site_key_month != month:
        job.site_key_month, job.site_key_from = month, cost_so_far(job)
    if not settings.SITE_KEY_MONTHLY_SUM:
        return
    if job.input_price is None or job.output_price is None:
        problem = f"The site's key has a sum for each month, so “{job.prelabeler.model}” needs prices: set "
        raise InputError(f"{problem}SOUNDINGS_LLM_PRICES, or give prices.", field="input_price")
    others = _month_without(job)
    most = job.site_key_from + others.left
    if most <= cost_so_far(job):
        problem = "The sum that the site's key may cost this month is used up or set aside."
        raise InputError(f"{problem} Save a key for this collection, or wait.", field="budget", conflict=True)
    if job.budget is None:
        job.budget = most
    elif job.budget > most:
        problem = f"The site's key has {others}. Choose a budget of at most {_rounded_down(most)}."
        raise InputError(problem, field="budget", conflict=True)


def cost_so_far(job: PrelabelJob) -> Decimal:
    """What a pass has cost, and may have cost."""
    cost: Decimal = job.cost + job.uncertain_cost
    return cost


def _month_without(job: PrelabelJob | None) -> MonthOfSiteKey:
    jobs = PrelabelJob.objects.filter(site_key_month=_this_month())
    others = jobs if job is None else jobs.exclude(pk=job.pk)
    return MonthOfSiteKey(settings.SITE_KEY_MONTHLY_SUM, sum(map(_taken, others), ZERO))


def _taken(job: PrelabelJob) -> Decimal:
    """What a pass took of its month: its budget while it is at work, then what it cost."""
    handed_in = sum((Decimal(batch["at_most"]) for batch in job.batches), ZERO)
    most = cost_so_far(job) + handed_in
    if job.is_active and job.budget is not None:
        most = max(most, job.budget)
    before: Decimal = job.site_key_from
    return most - before


def _this_month() -> date:
    return timezone.localdate().replace(day=1)


def _rounded_down(amount: Decimal) -> str:
    return f"{amount.quantize(Decimal('.0001'), rounding='ROUND_DOWN').normalize():f}"


def _take_turns() -> None:
    """Let no other pass set money aside until the transaction ends; on SQLite a writer is alone anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('site_key'))")
