"""Choice of the model, its address, the prompt and the key."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import Exists, OuterRef

from labeling.models import ModelServerKey, Prelabel, Prelabeler
from labeling.prelabels.client import Asking
from labeling.prelabels.costs import Prices, price_table
from labeling.prelabels.prompting import BINARY, GRADED, HIGHEST_GRADE, Prompt, prompt_for
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.access import runs_site
from pooling.people.activity_log import record_action
from pooling.storage.secrets import seal, unseal
from pooling.storage.storing import checked_name

# The one server that is known to ask for a key; of others, only they can tell.
ASKS_FOR_KEY = "api.openai.com"
DEFAULTS: dict[str, Any] = {
    "temperature": 0.0,
    "seed": 1,
    "max_tokens": 300,
    "logprobs": True,
    "max_characters": 20_000,
}
DEFAULT_THRESHOLD = 2
# Changes what is made of an answer, but no answer.
READING_OPTIONS = ("threshold",)
PROMPTS = (BINARY, GRADED)


def checked_url(base_url: str | None) -> str:
    """A server's base URL without a final slash, else the first; `InputError` if it holds a password."""
    base_url = (base_url or "").strip().rstrip("/")
    if not base_url:
        return first_server()
    try:
        parts = urlsplit(base_url)
    except ValueError:  # a bracket that is not closed
        parts = urlsplit("")
    problem = ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        problem = f"“{base_url}” is not a valid server address. Write for instance http://localhost:11434/v1."
    elif parts.username or parts.password or parts.query or parts.fragment:
        problem = "A server address must not contain a key, a password, ? or #. Save the key separately."
    if problem:
        raise InputError(problem, field="base_url")
    return base_url


def first_server() -> str:
    servers = allowed_servers()
    if not servers:
        problem = "No language model server is configured. Set SOUNDINGS_LLM_SERVERS."
        raise InputError(problem, field="base_url")
    return servers[0]


def allowed_servers() -> list[str]:
    """The settings' servers, the only ones for pages and calls: others may be in this machine's network."""
    return [url.strip().rstrip("/") for url in settings.LLM_SERVERS if url.strip()]


def allowed_url(base_url: str | None) -> str:
    """`checked_url`, and `InputError` for a server that the settings do not list."""
    base_url = checked_url(base_url)
    if base_url not in allowed_servers():
        problem = f"{base_url} is not one of the servers that this site may use (SOUNDINGS_LLM_SERVERS)."
        raise InputError(problem, field="base_url")
    return base_url


def key_for(collection: Collection, base_url: str) -> str | None:
    """The key for a server: what the collection has stored; for the first server, the environment's."""
    stored = ModelServerKey.objects.filter(collection=collection, base_url=base_url).first()
    if stored is not None:
        return unseal(stored.encrypted)
    return settings.LLM_API_KEY if uses_site_key(collection, base_url) else None


def uses_site_key(collection: Collection, base_url: str) -> bool:
    # An empty list of servers has no first one.
    belongs = bool(settings.LLM_API_KEY) and base_url in allowed_servers()[:1]
    own = ModelServerKey.objects.filter(collection=collection, base_url=base_url)
    return belongs and not own.exists()


def may_use_site_key(by: User | None) -> bool:
    """True for somebody who may spend on the key; None is the site itself, at a terminal."""
    return by is None or settings.SITE_KEY_USERS == "admins" or runs_site(by)


def missing_key(collection: Collection, base_url: str, by: User | None = None) -> str:
    """A sentence for a server that is known to want a key and has none that `by` may use; else nothing."""
    if uses_site_key(collection, base_url) and not may_use_site_key(by):
        return f"Only site admins may use the site's key for {base_url}. Save a key for this collection."
    if urlsplit(base_url).hostname != ASKS_FOR_KEY or key_for(collection, base_url):
        return ""
    return (
        f"There is no key for {base_url}. Save one, set SOUNDINGS_OPENAI_API_KEY, or use a server that "
        "needs no key. Everything except pre-labels works without."
    )


@transaction.atomic
def store_key(collection: Collection, base_url: str, key: str, *, by: User | None = None) -> None:
    """Keep a key for a server, encrypted; an empty one takes the stored one away."""
    base_url, key = checked_url(base_url), key.strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key and len(key) <= 500):
        raise InputError("A key has at most 500 characters, without spaces.", field="key")
    if not key:
        remove_key(collection, base_url, by=by)
        return
    values = {"encrypted": seal(key), "stored_by": by}
    ModelServerKey.objects.update_or_create({**values}, collection=collection, base_url=base_url)
    record_action(collection, by, "model server key stored", base_url)


