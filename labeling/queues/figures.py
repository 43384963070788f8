"""What a queue will take, in a few figures, while its form is filled in; a plan has them all."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Exists, OuterRef

from labeling.models import ImportedLabel, Judgment
from labeling.queues.options import QueueOptions
from labeling.queues.workload import Terms, judgments_needed
from pooling.interface.forms import Figure
from pooling.interface.problems import InputError
from pooling.models import Pool


def queue_figures(pool: Pool, options: QueueOptions) -> list[Figure]:
    """Pairs, judgments, hours and cost of a queue over `pool`; `InputError` for what it cannot have."""
    options = options.checked(pool)
    labelled = ImportedLabel.objects.filter(
        query=OuterRef("query"), document=OuterRef("document"), relevance__gte=0
    )
    judged = Judgment.objects.filter(query=OuterRef("query"), document=OuterRef("document"))
    entries = pool.entries.filter(~Exists(labelled))
    chosen = entries.filter(inclusion_probability__isnull=False)
    if options.adaptive:
        # Any pair of the pool may come, as many as the budget has.
        every, known = entries.count(), entries.filter(Exists(judged)).count()
        pairs = min(options.adaptive.budget or pool.budget or every, every)
    else:
        pairs, known = chosen.count(), chosen.filter(Exists(judged)).count()
    if not pairs:
        raise InputError(f"Every pair to judge in pool “{pool.name}” already has a label.", field="pool")
    terms = Terms(options.judgments_per_item, options.most_judgments_per_item)
    needed = judgments_needed(pairs, terms, done=min(known, pairs))
    figures = [
        Figure("Pairs to judge", f"{pairs:,}", f"{known:,} judged in part or whole before" if known else ""),
        Figure("Judgments", f"{needed:,.0f}", "without gold questions and repeats"),
        Figure("Hours of work", f"{needed * terms.seconds / 3600:,.1f}", f"{terms.seconds:g} s a judgment"),
    ]
    if price := float(settings.PRICE_PER_JUDGMENT) * (1 + settings.COST_OVERHEAD):
        figures.append(Figure("Cost", f"{needed * price:,.2f} {settings.CURRENCY}"))
    return figures
