"""The verdicts of a queue as one frame, in one statement: what the figures of quality are computed from."""

from __future__ import annotations

from django.utils import timezone

from labeling.items.reading_speed import CHARACTERS
from labeling.models import Judgment, Queue, Verdict
from pooling.heavy import pl
from pooling.storage.frames import rows_frame


def queue_verdicts(queue: Queue) -> pl.DataFrame:
    """The verdicts that stand and were given in the queue, in the order in which they were given.

    Columns: query_id, document_id, annotator (keys of rows), at (Datetime in the site's time zone), relevant
    (null for "can't judge"), active_ms (null where it was not measured), set_aside (in quarantine),
    characters (of title and text, as far as reading speed needs them). Answers to gold questions are not
    among them, nor adjudications: anyone who settles a pair has seen what the others said.
    """
    rows = Judgment.objects.filter(event__queue=queue, is_gold=False, is_adjudication=False)
    frame = rows_frame(
        rows.annotate(characters=CHARACTERS).order_by("event"),
        "query_id",
        "document_id",
        "verdict",
        "characters",
        annotator="annotator_id",
        at="judged_at",
        active_ms="event__active_ms",
        set_aside="quarantine_id",
    )
    when_decided = pl.when(pl.col("verdict") != Verdict.CANNOT_JUDGE.value)
    return frame.select(
        "query_id",
        "document_id",
        "annotator",
        pl.col("at").dt.round("1ms").dt.convert_time_zone(timezone.get_current_timezone_name()),
        when_decided.then(pl.col("verdict") == Verdict.RELEVANT.value).alias("relevant"),
        "active_ms",
        pl.col("set_aside").is_not_null(),
        "characters",
    )
