"""The evaluation file: what it may say, how a refusal reads, and who wins over whom."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation import Conventions, evaluate, read_settings
from evaluation.measures import MEASURES
from evaluation.scoring.config import SettingError, Settings, parse_settings, settings_from
from evaluation.scoring.conventions import CHOICES, CONVENTIONS, PRESETS
from pooling.formats import FormatError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq1 0 n 0\nq2 0 c 1\nq3 0 d 0\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 x 2 2 t\nq2 Q0 y 1 1 t\n")
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "one", "metadata": {"tags": ["short"]}}\n'
        '{"_id": "q2", "text": "two", "metadata": {"tags": ["long"]}}\n'
    )
    return tmp_path


def printed(
    capsys: pytest.CaptureFixture[str], folder: Path, config: str, *arguments: str
) -> tuple[Any, str]:
    """The object of `--format json` and what went to stderr."""
    (folder / "evaluation.toml").write_text(config)
    paths = [str(folder / name) for name in ("qrels.txt", "bm25.run")]
    options = ("--config", str(folder / "evaluation.toml"), "--format", "json", *arguments)
    call_command("evaluate", *paths, *options)
    out, err = capsys.readouterr()
    return json.loads(out), err


def guide_example() -> str:
    text = (ROOT / "templates" / "docs" / "recall.md").read_text(encoding="utf-8")
    block = re.search(r"^    # evaluation\.toml\n(?:    .*\n|\n)+", text, flags=re.MULTILINE)
    assert block
    return "".join(line[4:] or "\n" for line in block[0].splitlines(keepends=True))


def test_the_example_of_the_guide_names_every_key_and_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = parse_settings(guide_example().encode(), "evaluation.toml")
    assert None not in vars(settings).values()
    assert set(settings.conventions) == {"preset", *CONVENTIONS}

    with pytest.raises(SystemExit) as ended:
        printed(capsys, folder, guide_example(), "--queries", str(folder / "queries.jsonl"))
    content, err = json.loads((said := capsys.readouterr()).out), said.err

    assert ended.value.code == 1
    assert "bm25: recall@10 is 0.2500 over 2 queries by the labels at hand, below 0.4." in err
    assert list(content["strata"]) == ["short", "long"]
    assert content["warnings"][0] in err


def test_the_file_says_what_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, _ = printed(
        capsys,
        folder,
        'k = [2]\nmeasures = ["recall"]\nconfidence = 0.9\nsamples = 50\nseed = 3\n'
        '[conventions]\npreset = "trec_eval-9"\nmissing = "zero"\n',
    )

    assert list(content["runs"]["bm25"]) == ["recall@2", "judged@2"]
    held = content["conventions"]
    assert (held["scores"], held["missing"], held["zero_relevant"]) == ("float32", "zero", "zero")
    assert (held["interval"]["level"], held["interval"]["samples"], held["interval"]["seed"]) == (0.9, 50, 3)
    assert "ties: float32 score" in content["runs"]["bm25"]["recall@2"]["line"]


def test_an_option_wins_over_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = 'k = [2]\nconfidence = 0.9\n[conventions]\nmissing = "skip"\nties = "file"\n'
    content, _ = printed(
        capsys, folder, config, "--k", "1", "--confidence", "0.8", "--missing", "zero", "--measure", "recall"
    )

    held = content["conventions"]
    assert (held["k"], held["interval"]["level"], held["missing"], held["ties"]) == ([1], 0.8, "zero", "file")


def test_a_preset_by_option_wins_over_the_conventions_it_sets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = '[conventions]\nmissing = "zero"\nscores = "float64"\nmin_relevance = 2\n'
    held = printed(capsys, folder, config, "--preset", "trec_eval-9")[0]["conventions"]

    assert (held["missing"], held["scores"], held["min_relevance"]) == ("skip", "float32", 2)


def test_tags_in_the_file_need_the_queries(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="name it with --queries FILE") as error:
        printed(capsys, folder, 'tags = ["short"]')

    assert error.value.returncode == 2


@pytest.mark.parametrize(
    ("text", "line", "key", "remedy"),
    [
        ("\nks = [5]", 2, "ks", "Write k; the keys are"),
        ("Thresholds = 1", 1, "Thresholds", "Write thresholds"),
        ('k = [5]\n[conventions]\nmin-relevance = 1', 3, "min-relevance", "Write min_relevance"),
        ("[conventions]\nshoe = 1", 2, "shoe", "The keys there are preset, min_relevance"),
        ("k = 5", 1, "k is 5", "k = [5, 10, 100]"),
        ("k = []", 1, "k is []", "k = [5, 10, 100]"),
        ("k = [5, 0]", 1, "k is 0", "from 1 to 1,000,000"),
        ("k = [true]", 1, "k is True", "whole number"),
        ('measures = ["recall",\n"ndgc"]', 1, "measures", "The measures are recall, precision"),
        ("measures = [5]", 1, "measures: 5", "in quotes"),
        ('measures = ["bpref@5"]', 1, "bpref", "Write bpref for the whole run"),
        ('measures = ["span_recall@5"]', 1, "span_recall is measured over excerpts", "together with --spans"),
        ('[thresholds]\n"span_recall@5" = 0.5', 2, "span_recall is measured over excerpts", "--fail-under"),
        ("confidence = 95", 1, "confidence is 95", "such as 0.95"),
        ("confidence = nan", 1, "confidence is nan", "such as 0.95"),
        ('tags = "short"', 1, "tags is 'short'", 'tags = ["short", "long"]'),
        ("tags = [1]", 1, "tags: 1 is not a tag", "as text in quotes"),
        (f"tags = {[f't{n}' for n in range(101)]}", 1, "101 tags", "at most 100"),
        ("minimum_queries = 0", 1, "minimum_queries is 0", "whole number"),
        ("samples = 1e4", 1, "samples is 10000.0", "whole number"),
        ("seed = -1", 1, "seed is -1", "whole number"),
        ("conventions = 5", 1, "conventions is 5", "[conventions] and below it"),
        ('[conventions]\nties = "luck"', 2, "ties is 'luck'", "docid, docid-asc, file, rank"),
        ('conventions.ties = "luck"', 1, "ties is 'luck'", "docid, docid-asc, file, rank"),
        ('[conventions]\npreset = "trec"', 2, "preset is 'trec'", "trec_eval, trec_eval-c, trec_eval-9"),
        ("[conventions]\nmin_relevance = 0.5", 2, "min_relevance is 0.5", "whole number"),
        ("[conventions]\nmissing = 0", 2, "missing is 0", "zero, skip"),
        ('[thresholds]\n"recall@10" = 2', 2, "recall@10 is 2", "from 0 to 1"),
        ("[thresholds]\nrecall@10 = 1", 2, "not TOML", "text in quotes"),
        ("[thresholds]\nrecall = 0.5", 2, "recall", "recall@10"),
        ('k = [5]\n\n[thresholds]\nfame = 1', 4, "fame", "The measures are"),
        ("[thresholds.map]\nat = 1", None, "map", '"recall@10" = 0.4'),
        ("k = [5", 1, "not TOML", "k = [5, 10]"),
        ("k = [5]\nk = [6]", 2, "not TOML: cannot overwrite a value", "one setting a line"),
    ],
)  # fmt: skip
def test_a_refusal_names_file_line_key_and_remedy(text: str, line: int | None, key: str, remedy: str) -> None:
    with pytest.raises(FormatError) as error:
        parse_settings(text.encode(), "evaluation.toml")

    assert (error.value.path, error.value.line) == ("evaluation.toml", line)
    assert key in error.value.problem
    assert remedy in error.value.remedy
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"k = [5]\n# \xff\n", "evaluation.toml, line 2: not UTF-8"),
        (b"x = " + b"[" * 100_000, "nested too deeply"),
        (b"#" * (1 << 20) + b"##", "larger than 1 MB"),
    ],
)
def test_what_is_no_small_text_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        parse_settings(content, "evaluation.toml")


def test_a_wrong_file_is_one_line_and_exit_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match=r"evaluation\.toml, line 1: k is 5") as error:
        printed(capsys, folder, "k = 5")
    assert error.value.returncode == 2


def test_a_file_with_a_byte_order_mark_and_crlf_is_read(tmp_path: Path) -> None:
    (tmp_path / "evaluation.toml").write_bytes(b"\xef\xbb\xbfk = [5]\r\n[conventions]\r\nties = 'file'\r\n")

    assert read_settings(tmp_path / "evaluation.toml") == Settings(k=(5,), conventions={"ties": "file"})


def test_other_names_of_measures_are_understood() -> None:
    settings = settings_from({"measures": ["R@5", "AP"], "thresholds": {"P@10": 0.5}})

    assert (settings.measures, settings.thresholds) == (("recall@5", "map"), {"precision@10": 0.5})


def test_an_unknown_key_of_a_request_is_refused_by_its_name() -> None:
    with pytest.raises(SettingError) as error:
        settings_from({"conventions": {"tie": "file"}})
    assert error.value.key == "conventions.tie"


def test_settings_are_the_arguments_of_evaluate() -> None:
    settings = Settings(k=(2,), conventions={"preset": "trec_eval-9"}, samples=10, tags=("short",))
    result = evaluate({"q": {"a": 1}}, {"run": {"q": {"a": 1.0}}}, **settings.arguments())

    assert result.conventions == Conventions.preset("trec_eval-9")
    assert result.settings["interval"]["samples"] == 10


measure_keys = st.sampled_from([*(f"{name}@5" for name in ("recall", "ndcg", "map")), *MEASURES])
conventions = st.fixed_dictionaries(
    {},
    optional={
        "preset": st.sampled_from(list(PRESETS)),
        "min_relevance": st.integers(1, 5),
        **{name: st.sampled_from(words) for name, words in CHOICES.items()},
    },
)
texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)


@given(
    st.builds(
        Settings,
        k=st.none() | st.lists(st.integers(1, 1000), min_size=1).map(tuple),
        measures=st.none() | st.lists(measure_keys, min_size=1).map(tuple),
        confidence=st.none() | st.floats(0.5, 0.999),
        tags=st.none() | st.lists(texts, min_size=1, max_size=5, unique=True).map(tuple),
        minimum_queries=st.none() | st.integers(1, 10**9),
        samples=st.none() | st.integers(1, 100_000),
        seed=st.none() | st.integers(0, 2**63 - 1),
        conventions=conventions,
        thresholds=st.none()
        | st.dictionaries(st.sampled_from(["recall@10", "map", "ndcg@3"]), st.floats(0, 1), min_size=1),
    )
)
def test_what_is_written_as_toml_is_read_as_it_was(settings: Settings) -> None:
    assert parse_settings(settings.to_toml().encode(), "settings.toml") == settings
