"""Imports an object when it is first used. Tables hold the address of such an object, `package.module:name`, if most
commands and calls do not need it.

No lock is needed. Python imports a module only once, and another thread that asks for the module meanwhile waits."""

from functools import cache
from pkgutil import resolve_name

load = cache(resolve_name)
