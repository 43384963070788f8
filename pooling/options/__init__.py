"""Options, written down once, and the command options made from them."""
