"""What asking costs, by hand; the cap, whatever servers charge; and a journal that pays nothing twice."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.prelabels.costs import (
    Budget,
    Prices,
    most_input_tokens,
    parse_budget,
    parse_prices,
    price_table,
)
from labeling.prelabels.journal import Journal, read_journal
from labeling.prelabels.model_answers import Reading
from labeling.prelabels.work import QuestionOutcome, VersionedPair

CENTS = st.integers(0, 300)


@pytest.mark.parametrize(
    ("prices", "read", "written", "cost"),
    [
        ("0.15/0.60", 1000, 100, "0.00021"),  # 150 + 60 millionths
        ("2.5/10", 7, 3, "0.0000475"),  # 17.5 + 30 millionths
        ("3/15", 1_000_000, 0, "3"),  # a million tokens is what the price is for
        ("0.075/0.3", 333, 333, "0.000124875"),  # 333 · 0.375 millionths
        ("0/0.4", 10**8, 5, "0.000002"),  # reading is free
        ("0/0", 10**8, 10**8, "0"),
    ],
)
def test_costs_are_exact(prices: str, read: int, written: int, cost: str) -> None:
    assert parse_prices(prices).cost(read, written) == Decimal(cost)


@pytest.mark.parametrize(
    ("texts", "tokens"),
    [
        ([], 200),  # what stands around messages
        (["ab", "€"], 205),  # 2 + 3 bytes
        (["\0", "🚌"], 205),  # 1 + 4 bytes
    ],
)
def test_the_bound_of_tokens_counts_bytes(texts: list[str], tokens: int) -> None:
    assert most_input_tokens(texts) == tokens


@pytest.mark.parametrize("written", ["", "0", "-1", "nan", "-inf", "1e9", "1,5", "1 000", "much"])
def test_a_budget_is_an_amount_above_nothing(written: str) -> None:
    with pytest.raises(ValueError, match="--budget"):
        parse_budget(written)


@pytest.mark.parametrize(
    ("written", "amount"), [(None, None), ("0.0001", Decimal("0.0001")), ("999999999", Decimal(999999999))]
)
def test_a_budget_is_taken_to_the_last_digit(written: str | None, amount: Decimal | None) -> None:
    assert parse_budget(written) == amount


@pytest.mark.parametrize("entry", ["small", "=1/2", "  =1/2", "small=1", "small=1000000/1", "small=1/nan"])
def test_an_entry_of_the_price_list_that_cannot_be_read_refuses_the_list(entry: str) -> None:
    with pytest.raises(ValueError, match=r"0\.15/0\.60"):
        price_table(["large=1/2", entry])


def test_of_two_entries_for_a_model_the_later_counts_and_a_name_may_hold_an_equals_sign() -> None:
    table = price_table(["a=b=1/2", "small=1/2", "small=3/4"])
    assert table == {"a=b": Prices(Decimal(1), Decimal(2)), "small": Prices(Decimal(3), Decimal(4))}


# The cap.


@pytest.mark.parametrize(
    ("cap", "spent", "asked", "fits"),
    [
        ("1", "0", "1", True),  # up to the cap
        ("1", "0", "1.0001", False),
        ("1", "0.4", "0.6", True),  # what earlier runs spent counts
        ("1", "0.4", "0.6001", False),
        ("1", "1.5", "0", False),  # passed already, as after a lower cap: not even what is free
        (None, "9", "1000000", True),  # no cap
    ],
)
def test_a_request_is_sent_only_if_all_together_stays_within_the_cap(
    cap: str | None, spent: str, asked: str, fits: bool
) -> None:
    budget = Budget(None if cap is None else Decimal(cap), Decimal(spent))
    assert budget.reserve(Decimal(asked)) is fits
    assert budget.set_aside == (Decimal(asked) if fits else 0)


@given(cap=CENTS, requests=st.lists(st.tuples(CENTS, CENTS, st.booleans()), max_size=12))
def test_servers_that_charge_more_than_can_be_pass_the_cap_by_what_was_in_flight_alone(
    cap: int, requests: list[tuple[int, int, bool]]
) -> None:
    budget = Budget(Decimal(cap))
    flying: list[tuple[int, int]] = []
    sent_beyond = 0  # by what requests cost more than was set aside, of all that were sent
    for at_most, charged, comes_back in requests:
        was_over = budget.spent + budget.set_aside > cap
        if budget.reserve(Decimal(at_most)):
            assert not was_over
            flying.append((at_most, charged))
            sent_beyond += max(charged - at_most, 0)
        if comes_back and flying:
            budget.settle(*map(Decimal, flying.pop(0)))
        assert budget.set_aside == sum(held for held, _ in flying)
        assert budget.spent + budget.set_aside <= cap + sent_beyond


# The journal.


class Asked(NamedTuple):
    """What becomes of a question: each request for it comes back unpaid or stays open, then it has an outcome
    or the process dies."""

    unpaid: list[bool]
    ends: bool


QUESTIONS = st.lists(st.builds(Asked, st.lists(st.booleans(), max_size=3), st.booleans()), max_size=5)
READING = Reading("so", True, None, 0.9, "confidence")
AT_MOST, COST = Decimal("0.7"), Decimal("0.003")


def write(journal: Journal, questions: list[Asked], name: str) -> list[tuple[int, str, str]]:
    """The lines as (end, word, key) for these questions."""
    lines = []
    for number, asked in enumerate(questions):
        key = f"{name}{number}"
        for unpaid in asked.unpaid:
            journal.sent(key, AT_MOST)
            lines.append((journal.offset, "sent", key))
            if unpaid:
                journal.came_back(key)
                lines.append((journal.offset, "back", key))
        if asked.ends:
            journal.outcome(QuestionOutcome(key, "h", [VersionedPair(1, number, 1)], READING, cost=COST))
            lines.append((journal.offset, "outcome", key))
    return lines


def test_an_answer_whose_line_break_was_cut_off_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    journal = Journal(path)
    write(journal, [Asked([], ends=True)], "a")
    journal.close(remove=False)
    os.truncate(path, journal.offset - 1)
    left = read_journal(path, 0)
    assert len(left.outcomes) == 1
    Journal(path).close(remove=False)
    assert read_journal(path, left.offset).outcomes == []


@given(questions=QUESTIONS, later=QUESTIONS, data=st.data())
def test_wherever_a_kill_cuts_the_journal_nothing_is_lost_and_nothing_paid_twice(
    questions: list[Asked], later: list[Asked], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "1.jsonl"
        journal = Journal(path)
        lines = write(journal, questions, "a")
        journal.close(remove=False)
        cut = data.draw(st.integers(0, journal.offset))
        os.truncate(path, cut)
        # A line is whole without its last character, the line break.
        whole = [line for line in lines if line[0] - 1 <= cut]
        stored = data.draw(st.sampled_from([0, *(end for end, _, _ in lines if end <= cut)]))
        left = read_journal(path, stored)
        assert [outcome.key for outcome in left.outcomes] == [
            key for end, word, key in whole if word == "outcome" and end > stored
        ]
        assert left.uncertain == AT_MOST * open_requests(whole)
        # The database has it now. What the next process writes is read alone, whatever the cut line was.
        again = Journal(path)
        again.recovered()
        more = write(again, later, "b")
        again.close(remove=False)
        after = read_journal(path, left.offset)
        assert sum(outcome.cost for outcome in after.outcomes) == COST * sum(one.ends for one in later)
        assert after.uncertain == AT_MOST * open_requests(more)
        assert read_journal(path, after.offset).outcomes == []


def open_requests(lines: list[tuple[int, str, str]]) -> int:
    """Requests without an answer, of keys without an outcome."""
    ended = {key for _, word, key in lines if word == "outcome"}
    words = [word for _, word, key in lines if key not in ended]
    return words.count("sent") - words.count("back")


@pytest.mark.parametrize(
    "outcome",
    [
        QuestionOutcome(
            "", "h", [], attempts=6, uncertain=Decimal("0.0000000001")
        ),  # given up, nothing but its cost
        QuestionOutcome(
            "k", "h", [VersionedPair(2**62, 1, 1)], READING, cost=Decimal("1E+3"), input_tokens=7, seconds=0.1
        ),
        QuestionOutcome(
            "é\n",
            "h",
            [VersionedPair(1, 2, 3), VersionedPair(4, 5, 6)],
            reason="refused",
            detail="line\nand “quote”",
        ),
        QuestionOutcome(
            "k", "h", [], Reading("\u2028", None, 3, 1 / 3, "grade"), is_known=True, output_tokens=2
        ),
    ],
    ids=["given up", "answered", "failed", "known"],
)
def test_an_outcome_is_read_as_it_was_written_to_the_last_digit(
    tmp_path: Path, outcome: QuestionOutcome
) -> None:
    journal = Journal(tmp_path / "1.jsonl")
    journal.outcome(outcome)
    journal.close(remove=False)
    assert read_journal(tmp_path / "1.jsonl", 0).outcomes == [outcome]


def test_nobody_else_on_the_machine_reads_a_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "folder" / "1.jsonl")
    assert (tmp_path / "folder" / "1.jsonl").stat().st_mode & 0o777 == 0o600
    journal.close(remove=True)
    assert list((tmp_path / "folder").iterdir()) == []
