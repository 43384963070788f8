"""Single judgments from a file: events of the people who gave them, stored whole or not at all.

They are put into queues made for them, which are closed: nobody is asked for anything, no lease and no live
order changes, and agreement, adjudication and labels see them as they see any other. They are known here from
the moment of their import on, whatever time they carry: an audit drawn before does not count them as known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from labeling.items.statements import be_alone_with_items, queue_up_to_add_items
from labeling.judgment_imports import storing
from labeling.judgment_imports.staging import STAGED_JUDGMENT, ImportChoices, Read, notes_of, stage_file
from labeling.models import ImportedAnnotator, JudgmentEvent, JudgmentImport, Queue, Verdict
from labeling.queues.opening import count_newcomers
from pooling.formats.registry import name_of
from pooling.formats.wording import counted, plural
from pooling.interface.problems import InputError
from pooling.interface.results import Imported, Progress
from pooling.models import Collection, Document, Membership, Pool, Role
from pooling.people.activity_log import record_action
from pooling.storage.imports import PreviewTable, Showing, importer
from pooling.storage.staging import Staged, staged
from pooling.storage.storing import LONGEST_NAME, disk_errors_named, sha256_of, tell_the_planner
from pooling.texts.importing import lock
from pooling.tidying.kinds import undo_address

# Who the people of a file are here: accounts of the collection, or imported annotators.


# Nobody can choose such a name for an account: it has blanks and brackets.
MARK = " (imported)"


def accounts_of(collection: Collection) -> dict[str, User]:
    """User names, and emails that one person alone has, of those who judge in a collection."""
    members = Membership.objects.filter(collection=collection, role__in=(Role.ADMIN, Role.ANNOTATOR))
    people = [one.user for one in members.select_related("user") if one.user.is_active]
    by_mail: dict[str, list[User]] = {}
    for person in people:
        if person.email:
            by_mail.setdefault(person.email.lower(), []).append(person)
    by_address = {email: owners[0] for email, owners in by_mail.items() if len(owners) == 1}
    return {**by_address, **{person.get_username(): person for person in people}}


def people_of(collection: Collection, names: Iterable[str], *, accounts: bool) -> dict[str, User]:
    """Account by name: an existing one if asked for, or one without sign-in, made now. In a transaction."""
    by_name = accounts_of(collection) if accounts else {}
    imported = {one.name: one.user for one in collection.imported_annotators.select_related("user")}
    people: dict[str, User] = {}
    for name in dict.fromkeys(names):
        account = by_name.get(name) or by_name.get(name.lower()) if accounts else None
        people[name] = account or imported.get(name) or _make(collection, name)
    return people


def _make(collection: Collection, name: str) -> User:
    base = name.removesuffix(MARK)
    taken = set(User.objects.filter(username__startswith=base + MARK[:-1]).values_list("username", flat=True))
    numbers = (MARK, *(f"{MARK[:-1]} {number})" for number in range(2, len(taken) + 3)))
    username = next(one for mark in numbers if (one := base + mark) not in taken)
    user = User.objects.create(username=username, password=make_password(None), is_active=False)
    ImportedAnnotator.objects.create(collection=collection, user=user, name=name)
    return user


IMPORT_KIND = "judgments"
MOST_ROWS = 50
REPEATED_NUMBER = """
SELECT MAX(line), number FROM staged_judgments WHERE number IS NOT NULL
GROUP BY number HAVING COUNT(*) > 1 ORDER BY 1 LIMIT 1
"""
DANGLING = """
SELECT staged.line, staged.{link} FROM staged_judgments staged
LEFT JOIN staged_judgments target ON target.number = staged.{link} AND target.seq < staged.seq
    AND target.kind = 'verdict' AND target.query = staged.query AND target.document = staged.document
    AND target.person = staged.person
