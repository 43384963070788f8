"""In Chromium: from key-down to the next document painted, over 200 items, and requests per judgment.

    python -m benchmarks.bench_judging_page [--items 200]

The site runs in a process of its own on a database made for it, with documents of 150 and of 3,000 words by
turns. Painted means: the first task after the animation frame in which the document changed. The limits are
50 ms at p95 and one request per judgment, whatever it is for; the first claim is not counted.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from urllib.parse import urlsplit

LIMIT_MS = 50.0
TEXT = "a night bus leaves the square at one and the ferry waits for nobody in the rain"
# Times each verdict key in the page: the key's own time stamp to the task after the frame that it led to.
PROBE = """
window.painted = [];
document.addEventListener("keydown", (event) => {
  if (event.key !== "j" && event.key !== "f") return;
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.painted.push(performance.now() - event.timeStamp);
    channel.port2.postMessage(null);
  });
}, true);
"""


def fill(items: int) -> tuple[int, str]:
    """Make a queue of `items` pairs and an annotator; the queue's number and a session of theirs."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from labeling.queues.opening import open_queue
    from pooling.models import Collection, Document, Membership, Pool, PoolEntry, Query, Role

    call_command("migrate", verbosity=0)
    user = User.objects.create_user("ben")
    collection = Collection.objects.create(slug="bench", name="Bench")
    Membership.objects.create(collection=collection, user=user, role=Role.ANNOTATOR)
    pool = Pool.objects.create(collection=collection, name="pool", depth=items, strategy="rrf")
    query = Query.objects.create(collection=collection, external_id="q", text="night bus from the square")
    for place in range(items):
        length = 150 if place % 2 else 3_000
        text = ". ".join([TEXT] * (length // len(TEXT.split())))
        document = Document.objects.create(
            collection=collection, external_id=f"d{place}", title=f"Document {place}", text=text
        )
        PoolEntry.objects.create(
            pool=pool, query=query, document=document, position=place + 1, run_count=1,
            best_rank=place + 1, rrf=0.1, inclusion_probability=1.0,
        )  # fmt: skip
    client = Client()
    client.force_login(user)
    return open_queue(pool, seed=1).pk, client.cookies["sessionid"].value


def judge(address: str, queue: int, session: str, items: int) -> tuple[list[float], list[str]]:
    """Press keys until all is judged; milliseconds per key and the addresses asked meanwhile."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import ARGUMENTS, find_chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        page = context.new_page()
        page.add_init_script(PROBE)
        with page.expect_response("**/claim/"):
            page.goto(f"{address}/queues/{queue}/judge/")
        page.locator("[data-part=begin]").click()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        for place in range(items - 1):
            if page.locator("[data-part=break]").is_visible():
                page.keyboard.press("Enter")
            page.wait_for_selector("#judging[data-accepts=true]")
            page.keyboard.press("jf"[place % 2])
        page.wait_for_selector("#judging[data-waiting='0']")
        times = page.evaluate("window.painted")
        browser.close()
    return times, requests


def wait_for(address: str) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(f"{address}/health/").close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("The site did not start.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=200)
    items = parser.parse_args().items
    os.environ["DJANGO_SETTINGS_MODULE"] = "soundings.settings"
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        os.environ["SOUNDINGS_DATA"] = folder
        os.environ.pop("DATABASE_URL", None)
        queue, session = fill(items)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        address = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "gunicorn", "soundings.wsgi", "-b", f"127.0.0.1:{port}"]
        server = subprocess.Popen([*command, "--threads", "4", "--log-level", "error"])
        try:
            wait_for(address)
            times, requests = judge(address, queue, session, items)
        finally:
            server.terminate()
            server.wait()
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    print(f"{len(times)} verdicts by key: next document painted after p50 {p50:.1f} ms, p95 {p95:.1f} ms,")
    kinds = Counter(urlsplit(url).path.rstrip("/").rpartition("/")[2] for url in requests)
    per_judgment = len(requests) / len(times)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"  the longest {max(times):.1f} ms; {per_judgment:.2f} requests per judgment ({counted})")
    ok = p95 < LIMIT_MS and per_judgment <= 1
    print(f"  limits: p95 < {LIMIT_MS:.0f} ms, one request per judgment: {'held' if ok else 'NOT held'}")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
