"""Sign-in, passwords, tokens, members and invitations."""
