"""Storage elsewhere as Django's settings: files in object storage, a cache in Redis."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Required, TypedDict
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

LOCAL_FILES = "django.core.files.storage.FileSystemStorage"
OBJECTS = "soundings.installation.object_storage.ObjectStorage"
SHARED_CACHE = "soundings.installation.shared_cache.SharedCache"
LOCAL_CACHE = "django.core.cache.backends.locmem.LocMemCache"
# What an address of object storage may say behind its question mark, as the library calls it.
OBJECT_OPTIONS = {"endpoint": "endpoint_url", "region": "region_name", "addressing": "addressing_style"}
ADDRESSING = ("path", "virtual", "auto")
# A cache that is slower than this is of no use to anybody.
CACHE_SECONDS = 2
EXAMPLE = "s3://bucket?endpoint=https://s3.example.org or file:///path"


class Backend(TypedDict, total=False):
    BACKEND: Required[str]
    LOCATION: str
    KEY_PREFIX: str
    OPTIONS: dict[str, str | int]


def file_storage(variable: str, value: str) -> Backend:
    """The storage of an address `s3://bucket/folder?endpoint=…`, of `file:///path`, or of a class's name."""
    if not value:
        return {"BACKEND": LOCAL_FILES}
    url = urlsplit(value)
    if url.scheme == "s3" and url.hostname:
        return _object_storage(variable, url)
    if url.scheme == "file" and url.path.startswith("/") and not url.netloc:
        return {"BACKEND": LOCAL_FILES, "OPTIONS": {"location": unquote(url.path)}}
    if url.scheme or not all(part.isidentifier() for part in value.split(".")):
        raise ImproperlyConfigured(f"{variable} is not the address of a file storage; write {EXAMPLE}.")
    return {"BACKEND": value}


def _object_storage(variable: str, url: SplitResult) -> Backend:
    given = {name: values[-1] for name, values in parse_qs(url.query).items()}
    if url.username or url.password:
        raise ImproperlyConfigured(
            f"{variable}: give the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not in the address."
        )
    if unknown := sorted(given.keys() - OBJECT_OPTIONS.keys()):
        names = ", ".join(OBJECT_OPTIONS)
        raise ImproperlyConfigured(f"{variable}: {unknown[0]} is not an option; choose from {names}.")
    if given.get("addressing", "auto") not in ADDRESSING:
        raise ImproperlyConfigured(f"{variable}: addressing is one of {', '.join(ADDRESSING)}.")
    require_library(variable, ("storages", "boto3"), "s3")
    options: dict[str, str | int] = {OBJECT_OPTIONS[name]: value for name, value in given.items()}
    if "endpoint" in given:
        # Most servers other than Amazon's have one name for all their buckets.
        options.setdefault("addressing_style", "path")
    options.update(bucket_name=url.netloc, location=unquote(url.path.strip("/")))
    return {"BACKEND": OBJECTS, "OPTIONS": options}


def shared_cache(variable: str, value: str) -> Backend:
    """The cache of `redis://host:6379/0`; without an address each process has its own."""
    if not value:
        return {"BACKEND": LOCAL_CACHE}
    if urlsplit(value).scheme not in ("redis", "rediss") or not urlsplit(value).hostname:
        # Without the value, which may hold a password.
        raise ImproperlyConfigured(
            f"{variable} is not the address of a cache; write for instance redis://host:6379/0."
        )
    require_library(variable, ("redis",), "redis")
    waits: dict[str, str | int] = {"socket_timeout": CACHE_SECONDS, "socket_connect_timeout": CACHE_SECONDS}
    return {"BACKEND": SHARED_CACHE, "LOCATION": value, "KEY_PREFIX": "soundings", "OPTIONS": waits}


def require_library(variable: str, modules: tuple[str, ...], extra: str) -> None:
    """`ImproperlyConfigured` names the extra that brings a library, where it is not installed."""
    if any(find_spec(module) is None for module in modules):
        raise ImproperlyConfigured(
            f"{variable} needs the extra “{extra}”; install it with pip install 'soundings-ir[{extra}]'."
        )
