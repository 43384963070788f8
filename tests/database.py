"""An SQLite database that is migrated already and kept between test runs: migrating takes seven seconds.

Its name is made of the texts of all migrations. Where one has changed, and in a fresh clone, `manage.py
migrate` makes it anew from nothing, and the run fails where that fails. So does every run with `--create-db`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from hashlib import sha256
from pathlib import Path

import django
from django.apps import apps

from tests.soundings.processes import manage


def copy_migrated_database(kept: Path, target: Path) -> None:
    """Copy it from the folder `kept`; of the processes that find none, one makes it and the others wait."""
    made = kept / f"{_fingerprint()}.sqlite3"
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            for older in kept.glob("*.sqlite3"):
                older.unlink()
            folder = kept / "being-made"
            shutil.rmtree(folder, ignore_errors=True)
            done = manage(folder, "migrate")
            assert done.returncode == 0, done.stderr
            # Whoever closes an SQLite database last leaves everything in this one file.
            os.replace(folder / "soundings.sqlite3", made)
            shutil.rmtree(folder)
        shutil.copy(made, target)


def _fingerprint() -> str:
    """Of every installed app's migrations, and of the Django that applies them."""
    digest = sha256(django.__version__.encode())
    for config in sorted(apps.get_app_configs(), key=lambda config: config.label):
        for path in sorted(Path(config.path).glob("migrations/*.py")):
            digest.update(f"\n{config.label} {path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
