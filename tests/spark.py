"""A Spark of two workers for the tests; run as a module it installs a Java where there is none.

`local-cluster[2,1,1024]` starts two executors of one core on this machine, each a process of its own: tasks,
results and what they share go over the network between processes, as on a cluster.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from pooling.merging.spark import missing

MASTER = "local-cluster[2,1,1024]"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "ERROR",
    "spark.executor.heartbeatInterval": "60s",
    "spark.network.timeout": "600s",
}
# Short-lived virtual machines start in half the time without the second compiler.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

sentence = missing()
needs_spark = pytest.mark.skipif(sentence is not None, reason=sentence or "")


def submit_arguments() -> str:
    """What PYSPARK_SUBMIT_ARGS must say for a cluster of two workers."""
    folders = [ROOT, *filter(None, [os.environ.get("PYTHONPATH")])]  # where `make spark` has PySpark
    settings = {**SETTINGS, "spark.executorEnv.PYTHONPATH": os.pathsep.join(folders)}
    settings |= {f"spark.{side}.extraJavaOptions": QUICK_START for side in ("driver", "executor")}
    confs = " ".join(f"--conf '{name}={value}'" for name, value in settings.items())
    return f"--master {MASTER} {confs} pyspark-shell"


def main() -> int:
    """Make sure there is a Java; without one the tests of --engine spark are skipped, and CI fails."""
    if shutil.which("java") or shutil.which("apt-get") is None or os.geteuid() != 0:
        return report()
    print("Installing a Java for the tests of --engine spark …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "default-jre-headless"]):
        subprocess.run(["apt-get", *command, "-qq"], capture_output=True, check=False, env=environment)
    return report()


def report() -> int:
    if (left := missing()) is None:
        return 0
    print(f"The tests of --engine spark are skipped. {left}")
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
