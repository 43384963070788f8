"""Signals for later stages, of which this one knows nothing."""

from django.dispatch import Signal

# A run was stored, in the transaction that stores it; `run` is the row.
run_imported = Signal()
# An engine that is asked by itself could not be; `engine` is the row, `problem` a sentence.
engine_failed = Signal()
