"""How somebody likes to read documents: size, width, typeface and contrast, kept with their account."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User

from pooling.account_models import Preferences

#: What can be chosen, by its name and label; the first value of each is where it starts.
CHOICES: dict[str, tuple[str, dict[str, str]]] = {
    "size": ("Text size", {"normal": "Normal", "large": "Large", "largest": "Very large"}),
    "width": ("Line width", {"normal": "Normal", "narrow": "Narrow", "wide": "Wide"}),
    "face": ("Typeface", {"serif": "Serif", "sans": "Sans serif"}),
    "contrast": ("Contrast", {"normal": "Normal", "high": "High"}),
}


def reading_of(user: User | AnonymousUser) -> dict[str, str]:
    """What somebody chose, with the first value of what they did not."""
    kept = getattr(user, "preferences", None)
    chosen = kept.reading if kept else {}
    return {
        name: value if (value := chosen.get(name)) in values else next(iter(values))
        for name, (_, values) in CHOICES.items()
    }


def remember_reading(user: User, chosen: dict[str, str]) -> dict[str, str]:
    """Keep the choices that `chosen` names, and leave the others; all of them as they are now."""
    kept, _ = Preferences.objects.get_or_create(user=user)
    kept.reading = {**kept.reading, **chosen}
    kept.save(update_fields=["reading"])
    user.preferences = kept
    return reading_of(user)
