"""What an option is, written down once, and the command options made from it."""
