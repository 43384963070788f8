"""Backups of a site whose accounts are linked to a provider, or have second factors."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.soundings.processes import manage

pytest.importorskip("allauth", reason="needs the extra sso")
ON = {
    "SOUNDINGS_SECOND_FACTOR": "optional",
    "SOUNDINGS_OIDC_ISSUER": "https://login.example.org",
    "SOUNDINGS_OIDC_CLIENT_ID": "soundings",
    "SOUNDINGS_OIDC_CLIENT_SECRET": "secret",
}
LINK = (
    "INSERT INTO socialaccount_socialaccount (provider, uid, user_id, last_login, date_joined, extra_data)"
    " VALUES ('company', 'subject-7', 1, '2027-01-01', '2027-01-01', '{}')"
)


@pytest.mark.slow
def test_links_come_back_where_the_settings_are_the_same(data_folder: Path, tmp_path: Path) -> None:
    file, new, other = tmp_path / "site.zip", tmp_path / "new", tmp_path / "other"
    assert manage(data_folder, "migrate", **ON).returncode == 0
    assert manage(data_folder, "create_user", "ada", "--password-stdin", given="a long phrase\n", **ON)
    with sqlite3.connect(data_folder / "soundings.sqlite3") as database:
        database.execute(LINK)
    database.close()
    assert "SOUNDINGS_OIDC_ISSUER" in manage(data_folder, "backup", str(file)).stderr
    done = manage(data_folder, "backup", str(file), **ON)
    assert done.returncode == 0, done.stderr
    for folder in (new, other):
        folder.mkdir()
        shutil.copy(data_folder / "secret_key", folder)
    told = manage(other, "restore", str(file))
    assert (told.returncode, "SOUNDINGS_SECOND_FACTOR" in told.stderr) == (2, True)
    done = manage(new, "restore", str(file), **ON)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(new / "soundings.sqlite3") as database:
        assert database.execute("SELECT uid FROM socialaccount_socialaccount").fetchall() == [("subject-7",)]
    database.close()
