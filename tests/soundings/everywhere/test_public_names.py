"""Annotators read a queue's public name, and nowhere the one that can tell of samples and runs."""

from __future__ import annotations

import pytest
from django.test import Client

from labeling.models import Queue
from tests.soundings.everywhere.one_of_each import OneOfEach
from tests.soundings.everywhere.test_who_may import ADDRESSES, ROWS, address_of

TELLING = "zyxwvut"
READ = [name for name in ADDRESSES if ROWS.get(("GET", name), [""] * 5)[2] == "200"]


@pytest.mark.anywhere
@pytest.mark.slow
def test_nothing_that_an_annotator_reads_has_the_name_of_a_queue(
    one_of_each: OneOfEach, people: dict[str, Client]
) -> None:
    for queue in Queue.everything.all():
        Queue.everything.filter(pk=queue.pk).update(name=f"{TELLING} {queue.pk}", public_name="Queue 7")
    told = 0
    for name in READ:
        for words in ("", "q=queue", f"q={TELLING}"):
            address = address_of(ADDRESSES[name], one_of_each)
            answer = people["annotator"].get(f"{address}{'&' if '?' in address else '?'}{words}")
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            assert f"{TELLING} ".encode() not in content, address
            told += b"Queue 7" in content
    assert told > 5
