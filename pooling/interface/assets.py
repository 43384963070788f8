"""Folders of templates, static files and examples. No Django here."""

import sysconfig
from pathlib import Path

#: The folder that holds the packages.
BASE_DIR = Path(__file__).resolve().parents[2]
IN_CHECKOUT = (BASE_DIR / "templates" / "base.html").exists()
#: Next to the code, or where an installed wheel has put them.
ASSETS_DIR = BASE_DIR if IN_CHECKOUT else Path(sysconfig.get_path("data")) / "share" / "soundings"
