"""The settings of a later version: one migration more."""

from soundings.settings import *  # noqa: F403

MIGRATION_MODULES = {"evaluation": "tests.soundings.installation.later_migrations"}
