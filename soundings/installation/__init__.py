"""Parts of an installation: environment, data folder, tables, first account."""
