"""Python in a process of its own, with a bound on its processor time, and told how much memory it took.

What is quadratic takes hours for a megabyte, so that nothing passes a bound of half a minute by chance.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROCESSOR_SECONDS = 30
_PROGRAM = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
arguments = json.loads(sys.stdin.read())
{script}
try:  # on Linux `ru_maxrss` is at least what the process that started this one had
    status = dict(line.split(":") for line in open("/proc/self/status") if line.startswith("VmHWM"))
    peak = 1024 * int(status["VmHWM"].split()[0])
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps([result, peak]))
"""


def run_bounded(script: str, *arguments: Any, seconds: int = PROCESSOR_SECONDS) -> tuple[Any, int]:
    """What `script` puts into `result`, and the most memory its process took, in bytes.

    `script` finds `arguments`, a list of plain data. The test fails where it takes more processor time.
    """
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(script=script, seconds=seconds)],
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "soundings.settings"},
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    result, peak = json.loads(done.stdout.splitlines()[-1])
    return result, peak
