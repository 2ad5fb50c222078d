"""The commands beside `serve`: those of files and scenarios, and thin clients of a running sandbox."""
