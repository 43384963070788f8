"""The site around the three stages. The version of the whole is written here and nowhere else."""

__version__ = "0.1.0"
