"""What the first calls do not need is named in tables as `sandbox.room.module:name`, and imported at its first use.

Python imports a module once, and another thread that asks for it meanwhile waits, so that no lock of ours is needed.
"""

from functools import cache
from pkgutil import resolve_name

load = cache(resolve_name)