@transaction.atomic
def remove_key(collection: Collection, base_url: str, *, by: User | None = None) -> None:
    """Take a stored key away; `InputError` where there is none."""
    rows = ModelServerKey.objects.filter(collection=collection, base_url=base_url)
    if not rows.delete()[0]:
        raise InputError(f"No key is saved for {base_url}.", field="key", missing=True)
    record_action(collection, by, "model server key removed", base_url)


def site_prices(model: str) -> Prices | None:
    """The prices of a model in the settings; None where they say nothing."""
    try:
        return price_table(settings.LLM_PRICES).get(model)
    except ValueError as error:
        raise ImproperlyConfigured(f"SOUNDINGS_LLM_PRICES: {error}") from None


def current_prompt(prelabeler: Prelabeler) -> Prompt:
    """The prompt of a prelabeler; `InputError` where question or guidelines are others by now."""
    collection, version = prelabeler.collection, prelabeler.prompt_version
    prompt = prompt_for(collection, prelabeler.prompt, settings.PROMPTS_DIR, version)
    if prompt.hash != prelabeler.prompt_hash:
        raise InputError(
            "The guidelines or the question of the collection have changed, so the prompt would be "
            "different. Start a new pass; existing answers are kept under the earlier prompt.",
            conflict=True,
        )
    return prompt


def prelabeler_for(
    collection: Collection,
    model: str,
    *,
    prompt: str = BINARY,
    base_url: str | None = None,
    threshold: int | None = None,
    by: User | None = None,
    **options: Any,
) -> Prelabeler:
    """The prelabeler of this model and newest prompt, made if absent. threshold: least relevant grade."""
    base_url = checked_url(base_url)
    made = prompt_for(collection, prompt, settings.PROMPTS_DIR)
    chosen = {**DEFAULTS, **{name: value for name, value in options.items() if value is not None}}
    if made.name == GRADED:
        chosen["threshold"] = _checked_threshold(threshold)
    elif threshold is not None:
        raise InputError("Only a graded prompt has a threshold.", field="threshold")
    prelabeler, _ = Prelabeler.objects.get_or_create(
        {"options": chosen, "prompt_version": made.version, "created_by": by},
        collection=collection,
        source=Prelabeler.Source.LANGUAGE_MODEL,
        model=checked_name(model, "model"),
        base_url=base_url,
        prompt=made.name,
        prompt_hash=made.hash,
        options_hash=hash_of(chosen),
    )
    return prelabeler


def prelabeler_named(
    collection: Collection, model: str, prompt: str | None = None, *, answered: bool = False
) -> Prelabeler:
    """The newest model and prompt of that name, `answered` if asked; `InputError` lists those there are."""
    rows = collection.prelabelers.listed()
    if answered:
        rows = rows.filter(Exists(Prelabel.objects.filter(prelabeler=OuterRef("pk"))))
    chosen = rows if prompt is None else rows.filter(prompt=prompt)
    prelabeler = chosen.filter(model=model).first()
    if prelabeler is None:
        names = ", ".join(map(str, rows)) or "none yet"
        name = f"“{model}”" + (f" with the prompt “{prompt}”" if prompt else "")
        which = f"{name} that has answered" if answered else name
        raise InputError(f"“{collection.slug}” has no model {which}. Known: {names}.", missing=True)
    return prelabeler


def asking_of(prelabeler: Prelabeler, prompt: Prompt) -> Asking:
    options = {**DEFAULTS, **prelabeler.options}
    names = ("max_tokens", "temperature", "seed", "logprobs")
    return Asking(prelabeler.model, prompt.schema, **{name: options[name] for name in names})


def answer_base(prelabeler: Prelabeler) -> str:
    """All inputs of an answer besides query and document, as text: equal texts, equal answers."""
    options = {name: value for name, value in prelabeler.options.items() if name not in READING_OPTIONS}
    parts = [prelabeler.base_url, prelabeler.model, prelabeler.prompt_hash, options]
    return json.dumps(parts, sort_keys=True)


def hash_of(options: dict[str, Any]) -> str:
    """SHA-256 of plain options, whatever their order."""
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()


def _checked_threshold(threshold: int | None) -> int:
    threshold = DEFAULT_THRESHOLD if threshold is None else threshold
    if not 1 <= threshold <= HIGHEST_GRADE:
        raise InputError(f"The lowest relevant grade must be from 1 to {HIGHEST_GRADE}.", field="threshold")
    return threshold
