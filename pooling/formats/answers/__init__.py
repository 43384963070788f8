"""Lists by query inside what another program answered or stored."""
