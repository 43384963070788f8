"""Addresses as the urls modules list them: of pages, of calls, and what several are below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from rest_framework.views import APIView


def page(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    return path(address, view, name=name)


def call(address: str, view: type[APIView], name: str, **options: Any) -> URLPattern:
    """The address of a call; options: attributes of its class."""
    return path(address, view.as_view(**options), name=name)


def below(start: str, *patterns: URLPattern) -> list[URLPattern]:
    """Each with `start` before its address, whole in every pattern, so that what reads them needs no tree."""
    return [path(f"{start}{one.pattern}", one.callback, one.default_args, one.name) for one in patterns]