WHERE staged.{link} IS NOT NULL AND target.seq IS NULL ORDER BY staged.seq LIMIT 1
"""
STANDS_TWICE = """
SELECT MAX(line) FROM staged_judgments WHERE state = 'stands' AND kind = 'verdict'
GROUP BY query, document, person HAVING COUNT(*) > 1 ORDER BY 1 LIMIT 1
"""


class PersonImported(TypedDict):
    """Somebody of a file."""

    name: Annotated[str, "In the file."]
    account: Annotated[str, "Here."]
    is_imported: Annotated[bool, "An account that nobody can sign in to."]
    relevant: Annotated[int, "Of their judgments that came with the import, as the others."]
    not_relevant: int
    cannot_judge: int


@dataclass(frozen=True)
class JudgmentsImported(Imported):
    """Result of an import of judgments."""

    import_id: Annotated[int, "Delete it to take back the import; null in a preview.", {"allow_null": True}]
    events: int
    judgments: Annotated[int, "Verdicts that stand."]
    pairs: Annotated[int, "With these verdicts."]
    new_documents: int
    left_out: Annotated[int, "Judgments of queries that the collection does not have."]
    overruled: Annotated[int, "Verdicts on pairs that the same person judged here."]
    queues: list[str]
    people: list[PersonImported]
    notes: list[str]

    @property
    def judges(self) -> int:
        return sum(one["relevant"] + one["not_relevant"] + one["cannot_judge"] > 0 for one in self.people)

    def __str__(self) -> str:
        parts = [
            f"{counted(self.judgments, 'judgment')} of {counted(self.judges, 'person', 'people')}",
            f"on {counted(self.pairs, 'pair')}",
        ]
        if self.new_documents:
            parts.append(f"with {counted(self.new_documents, 'new document')}")
        names = ", ".join(f"“{name}”" for name in self.queues[:5])
        more = ", …" if len(self.queues) > 5 else ""
        return " ".join(parts) + f", in {plural(len(self.queues), 'the queue', 'the queues')} {names}{more}"


def import_judgments(
    collection: Collection,
    path: Path,
    choices: ImportChoices | None = None,
    *,
    file_name: str | None = None,
    user: User | None = None,
    progress: Progress | None = None,
) -> JudgmentsImported:
    """Store a file's judgments; `InputError` or `FormatError`, also for an import that was not taken back."""
    choices, path = choices or ImportChoices(), Path(path)
    progress = progress or (lambda share, detail: None)
    place, checksum = file_name or path.name, sha256_of(path)
    with disk_errors_named(), staged("staged_judgments", STAGED_JUDGMENT) as stage:
        read = stage_file(collection, path, stage, choices, file_name=file_name)
        _refuse_odd_events(stage, place, links=read.links)
        progress(0.4, f"Storing {counted(read.rows, 'event')}.")
        storing.mark_standing(stage, links=read.links)
        with transaction.atomic():
            lock(collection)
            _refuse_second(collection, checksum, place)
            made = JudgmentImport.objects.create(
                collection=collection,
                name=place[-300:],
                format=choices.format,
                sha256=checksum,
                imported_by=user,
                imported_at=timezone.now(),
            )
            return _store(made, stage, read, accounts=choices.accounts, progress=progress)


def _store(
    made: JudgmentImport, stage: Staged, read: Read, *, accounts: bool, progress: Progress
) -> JudgmentsImported:
    collection = made.collection
    new_documents = storing.bring_documents(made.collection_id, stage)
    notes = notes_of(read) + _notes_on_gold(*storing.mark_kinds(stage))
    people = people_of(collection, read.people, accounts=accounts)
    storing.replace_numbers(stage, "person", {read.people[name]: user.pk for name, user in people.items()})
    queues = {number: _queue_for(made, name) for name, number in read.queues.items()}
    storing.replace_numbers(stage, "queue", {number: queue.pk for number, queue in queues.items()})
    _refuse_two_in_one(stage, made.name)
    made.event_count = storing.store_events(made, stage, links=read.links)
    storing.set_aside(stage, made)
    progress(0.7, "Counting what was judged.")
    queue_up_to_add_items()
    made.judgment_count = storing.project(made)
    stood = JudgmentEvent.objects.filter(brought_by=made, stood__isnull=False).count()
    storing.store_pairs(list(queues.values()))
    brought, made.pair_count = storing.judgments_by_person(stage), storing.pairs_judged(stage)
    made.save()
    tell_the_planner(JudgmentEvent, made.event_count)
    tell_the_planner(Document, made.event_count)
    storing.recount_items(made, list(queues.values()))
    be_alone_with_items()
    for queue in queues.values():
        count_newcomers(queue, made.imported_at, brought_by=made)
    facts = {"judgments": made.judgment_count, "pairs": made.pair_count, "people": len(brought)}
    record_action(collection, made.imported_by, "judgments imported", made.name, **facts)
    if overruled := stood - made.judgment_count:
        own = counted(overruled, "verdict")
        notes.append(f"{own} of people who judged the pair here as well: what they said here stands.")
    pages = [queue.get_absolute_url() for queue in queues.values()]
    return JudgmentsImported(
        import_id=made.pk,
        events=made.event_count,
        judgments=made.judgment_count,
        pairs=made.pair_count,
        new_documents=new_documents,
        left_out=read.left_out,
        overruled=overruled,
        queues=[queue.name for queue in queues.values()],
        people=[_person_imported(name, people[name], brought[n]) for name, n in read.people.items()],
        notes=notes,
        page=pages[0] if len(pages) == 1 else reverse("queues", args=[collection.slug]),
        undo=undo_address(collection, "judgment-import", made.pk),
    )


