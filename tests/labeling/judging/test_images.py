"""Images in documents: those of allowed hosts, in attributes of ours alone; of all others the text."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from labeling.adjudication.waiting import unsettled_items
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.images import MOST_IMAGES, image_of, is_allowed
from labeling.judging.leases import claim
from labeling.judging.offers import offers_of, rich_html
from labeling.models import Queue
from tests.labeling.helpers import judge, make_queue
from tests.world import World

HOSTS = ["images.example"]
MAP = "https://images.example/map.png"
SHOWN = f'<img src="{MAP}" alt="Bus map" loading="lazy" referrerpolicy="no-referrer">'


def no_marks(text: str) -> list[tuple[int, int]]:
    return []


def html_of(source: str, kind: str = "html") -> str:
    return rich_html(f"Text.\n\n{source}", {"format": kind}, no_marks, image_hosts=HOSTS) or ""


@pytest.mark.parametrize(
    ("kind", "source"), [("markdown", f"![Bus map]({MAP})"), ("html", f'<img src="{MAP}" alt="Bus map">')]
)
def test_an_image_of_an_allowed_host_is_shown(kind: str, source: str) -> None:
    assert SHOWN in html_of(source, kind)
    assert "<img" not in (rich_html(source, {"format": kind}, no_marks) or "")
    assert rich_html(f"Text. {source}", {"format": kind}, no_marks, image_hosts=["other.example"]) is not None


OTHERS = [
    "javascript:alert(1)",
    "data:image/png;base64,iVBORw0KGgo=",
    "http://images.example/map.png",
    "//images.example/map.png",
    "map.png",
    "",
    "ftp://images.example/map.png",
    "blob:https://images.example/1",
    "https://images.example:8443/map.png",
    "https://images.example:443/map.png",
    "https://ada@images.example/map.png",
    "https://images.example@evil.example/map.png",
    "https://images.example.evil.example/map.png",
    "https://evil-images.example/map.png",
    "https://a.images.example/map.png",
    "https://images.example./map.png",
    "https://evil.example/?https://images.example/",
    "https://evil.example\\@images.example/",
    "https://images.example\\.evil.example/",
    "https:/images.example/map.png",
    "https:images.example/map.png",
    "https://images.example\t.evil.example/",
    "https://images.example\n@evil.example/",
    "https://images.example%2eevil.example/",
    "https://images。example/map.png",  # a full stop that browsers take for a dot
    "https://imageſ.example/map.png",  # a long s, which they take for an s
    "https://іmages.example/map.png",  # a Cyrillic i
    "https://[::1]/map.png",
    "https://images.example/" + "x" * 2_000,
]


@pytest.mark.parametrize("address", OTHERS)
def test_every_other_address_becomes_the_text_of_its_image(address: str) -> None:
    assert not is_allowed(address, HOSTS)
    quoted = address.replace("&", "&amp;").replace('"', "&quot;")
    html = html_of(f'<img alt="Bus map" src="{quoted}">')
    assert "<img" not in html
    assert html.endswith("Bus map")
    assert image_of({"image": address}, HOSTS) is None


@pytest.mark.parametrize("image", [None, 3, True, [MAP], {"src": MAP}, f" {MAP}"])
def test_only_an_address_is_an_image_of_the_document(image: object) -> None:
    assert image_of({"image": image}, HOSTS) is None


@pytest.mark.parametrize("kind", ["html", "markdown"])
@pytest.mark.parametrize(
    "attack",
    [
        f"<img src='{MAP}' alt='x' onerror=alert(1) onload=alert(1) style='top:0' class=verdict-bar>",
        f"<img src='{MAP}' srcset='https://evil.example/x.png 2x' sizes=1px crossorigin usemap=#m ismap>",
        f"<img src='{MAP}?\" onerror=alert(1) x=\"' alt='\" onerror=alert(1) x=\"'>",
        f"<img src='{MAP}?<script>alert(1)</script>' alt='<script>alert(1)</script>'>",
        "<img src='https://evil.example/x' alt='<script>alert(1)</script><img src=x onerror=alert(1)>'>",
        f'![" onerror=alert(1) x="]({MAP} \'" onerror=alert(1)\')',
        "![<img src=x onerror=alert(1)>](javascript:alert(1))",
        f"<picture><source srcset=https://evil.example/x.png><img src={MAP}></picture>",
        f"<svg><image href=https://evil.example/x.png /></svg><image src={MAP}>",
        f"<img src={MAP} referrerpolicy=unsafe-url loading=eager>",
        "<video poster=https://evil.example/x.png><input type=image src=https://evil.example/x.png>",
        f"<noscript><img src={MAP} title='</noscript><img src=x onerror=alert(1)>'></noscript>",
        "&lt;img src=x onerror=alert(1)&gt; <!-- --><img src=x alt='--><script>'>",
    ],
)
def test_images_have_attributes_of_ours_alone(kind: str, attack: str) -> None:
    value = '[^"<>]*'
    rest = 'loading="lazy" referrerpolicy="no-referrer"'
    ours = re.compile(rf'<img src="https://images\.example/{value}" alt="{value}" {rest}>')
    html = html_of(attack, kind)
    tags = re.findall(r"<[^>]*>", html)
    assert all(ours.fullmatch(tag) or re.fullmatch(r"</?(p|em|a|code)>", tag) for tag in tags), html
    assert "<" not in re.sub(r"<[^>]*>", "", html)


@given(st.text(), st.text())
def test_no_text_or_address_leaves_its_attribute(text: str, rest: str) -> None:
    def quoted(value: str) -> str:
        return value.replace("&", "&amp;").replace('"', "&quot;")

    html = html_of(f'<img src="{MAP}?{quoted(rest)}" alt="{quoted(text)}">')
    assert len(re.findall("<img", html)) <= 1
    assert "<" not in re.sub(
        r'<img src="[^"<>]*" alt="[^"<>]*" loading="lazy" [a-z]+="no-referrer">', "", html
    )


def test_thousands_of_images_are_a_few() -> None:
    html = html_of(f"<img src=//x alt=t><img src={MAP}>" * 300)
    assert html.count("<img") == MOST_IMAGES
    assert html.endswith("t" * (300 - MOST_IMAGES))


def test_a_document_of_nothing_but_an_image_is_shown() -> None:
    assert rich_html(f"![]({MAP})", {"format": "markdown"}, no_marks, image_hosts=HOSTS) is not None


@pytest.fixture
def queue(world: World) -> Queue:
    world.collection.image_hosts = "images.example\ncdn.example"
    world.collection.save()
    world.collection.documents.update(
        text=f"A bus.\n\n![Bus map]({MAP})", metadata={"format": "markdown", "image": MAP}
    )
    return make_queue(world, needed=2)


def policy(page: HttpResponse) -> str:
    directives = page["Content-Security-Policy"].split("; ")
    return next(one for one in directives if one.startswith("img-src"))


def page_of(user: User, path: str) -> HttpResponse:
    client = Client()
    client.force_login(user)
    page: HttpResponse = client.get(path)
    return page


def test_pages_of_documents_may_load_images_of_these_hosts_and_no_others(world: World, queue: Queue) -> None:
    item = claim(queue, world.ben, 1).leases[0].item_id
    judge(queue, world.ben, item, "relevant")
    judge(queue, world.cleo, item, "not_relevant")
    assert unsettled_items(queue).exists()
    question = add_question(world.collection, NewQuestion(query="q1", document="d1", answer="relevant"))
    shown = {
        f"/queues/{queue.pk}/judge/": world.ben,
        f"/queues/{queue.pk}/adjudication/": world.ada,
        f"/gold/{question.pk}/": world.ada,
    }
    for path, user in shown.items():
        page = page_of(user, path)
        content = page.content.decode()
        assert SHOWN in content, path
        assert f'referrerpolicy="no-referrer" src="{MAP}"' in content, path
        assert policy(page) == "img-src 'self' data: https://images.example https://cdn.example", path
    for path in ("/", f"/queues/{queue.pk}/", f"/collections/{world.collection.slug}/"):
        assert policy(page_of(world.ada, path)) == "img-src 'self' data:", path


def test_without_hosts_nothing_is_loaded(world: World, queue: Queue) -> None:
    world.collection.image_hosts = ""
    world.collection.save()
    page = page_of(world.ben, f"/queues/{queue.pk}/judge/")
    assert policy(page) == "img-src 'self' data:"
    assert MAP not in re.sub(r'"text": "[^"]*"', "", page.content.decode())  # type: ignore[attr-defined]


def test_an_image_moves_no_offset(world: World, queue: Queue) -> None:
    queue = Queue.objects.select_related("collection").get(pk=queue.pk)
    world.collection.queries.update(text="bus")
    (offer,) = offers_of(queue, world.ben, claim(queue, world.ben, 1).leases)
    document = offer["document"]
    assert document["text"] == f"A bus.\n\n![Bus map]({MAP})"
    assert document["image"] == MAP
    assert document["marks"][0] == (2, 5)
    assert SHOWN in (document["html"] or "")
