"""The folder of database, stored files and secret key, closed to the machine's other accounts."""

import contextlib
import errno
import os
import secrets
import stat
import time
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

OWN_FOLDER, OWN_FILE = 0o700, 0o600
# How long a key may take to be written once its file is there.
KEY_SECONDS = 5.0
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
# What SQLite keeps next to a database.
BESIDE = ("-wal", "-shm", "-journal")


def stored_secret_key(folder: Path) -> str:
    """Return the installation's secret key; the first call makes it, readable by its owner alone."""
    path = folder / "secret_key"
    try:
        folder.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
    except FileExistsError:
        raise ImproperlyConfigured(f"SOUNDINGS_DATA: {folder} is a file; name a folder.") from None
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWN_FILE)
    except FileExistsError:
        _close(path, OWN_FILE)
        return _written_key(path)
    except OSError as error:
        raise unwritable(folder, error) from None
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


def why_read_only(database: Path) -> str:
    """Why SQLite's database, or its folder where one is open, cannot be written; empty where it can."""
    try:
        os.close(os.open(database, os.O_RDWR))
    except OSError as error:
        return f"{error.strerror}." if error.errno in READ_ONLY else ""
    return "" if os.access(database.parent, os.W_OK) else f"{os.strerror(errno.EACCES)}."


def unwritable(folder: Path, error: OSError) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"SOUNDINGS_DATA: cannot write to {folder}: {error.strerror}.")


def _written_key(path: Path) -> str:
    """The key, also where another process has just made the file and is about to write it."""
    ends = time.monotonic() + KEY_SECONDS
    while not (key := _text_of(path)):
        if time.monotonic() > ends:
            raise ImproperlyConfigured(f"{path} is empty. Delete it, and the next start makes a new key.")
        time.sleep(0.02)
    return key


def _text_of(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{path} cannot be read: {error.strerror}.") from None


def close_folder(folder: Path) -> None:
    """Close the data folder, if any, to everybody else, but not one like /tmp, meant for many accounts."""
    if folder.is_dir() and not folder.stat().st_mode & stat.S_ISVTX:
        _close(folder, OWN_FOLDER)


def close_database(path: Path) -> None:
    """Close a database of SQLite, and make it closed where it is not there yet: it would be open to all."""
    with contextlib.suppress(OSError):  # anyone who opens it says better what is wrong
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, OWN_FILE))
    for name in (path, *(path.with_name(path.name + end) for end in BESIDE)):
        if name.is_file():
            _close(name, OWN_FILE)


def close_tree(folder: Path) -> None:
    """Close every file and folder by itself as well, in what was open before."""
    for place, _, files in os.walk(folder):
        _close(Path(place), OWN_FOLDER)
        for name in files:
            path = Path(place) / name
            if not path.is_symlink():
                _close(path, OWN_FILE)


def _close(path: Path, mode: int) -> None:
    """Take from others what they may do; what belongs to another account is for that one to close."""
    with contextlib.suppress(OSError):
        if path.stat().st_mode & 0o077:
            path.chmod(mode)
