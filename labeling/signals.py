"""Signals for later stages, of which this one knows nothing."""

from django.dispatch import Signal

# Somebody asked for pairs and there were none that they may judge, now or soon; `queue` is the row.
queue_emptied = Signal()
# Somebody asked for items of a queue: `queue` is the row, `count` how many they hold now.
items_claimed = Signal()
# Somebody sent a verdict: `status` is what became of it, as the call says it.
verdict_recorded = Signal()
