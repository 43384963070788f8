"""Finds a Chromium for the browser tests; run as a module it installs one where there is none.

Tried in order: SOUNDINGS_CHROMIUM, a Chromium or Chrome on the PATH, Playwright's own. Installed is Debian's
package where that is allowed, else Playwright's download. The headless shell comes first: it draws no window
of its own, and a test takes two thirds of the processor time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox, because tests may run as root; no background traffic, because tests may run without a network.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",
    "--in-process-gpu",
)


def find_chromium() -> str | None:
    """The path of a Chromium, or None."""
    if given := os.environ.get("SOUNDINGS_CHROMIUM"):
        return given
    return next((path for name in NAMES if (path := shutil.which(name))), None) or _playwrights_own()


def _playwrights_own() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:  # before anything is installed
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _run(*command: str) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _install_debians() -> bool:
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    os.environ.setdefault("DEBIAN_FRONTEND", "noninteractive")
    packages = ("chromium-headless-shell", "chromium")
    return _run("apt-get", "update", "-qq") and any(
        _run("apt-get", "install", "-y", "-qq", package) for package in packages
    )


def main() -> int:
    """Make sure there is a Chromium; without one the browser tests are skipped, and CI fails."""
    if find_chromium():
        return 0
    print("Installing a Chromium for the browser tests …", flush=True)
    if (
        _install_debians() or _run(sys.executable, "-m", "playwright", "install", "chromium")
    ) and find_chromium():
        return 0
    print(
        "The browser tests are skipped: there is no Chromium here, and neither Debian's package nor "
        "Playwright's download could be installed. Install one, or name it in SOUNDINGS_CHROMIUM."
    )
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
