"""Collects what pages and scripts say into the catalogues of `locale`, and compiles them: `make messages`.

New strings come without a translation; a test then names them. GNU gettext is installed where it may be.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The folders whose strings are collected.
FOLDERS = ("labeling", "pooling", "soundings", "templates", "static")
DOMAINS = {"django": ("html", "txt", "py"), "djangojs": ("js",)}
# Of no use to anybody, and another one with each run.
DATES = re.compile(r'^"(?:POT-Creation-Date|PO-Revision-Date): .*\n', re.MULTILINE)


def install_gettext() -> bool:
    """Whether GNU gettext is here, which is tried with Debian's package where that is allowed."""
    if shutil.which("xgettext") and shutil.which("msgfmt"):
        return True
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    commands = (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "gettext"])
    return all(subprocess.run(command, check=False).returncode == 0 for command in commands)  # noqa: S603  ours alone


def collect(folder: Path) -> None:
    """Update and compile the catalogues of a checkout."""
    languages = [path.name for path in sorted((folder / "locale").iterdir())]
    others = sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name not in FOLDERS)
    options = [option for language in languages for option in ("--locale", language)]
    ignored = [option for name in others for option in ("--ignore", f"./{name}/*")]
    for domain, extensions in DOMAINS.items():
        _django(
            folder,
            "makemessages",
            *options,
            *ignored,
            *(f"--extension={extension}" for extension in extensions),
            *("--domain", domain, "--no-obsolete", "--no-wrap", "--add-location", "file"),
        )
    for path in (folder / "locale").rglob("*.po"):
        path.write_text(DATES.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
    _django(folder, "compilemessages", *options)


def _django(folder: Path, *command: str) -> None:
    settings = {"DJANGO_SETTINGS_MODULE": "soundings.settings", "PYTHONPATH": str(folder)}
    arguments = [sys.executable, "-m", "django", *command]
    subprocess.run(arguments, cwd=folder, env=os.environ | settings, check=True)  # noqa: S603  ours alone


def main() -> int:
    """Collect, in this checkout or in the folder that is named."""
    if not install_gettext():
        print("Install GNU gettext first (apt-get install gettext, brew install gettext).")
        return 1
    collect(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
