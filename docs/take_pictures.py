"""`make pictures`: the pictures of README and guide, taken from a fresh demo in a real browser."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from docs.rooms import ROOT
from tests.browser.chromium import ARGUMENTS, find_chromium

PICTURES = ROOT / "templates" / "docs" / "pictures"
SIZE = (1200, 820)
# Flat colours: a palette makes a picture a third as large, and looks the same.
COLOURS = 128
SITE = "http://127.0.0.1:8799"
SECONDS_TO_START = 60

# Name -> where the picture is taken: an address, and the element that is clicked there.
SCENES = {
    "collection": ("/collections/demo/", ""),
    "judging": ("/queues/5/judge/", "[data-action=begin]"),
    "pool": ("/collections/demo/pools/2/", ""),
    "report": ("/reports/2/", ""),
}


def main() -> None:
    """Make the demo in a folder of its own, serve it, and replace the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        settings = os.environ | {"SOUNDINGS_DATA": folder, "PYTHONWARNINGS": "ignore"}
        settings.pop("DATABASE_URL", None)
        made = _manage(settings, "demo", "--no-serve")
        password = next(line.split()[2] for line in made.splitlines() if line.split()[:1] == ["demo-admin"])
        command = [sys.executable, "manage.py", "runserver", "--noreload", SITE.removeprefix("http://")]
        server = subprocess.Popen(  # noqa: S603  our own server
            command, cwd=ROOT, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait()
            _take("demo-admin", password)
        finally:
            server.terminate()
            server.wait()


def _manage(settings: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(  # noqa: S603  our own command
        command, cwd=ROOT, env=settings, check=True, capture_output=True, text=True
    )
    return done.stdout


def _wait() -> None:
    for _ in range(SECONDS_TO_START):
        try:
            urlopen(f"{SITE}/health/")  # noqa: S310  our own server
            return
        except URLError:
            time.sleep(1)
    raise SystemExit(f"The site did not start within {SECONDS_TO_START} seconds.")


def _take(name: str, password: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
        page.goto(f"{SITE}/sign-in/")
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password", exact=True).fill(password)
        page.get_by_role("button", name="Sign in").click()
        for scene, (address, click) in SCENES.items():
            page.goto(SITE + address, wait_until="networkidle")
            if click:
                page.locator(click).click()
            page.mouse.move(0, 0)
            page.wait_for_timeout(500)
            _store(page, PICTURES / f"{scene}.png")
        browser.close()


def _store(page: Page, path: Path) -> None:
    picture = Image.open(BytesIO(page.screenshot(animations="disabled")))
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
