from __future__ import annotations

import re

from pooling.interface.problems import InputError

#: A host learns where each annotator is; a list that nobody can read through is no decision.
MOST_HOSTS = 20
#: Characters of the longest name (RFC 1035).
LONGEST_HOST = 253
LONGEST_HOSTS = MOST_HOSTS * (LONGEST_HOST + 1)
# Nothing else may get into the policy that a browser is sent.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def image_hosts_in(text: str) -> list[str]:
    """Host names separated by white space, in lower case, each once.

    `InputError` for what is no plain host name, such as one with a scheme, a port or a wildcard, and for more
    than `MOST_HOSTS`.

    >>> image_hosts_in("Images.example.org\\ncdn.example.org images.example.org")
    ['images.example.org', 'cdn.example.org']
    """
    hosts = list(dict.fromkeys(text.lower().split()))
    for host in hosts:
        if not _HOST.fullmatch(host) or len(host) > LONGEST_HOST:
            problem = (
                f"“{host[:80]}” is not a host name. Write it as images.example.org, without https://, "
                "port or path; one with other letters than a to z in its xn--… form."
            )
            raise InputError(problem, field="image_hosts")
    if len(hosts) > MOST_HOSTS:
        problem = f"A collection has at most {MOST_HOSTS} image hosts; these are {len(hosts):,}."
        raise InputError(problem, field="image_hosts")
    return hosts
