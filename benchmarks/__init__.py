"""Speed and memory, each printed beside a peer or a limit; nothing here is needed to use Soundings."""
