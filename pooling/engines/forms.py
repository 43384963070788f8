"""The forms of engines: their settings, and what is asked of them."""

from __future__ import annotations

from typing import Any

from django import forms

from pooling.engine_models import Engine
from pooling.engines.description import settings_of
from pooling.engines.options import DEEPEST, EngineSettings
from pooling.engines.sql import database_names
from pooling.engines.stored import LONGEST_KEY, checked_key, key_of
from pooling.interface.forms import FIRST, GroupedForm
from pooling.interface.option_fields import form_fields
from pooling.models import Collection, Pool
from pooling.options.option import chosen, options_of

SQL, PACE = "A database instead of an address", "Pace and schedule"


def _mono(rows: int) -> dict[str, object]:
    return {"widget": forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})}


@form_fields(
    EngineSettings,
    address=_mono(2),
    body=_mono(8),
    id_path={"widget": forms.TextInput(attrs={"class": "mono"})},
    score_path={"widget": forms.TextInput(attrs={"class": "mono"})},
    statement=_mono(6),
)
class EngineForm(GroupedForm, forms.Form):
    """An engine: an address with a request, or a statement for a database."""

    GROUPS = {
        FIRST: ("name", "address", "body", "id_path", "score_path", "depth"),
        "Key": ("key", "key_header", "forget_key"),
        SQL: ("database", "statement"),
        PACE: ("concurrency", "per_second", "time_out", "every_hours"),
    }

    name = forms.CharField(max_length=200, help_text="Runs of its answers are called after it.")
    key = forms.CharField(
        required=False,
        max_length=LONGEST_KEY,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Saved encrypted, sent to this host only and never shown. With Authorization: Basic, write "
        "user:password.",
    )
    forget_key = forms.BooleanField(required=False, label="Remove the saved key")
    database = forms.ChoiceField(
        required=False, help_text="Those that the site's settings name (SOUNDINGS_SEARCH_DATABASES)."
    )

    def __init__(
        self,
        data: Any = None,
        *,
        collection: Collection,
        engine: Engine | None = None,
        begins_with: EngineSettings | None = None,
    ) -> None:
        self.collection, self.engine = collection, engine
        settings = settings_of(engine) if engine else begins_with
        initial = (
            {} if settings is None else {name: getattr(settings, name) for name in options_of(EngineSettings)}
        )
        super().__init__(data, label_suffix="", initial=initial)
        names = database_names()
        offered = [("", "–"), *((name, name) for name in names)]
        self.fields["database"].choices = offered  # type: ignore[attr-defined]
        if not names and not (engine and engine.statement):
            del self.fields["database"], self.fields["statement"]
        if engine is None or not engine.sealed_key:
            del self.fields["forget_key"]
        if engine is not None:
            del self.fields["name"]
        if engine is not None and engine.sealed_key:
            self.fields["key"].help_text = (
                "A key is saved and not shown again. Leave empty to keep it; an address on another host "
                "drops it."
            )

    def settings(self) -> EngineSettings:
        """Not yet checked; call it after `is_valid`."""
        return EngineSettings(**chosen(EngineSettings, self.cleaned_data))

    def new_key(self) -> str | None:
        """The key to save: None keeps the saved one, "" removes it."""
        if self.cleaned_data.get("forget_key"):
            return ""
        return self.cleaned_data["key"] or (None if self.engine else "")

    def key_to_try(self) -> str:
        """The key for a try: the typed one, or the saved one where the host is the same."""
        if (key := self.new_key()) is not None:
            return checked_key(key)
        if self.engine is None or settings_of(self.engine).origin != self.settings().origin:
            return ""
        return key_of(self.engine)


class AskingForm(forms.Form):
    """A run to make of an engine's answers."""

    name = forms.CharField(
        required=False,
        max_length=200,
        label="Name of the run",
        help_text="Empty: the engine's name and the day.",
    )
    depth = forms.IntegerField(required=False, min_value=1, max_value=DEEPEST, label="Documents per query")
    pool = forms.ModelChoiceField(
        Pool.objects.none(),
        required=False,
        empty_label="no pool",
        label="Then extend",
        help_text="The pool's next version has what the engine returns today.",
    )

    def __init__(self, data: Any = None, *, engine: Engine) -> None:
        super().__init__(data, label_suffix="", initial={"depth": engine.depth})
        extended = Pool.objects.filter(extends__collection=engine.collection).values("extends")
        pools = Pool.objects.listed().filter(collection=engine.collection).defer("diagnostics")
        pools = pools.exclude(pk__in=extended).exclude(strategy__in=Pool.PICKED)
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]
