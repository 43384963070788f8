"""What an installation is made of: environment, data folder, tables, first account."""
