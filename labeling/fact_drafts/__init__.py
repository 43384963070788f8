"""Facts drafted by a language model, for people to confirm: never a vote."""
