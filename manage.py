#!/usr/bin/env python
"""The command line of Soundings in a checkout; where the package is installed, `soundings` is the same."""

from soundings.cli import main

if __name__ == "__main__":
    main()
