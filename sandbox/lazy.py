"""Imports a name at its first use. Tables name what the first calls do not need as `sandbox.room.module:name`.

Python imports a module once, and another thread that asks for it meanwhile waits, so that no lock of ours is needed.
"""

from functools import cache
from pkgutil import resolve_name

load = cache(resolve_name)
