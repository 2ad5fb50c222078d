"""A sandbox of one Belgian bank, on a clock that the tester owns."""
