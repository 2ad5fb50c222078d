"""A bank with its lock, its clock's pace, its log, its calls and its faults; and the registry of worlds."""
