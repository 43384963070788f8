"""The catalogues: whole, compiled, and with every placeholder; no sentence of a script outside of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from gettext import GNUTranslations
from pathlib import Path

import polib
import pytest
from django.conf import settings

pytestmark = pytest.mark.anywhere

ROOT = Path(__file__).resolve().parents[3]
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
PATHS = [
    ROOT / "locale" / one / "LC_MESSAGES" / f"{two}.po" for one in LANGUAGES for two in ("django", "djangojs")
]
PLURAL_FORMS = {"de": 2, "es": 2, "hi": 2, "ja": 1}
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>|%%")
# In a script: a literal that begins like a sentence, or a template of words.
SENTENCE = re.compile(r"""(?<!gettext\()(["`])(?:[A-Z][a-z]+ [a-z]|\$\{[^}]+\} [a-z])[^"`]*\1""")
SCRIPTS = [
    *(ROOT / "static" / "judge").glob("*.js"),
    *(ROOT / "static" / name for name in ("unsent.js", "palette.js")),
]

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")


def forms_of(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


@each
def test_every_string_is_translated_in_every_plural_form(path: Path) -> None:
    catalogue = polib.pofile(str(path))
    many = PLURAL_FORMS[path.parts[-3]]
    assert f"nplurals={many};" in catalogue.metadata["Plural-Forms"]
    assert [
        entry.msgid for entry in catalogue if entry.fuzzy or entry.obsolete or not all(forms_of(entry))
    ] == []
    assert [
        entry.msgid for entry in catalogue if entry.msgid_plural and len(entry.msgstr_plural) != many
    ] == []


@each
def test_a_translation_has_the_placeholders_and_tags_of_its_string(path: Path) -> None:
    wrong = []
    for entry in polib.pofile(str(path)):
        one, several = (set(PLACEHOLDER.findall(text)) for text in (entry.msgid, entry.msgid_plural))
        for form in forms_of(entry):
            found = set(PLACEHOLDER.findall(form))
            if found not in (one, several or one):
                wrong.append((entry.msgid, form))
    assert wrong == []


#: Second words for what a language has one word for: signing in, a browser; a page, what is left, an admin.
SECOND_WORDS = {
    "ja": "サインイン|サインアウト|ブラウザ(?!ー)",
    "hi": "पृष्ठ(?!भूमि)|(?<!वि)शेष(?!ज्ञ)|किसी व्यवस्थापक",
}


@each
def test_a_language_has_one_word_for_one_thing(path: Path) -> None:
    second = re.compile(SECOND_WORDS.get(path.parts[-3], "(?!)"))
    forms = [form for entry in polib.pofile(str(path)) for form in forms_of(entry)]
    assert [form for form in forms if second.search(form)] == []


@each
def test_what_is_compiled_is_what_the_catalogue_says(path: Path) -> None:
    with path.with_suffix(".mo").open("rb") as file:
        compiled: dict[object, str] = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    expected: dict[object, str] = {}
    for entry in polib.pofile(str(path)):
        key = f"{entry.msgctxt}\x04{entry.msgid}" if entry.msgctxt else entry.msgid
        if entry.msgid_plural:
            expected |= {(key, number): form for number, form in entry.msgstr_plural.items()}
        else:
            expected[key] = entry.msgstr
    assert {key: text for key, text in compiled.items() if key != ""} == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_and_scripts_say_the_same_in_the_same_words(language: str) -> None:
    folder = ROOT / "locale" / language / "LC_MESSAGES"
    page, script = (
        {
            entry.msgid: forms_of(entry)
            for entry in polib.pofile(str(folder / f"{name}.po"))
            if not entry.msgctxt
        }
        for name in ("django", "djangojs")
    )
    assert {text for text in page.keys() & script.keys() if page[text] != script[text]} == set()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xgettext") is None, reason="needs GNU gettext: make messages installs it")
def test_nothing_in_the_source_is_missing_in_the_catalogues(tmp_path: Path) -> None:
    for folder in ("labeling", "pooling", "evaluation", "soundings", "templates", "static", "locale"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "docs")
        )
    before = {path: ids_of(path) for path in tmp_path.rglob("*.po")}
    subprocess.run(
        [sys.executable, "-m", "docs.messages", str(tmp_path)], cwd=ROOT, check=True, capture_output=True
    )
    assert {path: ids_of(path) for path in tmp_path.rglob("*.po")} == before


def ids_of(path: Path) -> set[tuple[str, str]]:
    return {(entry.msgid, entry.msgid_plural) for entry in polib.pofile(str(path))}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_says_a_sentence_past_the_catalogue(path: Path) -> None:
    code = re.sub(r"^\s*(//|\*|/\*\*).*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    marked = re.sub(r"gettext\(\s*\"[^\"]*\"(?:,\s*\"[^\"]*\")?", "", code)
    assert [match.group() for match in SENTENCE.finditer(marked)] == []
