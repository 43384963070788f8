"""The folder in which an installation keeps what is its own: database, stored files and secret key."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def stored_secret_key(folder: Path) -> str:
    """Return the installation's secret key; the first call makes it, readable by its owner alone."""
    path = folder / "secret_key"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"SOUNDINGS_DATA: cannot write to {folder}: {error.strerror}.") from None
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key
