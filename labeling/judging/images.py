"""Images in documents: those of the hosts that a collection allows, in a box of one size; of others the text.

An image is asked for by the browser of the person who reads, so its host learns their address. That is why no
host is allowed until an admin names it.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Several
from html import escape, unescape
from typing import TYPE_CHECKING, TypeVar

from django.http import HttpResponseBase

from pooling.models import Collection

if TYPE_CHECKING:
    Response = TypeVar("Response", bound=HttpResponseBase)

#: Images of one document; what comes after them is its text alone.
MOST_IMAGES = 20
LONGEST_ADDRESS = 2_000
# After the host an address goes on with a path or ends: no port, no user, no second name. Browsers take a
# backslash for a slash and leave out line breaks; neither can hide another host here.
_ADDRESS = re.compile(r"https://([a-z0-9.-]+)(?:[/?#][^\\\x00-\x1f\x7f]*)?", re.IGNORECASE | re.ASCII)
# As a sanitiser writes it: quotation marks inside values are escaped.
_IMAGE = re.compile(r'<img((?: [a-z]+="[^"]*")*)>')
_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"]*)"')


def is_allowed(address: str, hosts: Several[str]) -> bool:
    """The address is by https, from one of `hosts`.

    >>> is_allowed("https://a.example/x.png", ["a.example"])
    True
    >>> is_allowed("https://a.example.evil.example/x.png", ["a.example"])
    False
    """
    match = _ADDRESS.fullmatch(address)
    return match is not None and len(address) <= LONGEST_ADDRESS and match[1].lower() in hosts


def image_of(metadata: object, hosts: Several[str]) -> str | None:
    """The address under `image` in a document's metadata, where it is allowed."""
    address = metadata.get("image") if isinstance(metadata, dict) else None
    return address if isinstance(address, str) and is_allowed(address, hosts) else None


def with_images(html: str, hosts: Several[str]) -> str:
    """Sanitised HTML; its first allowed images have `src` and `alt`, all others are their text."""
    image_count = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal image_count
        values = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[1])}
        address, text = values.get("src", ""), values.get("alt", "")
        if image_count == MOST_IMAGES or not is_allowed(address, hosts):
            return escape(text)
        image_count += 1
        return (
            f'<img src="{escape(address)}" alt="{escape(text)}" loading="lazy" referrerpolicy="no-referrer">'
        )

    return _IMAGE.sub(replaced, html)


def allow_images(response: Response, collection: Collection) -> Response:
    """The page of documents, which may load the images that its collection allows and no others."""
    if hosts := collection.image_hosts.split():
        addresses = [f"https://{host}" for host in hosts]
        response._csp_update = {"img-src": addresses}  # type: ignore[attr-defined]  # read by django-csp
    return response
