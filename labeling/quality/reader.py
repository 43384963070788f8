"""The verdicts of a queue as one frame, in one statement: what the figures of quality are computed from."""

from __future__ import annotations

from django.db import connection
from django.utils import timezone

from labeling.items.reading import MOST_CHARACTERS
from labeling.models import Queue, Verdict
from pooling.heavy import pl
from pooling.storage.frames import frame_of

# Adjudications are left out: anyone who settles a pair has seen what the others said.
VERDICTS = """
SELECT judgment.query_id, judgment.document_id, judgment.annotator_id, judgment.verdict, {seconds},
  event.active_ms, CASE WHEN judgment.quarantine_id IS NULL THEN 0 ELSE 1 END,
  COALESCE(LENGTH(SUBSTR(document.title, 1, {most})), 0)
    + COALESCE(LENGTH(SUBSTR(document.text, 1, {most})), 0)
FROM labeling_judgment judgment JOIN labeling_judgmentevent event ON event.id = judgment.event_id
JOIN pooling_document document ON document.id = judgment.document_id
WHERE event.queue_id = %s AND NOT judgment.is_gold AND NOT judgment.is_adjudication
ORDER BY event.id
"""
SECONDS = {
    "postgresql": "EXTRACT(EPOCH FROM judgment.judged_at)::float8",
    "sqlite": "(julianday(judgment.judged_at) - 2440587.5) * 86400.0",
}


def queue_verdicts(queue: Queue) -> pl.DataFrame:
    """The verdicts that stand and were given in the queue, in the order in which they were given.

    Columns: query_id, document_id, annotator (keys of rows), at (Datetime in the site's time zone), relevant
    (null for "can't judge"), active_ms (null where it was not measured), set_aside (in quarantine),
    characters (of title and text, as far as reading speed needs them). Answers to gold questions are not
    among them.
    """
    schema = {
        "query_id": pl.Int64,
        "document_id": pl.Int64,
        "annotator": pl.Int64,
        "verdict": pl.String,
        "seconds": pl.Float64,
        "active_ms": pl.Int64,
        "set_aside": pl.Int8,
        "characters": pl.Int64,
    }
    statement = VERDICTS.format(seconds=SECONDS[connection.vendor], most=MOST_CHARACTERS)
    frame = frame_of(statement, [queue.pk], schema)
    moment = pl.from_epoch((pl.col("seconds") * 1000).round().cast(pl.Int64), time_unit="ms")
    known = pl.when(pl.col("verdict") != Verdict.CANNOT_JUDGE.value)
    return frame.select(
        "query_id",
        "document_id",
        "annotator",
        moment.dt.replace_time_zone("UTC")
        .dt.convert_time_zone(timezone.get_current_timezone_name())
        .alias("at"),
        known.then(pl.col("verdict") == Verdict.RELEVANT.value).alias("relevant"),
        "active_ms",
        pl.col("set_aside").cast(pl.Boolean),
        pl.col("characters").fill_null(0),
    )
