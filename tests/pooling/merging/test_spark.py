"""What is said where `--engine spark` cannot run; the rest is in `tests/evaluation/scoring`."""

import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from pooling.merging import spark
from tests.pooling.parted import write_runs


def pool_by_spark(folder: Path) -> None:
    call_command("pool", *map(str, write_runs(folder)), "--depth", "1", "--engine", "spark")


def test_without_pyspark_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "installed", lambda module: False)
    with pytest.raises(CommandError, match=r"needs PySpark.*pip install pyspark pyarrow") as caught:
        pool_by_spark(tmp_path)
    assert caught.value.returncode == 2


def test_without_java_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "installed", lambda module: True)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(CommandError, match=r"needs Java 17 or later.*apt-get install default-jre-headless"):
        pool_by_spark(tmp_path)
