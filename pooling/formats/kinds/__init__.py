"""One module for each file format, or for a few that are alike, with its entries in `FORMATS`.

`pooling.formats.registry` finds them here, so that nothing else lists them.
"""
