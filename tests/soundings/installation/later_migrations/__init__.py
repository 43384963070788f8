"""The migrations of evaluation and one more, as a later version has."""

from pathlib import Path

from evaluation import migrations

LAST = sorted(path.stem for path in Path(migrations.__path__[0]).glob("0*.py"))[-1]

__path__ = [*migrations.__path__, str(Path(__file__).parent)]
