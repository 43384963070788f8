"""The migrations of a later version and one more, which fails."""

from pathlib import Path

from tests.soundings.installation import later_migrations

__path__ = [*later_migrations.__path__, str(Path(__file__).parent)]
