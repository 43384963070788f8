"""The kinds of things that can be archived or deleted, and what stages say of them: what depends on a thing,
what it rests on, and what else happens when it is deleted, restored, renamed or erased.

Each stage registers its own, as it registers its jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse

from pooling.formats.wording import counted
from pooling.interface.registering import Registry
from pooling.models import Collection
from pooling.tables.columns import BulkAction
from pooling.tables.table import add_actions
from pooling.tidying.kept import Kept

# So many of a kind are named where a sentence counts them all.
MOST_NAMED = 5


@dataclass(frozen=True)
class Kind:
    """A kind of things: its name in addresses, and what becomes of one.

    archived, deleted: a sentence on what that means. label: the field with its name. list_page: the name of
    the address of its list. immutable: why its name is what it is, where nobody can change that. words: its
    noun, if that is not its name. section: where its pages stand in the navigation, if not with its list.
    What cannot be archived has no sentence on that.
    """

    name: str
    plural: str
    model: type[Kept]
    archived: str
    deleted: str
    list_page: str
    label: str = "name"
    immutable: str = ""
    words: str = ""
    section: str = ""

    @property
    def noun(self) -> str:
        return self.words or self.name

    def name_of(self, thing: Kept) -> str:
        return str(getattr(thing, self.label))

    def rows_of(self, collection: Collection) -> Any:
        rows: Any = self.model.everything.all()
        if self.model is Collection:
            return rows.filter(pk=collection.pk)
        return rows.filter(collection=collection)

    def section_of(self, thing: Kept) -> str:
        """The section of the navigation to which its pages belong."""
        return self.section or getattr(thing, "list_page", self.list_page)

    def list_url(self, collection: Collection, thing: Kept | None = None) -> str:
        """The page that lists these, or where the kind has several, one like `thing`."""
        page = getattr(thing, "list_page", self.list_page)
        return reverse(page, args=[collection.slug] if self.model is not Collection else [])


@dataclass(frozen=True)
class Dependant:
    """Things that depend on a thing: in words (`2 pools`), what becomes of them (`keep their figures`), and
    as rows where they can be archived or deleted themselves. What `blocks` has to go first."""

    words: str
    consequence: str
    things: Sequence[Kept] = ()
    blocks: bool = False

    @property
    def named(self) -> Sequence[Kept]:
        """The first few of the rows."""
        return self.things[:MOST_NAMED]

    @property
    def more(self) -> int:
        """Number of rows that are not among `things`."""
        return max(0, len(self.things) - MOST_NAMED)

    def sentence(self) -> str:
        """Both in one, with names: `2 reports rest on it (“June”, “July”)`."""
        names = ", ".join(f"“{thing}”" for thing in self.named) + (", …" if self.more else "")
        return f"{self.words} {self.consequence}" + (f" ({names})" if names else "")


@dataclass(frozen=True)
class Ground:
    """Something a thing rests on; without what is `needed`, it cannot be restored."""

    thing: Kept
    needed: bool = True


Depends = Callable[[Any], Sequence[Dependant]]
RestsOn = Callable[[Any], Sequence[Ground]]
Hook = Callable[[Any, "User | None"], None]
HookOfMany = Callable[[Collection, "QuerySet[Any]"], None]
Key = TypeVar("Key")
Function = TypeVar("Function", Depends, Hook, HookOfMany)

KINDS: Registry[str, Kind] = Registry()
_DEPENDS: Registry[type[Kept], list[Depends]] = Registry()
_RESTS_ON: Registry[type[Kept], RestsOn] = Registry()
_HOOKS: Registry[tuple[str, type[Kept]], list[Hook]] = Registry()
_HOOKS_OF_MANY: Registry[tuple[str, type[Kept]], list[HookOfMany]] = Registry()


def register(kind: Kind) -> None:
    """Make a kind known, and let its list archive and delete chosen rows."""
    KINDS[kind.name] = kind
    add_actions(kind.plural, BulkAction("tidy", "Archive or delete", f"tidy_{kind.name}"))


def kind_of(thing: Kept) -> Kind:
    return next(kind for kind in KINDS.values() if isinstance(thing, kind.model))


def collection_of(thing: Any) -> Collection:
    """The collection that a thing is of, or is."""
    collection: Collection = thing if isinstance(thing, Collection) else thing.collection
    return collection


def undo_address(collection: Collection, kind: str, key: int) -> str:
    """The address that takes back what was imported, when `action=delete` is posted to it."""
    return f"{reverse('tidied', args=[collection.slug])}?things={kind}:{key}"


def depends_on(*models: type[Kept]) -> Callable[[Depends], Depends]:
    """Register a function that lists what depends on a thing of these models; several stages may."""
    return _listed(_DEPENDS, models)


def rests_on(model: type[Kept]) -> Callable[[RestsOn], RestsOn]:
    """Register the function that lists what a thing rests on."""

    def decorate(function: RestsOn) -> RestsOn:
        _RESTS_ON[model] = function
        return function

    return decorate


def when(event: str, model: type[Kept]) -> Callable[[Hook], Hook]:
    """Register what else happens, in the same transaction: after a thing was `deleted`, `restored`, `renamed`
    (`thing.former_name` is what it was called) or `erased`, which leaves its row where something depends on
    it; and before it is restored (`restoring`), which an `InputError` prevents."""
    return _listed(_HOOKS, [(event, model)])


def when_many(event: str, *models: type[Kept]) -> Callable[[HookOfMany], HookOfMany]:
    """`when` for kinds that come by the thousand: the hook is given the rows of one collection in one go."""
    return _listed(_HOOKS_OF_MANY, [(event, model) for model in models])


def _listed(lists: Registry[Key, list[Function]], keys: Iterable[Key]) -> Callable[[Function], Function]:
    """Add the decorated function to the list of each key."""

    def decorate(function: Function) -> Function:
        for key in keys:
            lists.so_far(key, []).append(function)
        return function

    return decorate


def dependants_of(thing: Kept) -> list[Dependant]:
    """The obstacles to its deletion first."""
    dependants = [one for tell in _DEPENDS.get(type(thing), []) for one in tell(thing)]
    return sorted(dependants, key=lambda one: not one.blocks)


def grounds_of(thing: Kept) -> Sequence[Ground]:
    tell = _RESTS_ON.get(type(thing))
    return tell(thing) if tell else []


def run_hooks(event: str, thing: Kept, by: User | None) -> None:
    """Let the stages do what `when` says."""
    for hook in _HOOKS.get((event, type(thing)), []):
        hook(thing, by)
    if (event, type(thing)) in _HOOKS_OF_MANY:
        run_hooks_of_many(event, collection_of(thing), type(thing).everything.filter(pk=thing.pk))


def run_hooks_of_many(event: str, collection: Collection, rows: QuerySet[Any]) -> None:
    """Let the stages do what `when_many` says, for some rows of a collection."""
    for hook in _HOOKS_OF_MANY.get((event, rows.model), []):
        hook(collection, rows)


def dependant(
    things: Sequence[Kept], noun: str, consequence: str, *, blocks: bool = False
) -> list[Dependant]:
    """Rows for `depends_on`, in a list that is empty where there are none.

    consequence: for one and for several, separated by a slash: `keeps its figures/keep their figures`.
    """
    if not things:
        return []
    one, _, several = consequence.partition("/")
    words = one if len(things) == 1 else several or one
    return [Dependant(counted(len(things), noun), words, things, blocks)]


def beneath(thing: Kept) -> list[Kept]:
    """Things that a thing rests on and nothing else does: they may go with it, the nearest first."""
    chosen: list[Kept] = [thing]
    for upper in chosen:
        for ground in grounds_of(upper):
            one = ground.thing
            if one in chosen or one.deleted_at:
                continue
            above = dependants_of(one)
            if all(each.things and all(row in chosen for row in each.things) for each in above):
                chosen.append(one)
    return chosen[1:]
