"""Programs to read and to run beside the sandbox. None of them is part of what is installed."""
