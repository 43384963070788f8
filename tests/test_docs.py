"""The guide and the README keep up with the code: what exists has its entry, and what is named exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from shutil import copy
from textwrap import dedent

import pytest
import yaml
from django.core.management import call_command, get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.test import Client

from pooling.formats.names import (
    DOCUMENT,
    DOCUMENT_TEXT,
    ID,
    LISTS,
    METADATA,
    OTHER_ID,
    PASSAGE,
    QUERY,
    QUERY_TEXT,
    RANK,
    RELEVANCE,
    SCORE,
    TITLE,
)
from pooling.merging.choice import Choice
from pooling.options import options_of
from soundings.installation.sign_in import OF_PROVIDER
from soundings.pages.guide import PAGES

ROOT = Path(__file__).resolve().parent.parent
# A link from one page of the guide to another, or to a part; and one from a template.
LINK = re.compile(r"\]\((?:\.\./(\w+)/)?(?:#([\w-]+))?\)")
TEMPLATE_LINK = re.compile(r"\{% url 'guide_page' '(\w+)' %\}(?:#([\w-]+))?")
OWN_APPS = ("soundings", "pooling", "labeling", "evaluation")


def guide(page: str) -> str:
    return (ROOT / "templates" / "docs" / f"{page}.md").read_text(encoding="utf-8")


def headings(page: str) -> set[str]:
    return set(re.findall(r"^### `([\w-]+)`$", guide(page), flags=re.MULTILINE))


def own_commands() -> set[str]:
    return {name for name, app in get_commands().items() if app in OWN_APPS}


def variables() -> set[str]:
    settings = (ROOT / "soundings" / "settings.py").read_text(encoding="utf-8")
    found = set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", settings)) | {"DATABASE_URL"}
    sign_in = (ROOT / "soundings" / "installation" / "sign_in.py").read_text(encoding="utf-8")
    found |= set(re.findall(r"\"(SOUNDINGS_[A-Z_]+)\"", sign_in))
    return found | {f"SOUNDINGS_OIDC_{name}" for name in OF_PROVIDER}


def test_every_command_has_its_entry_and_every_entry_its_command() -> None:
    assert headings("commands") == own_commands()


def test_every_environment_variable_has_its_row() -> None:
    described = set(re.findall(r"^\| `([A-Z_]+)` \|", guide("settings"), flags=re.MULTILINE))
    assert described == variables()


def test_the_readme_names_variables_that_exist() -> None:
    named = re.findall(r"`([A-Z]+_[A-Z_]+)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if name not in variables()] == []


def test_every_strategy_has_its_entry() -> None:
    from pooling.strategies import STRATEGIES

    assert headings("strategies") == set(STRATEGIES)


def test_every_measure_has_its_entry() -> None:
    from evaluation.measures import MEASURES

    assert headings("recall") == set(MEASURES)


@pytest.mark.parametrize("name", sorted(own_commands()))
def test_the_options_in_a_command_s_entry_exist(name: str) -> None:
    entry = guide("commands").partition(f"### `{name}`\n")[2].partition("\n### ")[0]
    parser = load_command_class(get_commands()[name], name).create_parser("soundings", name)
    assert [
        option for option in re.findall(r"--[a-z][\w-]*", entry) if option not in parser.format_help()
    ] == []


@pytest.mark.parametrize("name", sorted(own_commands() - {"migrate"}))
def test_the_guide_names_every_option_of_a_command(name: str) -> None:
    words = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", "".join(map(guide, PAGES))))
    parser = load_command_class(get_commands()[name], name).create_parser("soundings", name)
    usual = BaseCommand().create_parser("soundings", name)
    known = words.union(usual._option_string_actions)
    options = {tuple(one.option_strings) for one in parser._actions if one.option_strings}
    assert [one for one in sorted(options) if known.isdisjoint(one)] == []


def test_every_option_of_a_pool_has_its_row() -> None:
    rows = []
    for one in options_of(Choice).values():
        flag = one.flag or f"--{one.name.replace('_', '-')}"
        without = "required" if one.is_required else one.without or "none"
        rows.append(f"| {one.title} | `{flag}` | `{one.name}` | {without} |")
    table = guide("pooling").partition("| option | command | call | without it |\n")[2].partition("\n\n")[0]
    assert table.splitlines()[1:] == rows


@pytest.mark.django_db
def test_every_name_of_a_field_is_on_its_page() -> None:
    page = (ROOT / "templates/docs/inputs.md").read_text(encoding="utf-8")
    known = (
        QUERY,
        DOCUMENT,
        SCORE,
        RANK,
        RELEVANCE,
        ID,
        PASSAGE,
        OTHER_ID,
        TITLE,
        QUERY_TEXT,
        DOCUMENT_TEXT,
        LISTS,
    )
    assert [name for names in (*known, METADATA) for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_the_guide_is_shown_to_everybody(client: Client, page: str) -> None:
    response = client.get(f"/guide/{page}/")
    assert response.status_code == 200
    assert guide(page).splitlines()[0].removeprefix("# ") in response.content.decode()


def test_links_to_the_guide_lead_somewhere(client: Client) -> None:
    pages = {page: client.get(f"/guide/{page}/").content.decode() for page in PAGES}
    linked = {(target or page, part) for page in PAGES for target, part in LINK.findall(guide(page))}
    for template in (ROOT / "templates").rglob("*.html"):
        linked |= set(TEMPLATE_LINK.findall(template.read_text(encoding="utf-8")))
    assert {page for page, _ in linked} <= set(pages)
    assert [(page, part) for page, part in linked if part and f'id="{part}"' not in pages[page]] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_what_is_linked_for_readers_of_the_code_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_files_that_newcomers_are_sent_to_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+\w+\.\w+)`", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_tests_that_newcomers_are_told_of_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    written = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", text)
    assert named
    assert [name for name in named if f"def {name}(" not in written] == []


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository of the page *In CI*, with the files of the example collection."""
    examples, relevance = ROOT / "examples", tmp_path / "relevance"
    relevance.mkdir()
    for name in ("qrels.txt", "queries.jsonl"):
        copy(examples / name, relevance)
    copy(examples / "runs" / "bm25.run", relevance / "main.run")
    copy(examples / "runs" / "lsa.run", tmp_path / "tonight.run")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path


def code_blocks(page: str) -> list[str]:
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", guide(page), flags=re.MULTILINE)
    return [dedent(block).strip("\n") for block in blocks]


def test_the_workflow_to_copy_works_as_it_is_printed(checkout: Path) -> None:
    thresholds, workflow = code_blocks("ci")
    (checkout / "relevance" / "evaluation.toml").write_text(thresholds)
    (command,) = [
        step["run"]
        for step in yaml.safe_load(workflow)["jobs"]["recall"]["steps"]
        if step.get("run", "").startswith("soundings")
    ]

    call_command(*shlex.split(command)[1:])

    assert 'failures="0"' in (checkout / "recall.xml").read_text()
    assert "every threshold reached" in (checkout / "summary.md").read_text()
    assert (checkout / "recall.html").exists()
