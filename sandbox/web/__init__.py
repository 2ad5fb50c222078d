"""Everything that speaks HTTP: the bank's interface, the PSU's pages, the controls, the console and the reference."""
