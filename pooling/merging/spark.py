"""Past one machine: a function called with many tasks by Apache Spark, each in a Python process of a worker.

Which cluster is Spark's own matter: spark-submit, spark-defaults.conf or PYSPARK_SUBMIT_ARGS say so, and
without them it is this machine. Soundings must be installed on every worker, and the files that tasks name
must be where every worker sees them.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Task = TypeVar("Task")
Result = TypeVar("Result")

#: Tasks handed out at a time, for each that can run at once: bounds what the driver holds.
TASKS_EACH = 8
NO_PYSPARK = "--engine spark needs PySpark, which is not installed: pip install pyspark pyarrow."
NO_JAVA = (
    "--engine spark needs Java 17 or later, and there is none here: install it (Debian: apt-get install "
    "default-jre-headless), or name its folder in JAVA_HOME."
)


def missing() -> str | None:
    """A sentence that says what to install before Spark can run here; None when it can."""
    if not (installed("pyspark") and installed("pyarrow")):
        return NO_PYSPARK
    home = os.environ.get("JAVA_HOME")
    has_java = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    return None if has_java else NO_JAVA


def installed(module: str) -> bool:
    return find_spec(module) is not None


def spark_session() -> SparkSession:
    """The session that is there, or a new one; ValueError with a sentence where Spark cannot run."""
    if (sentence := missing()) is not None:
        raise ValueError(sentence)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with without_pandas_warning():
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName("Soundings")
        return builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()


def spark_map(function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
    """`function` of every task, in order; all of it is pickled. ValueError and OSError come through."""
    session = spark_session()
    context = session.sparkContext
    shared = context.broadcast((function, tasks))
    step = TASKS_EACH * context.defaultParallelism
    try:
        for first in range(0, len(tasks), step):
            last = min(first + step, len(tasks))
            with without_pandas_warning():
                rows = session.range(first, last, 1, last - first).mapInArrow(
                    lambda batches: work(shared.value, batches), "number long, result binary"
                )
                collected = sorted(rows.collect())
            for _, result in collected:
                yield opened(result)
    finally:
        shared.unpersist()


def work(
    shared: tuple[Callable[[Any], Any], Sequence[Any]], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """In a worker: Arrow batches with the numbers of tasks in, with numbers and pickled results out."""
    import pyarrow as pa

    function, tasks = shared
    for batch in batches:
        for number in batch.column(0).to_pylist():
            try:
                result = function(tasks[number])
            except (ValueError, OSError) as error:
                result = error
            columns = [pa.array([number]), pa.array([pickle.dumps(result)], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, ["number", "result"])


def opened(result: bytes) -> Any:
    value = pickle.loads(result)  # noqa: S301 - written by our own worker a moment ago
    if isinstance(value, ValueError | OSError):
        raise value
    return value


def without_pandas_warning() -> warnings.catch_warnings[None]:
    """PySpark warns of every pandas newer than itself; nothing here goes through pandas."""
    return warnings.catch_warnings(action="ignore", category=FutureWarning)
