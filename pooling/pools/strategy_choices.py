"""Strategies to choose from in a form: those we recommend as cards, the others below."""

from __future__ import annotations

from typing import Any

from django import forms
from django.template.loader import render_to_string

from pooling.strategies import RECOMMENDED


class StrategyChoices(forms.RadioSelect):
    """Radio buttons of strategies; the recommended ones come first and say when to choose them."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        context = self.get_context(name, value, attrs)["widget"]
        options = {option["value"]: option for _, group, _ in context["optgroups"] for option in group}
        cards = [
            {"option": options[strategy], "why": why}
            for strategy, why in RECOMMENDED.items()
            if strategy in options
        ]
        others = [
            (heading, [option for option in group if option["value"] not in RECOMMENDED])
            for heading, group, _ in context["optgroups"]
        ]
        is_other = any(option["selected"] for _, group in others for option in group)
        rows = {"widget": context, "cards": cards, "others": others, "is_other": is_other}
        return render_to_string("pooling/_strategy_choices.html", rows)
