"""Commands that need no running sandbox."""
