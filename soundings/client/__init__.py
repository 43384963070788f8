"""A site's HTTP interface from Python: `soundings.Client`."""