def _notes_on_gold(pairs: int, query: str, document: str) -> list[str]:
    if not pairs:
        return []
    questions = plural(pairs, "is a gold question", "are gold questions")
    return [
        f"{counted(pairs, 'pair')} {questions} in the file but not here, such as query {query}, document "
        f"{document}: verdicts on {plural(pairs, 'it', 'them')} count like any others. To have them as "
        "answers, take this import back and import the gold questions first."
    ]


def _queue_for(made: JudgmentImport, name: str) -> Queue:
    """A closed queue, over a pool with the pairs of the import, called as in the file or after it."""
    collection = made.collection
    title = (name.strip() or name_of(made.name))[: LONGEST_NAME - 20] or "Judgments"
    title = title if title.isprintable() else "Judgments"
    taken = set(Queue.objects.filter(collection=collection).values_list("name", flat=True))
    taken_by_pool = set(Pool.objects.filter(collection=collection).values_list("name", flat=True))
    pool = Pool.objects.create(
        collection=collection,
        name=_free(title, taken_by_pool),
        depth=1,
        strategy=Pool.IMPORTED,
        provenance={"import": made.pk, "file": made.name},
        diagnostics={"runs": [], "left_out_queries": {}, "audit": 0},
        built_by=made.imported_by,
    )
    return Queue.objects.create(
        collection=collection,
        pool=pool,
        name=_free(title, taken),
        state=Queue.State.CLOSED,
        # What was judged elsewhere is not paid here.
        price_per_judgment=0,
        opened_by=made.imported_by,
    )


def _free(name: str, taken: set[str]) -> str:
    numbers = ("", " (imported)", *(f" (imported {number})" for number in range(2, len(taken) + 3)))
    return next(one for mark in numbers if (one := name + mark) not in taken)


def _person_imported(name: str, user: User, verdicts: Mapping[str, int]) -> PersonImported:
    return {
        "name": name,
        "account": user.get_username(),
        "is_imported": not user.is_active,
        "relevant": verdicts.get(Verdict.RELEVANT, 0),
        "not_relevant": verdicts.get(Verdict.NOT_RELEVANT, 0),
        "cannot_judge": verdicts.get(Verdict.CANNOT_JUDGE, 0),
    }


def _refuse_second(collection: Collection, checksum: str, place: str) -> None:
    if before := collection.judgment_imports.filter(sha256=checksum).first():
        raise InputError(
            f"{place}: this file was imported before, as “{before.name}”. Take that import back first.",
            field="file",
            conflict=True,
        )


def _refuse_odd_events(stage: Staged, place: str, *, links: bool) -> None:
    for line, number in stage.rows(REPEATED_NUMBER):
        raise InputError(f"{place}, line {line}: event {number} is in the file twice. Keep one.")
    for link in ("undoes", "repeats") if links else ():
        for line, number in stage.rows(DANGLING.format(link=link)):
            raise InputError(
                f"{place}, line {line}: it {link} event {number}, which is no earlier verdict of this person "
                "on this pair in the file. Export the judgments again, and import the whole file."
            )
    for (line,) in stage.rows(STANDS_TWICE):
        raise InputError(
            f"{place}, line {line}: a second verdict of this person on this pair stands. Only one can."
        )


def _refuse_two_in_one(stage: Staged, place: str) -> None:
    """Two names of a file that are one account here may both have judged a pair."""
    for (line,) in stage.rows(STANDS_TWICE):
        raise InputError(
            f"{place}, line {line}: two names of the file belong to one account here, and both judged this "
            "pair. Import it without matching accounts."
        )


def _people_preview(result: Any) -> list[PreviewTable]:
    rows = [
        (
            one["name"],
            f"{one['account']}, who cannot sign in"
            if one["is_imported"]
            else f"the account {one['account']}",
            *(f"{one[word]:,}" for word in ("relevant", "not_relevant", "cannot_judge")),
        )
        for one in result["people"]
    ]
    columns = ("In the file", "Here", "Relevant", "Not relevant", "Can't judge")
    return [PreviewTable("People", columns, rows[:MOST_ROWS], len(rows))]


@importer(
    IMPORT_KIND,
    showing=Showing(lambda collection, path, file_name: (), more_tables=_people_preview),
    title="Importing judgments",
    stages=((0.0, "Check the file"), (0.4, "Store the events"), (0.7, "Count what was judged")),
    begins_at="judgments_import",
)
def _judgments(
    collection: Collection,
    path: Path,
    *,
    file_name: str,
    user: User | None,
    progress: Progress,
    **choices: Any,
) -> JudgmentsImported:
    return import_judgments(
        collection, path, ImportChoices(**choices), file_name=file_name, user=user, progress=progress
    )
