"""The tests with real proxies need nginx and caddy; `.ci/run` installs them and demands these tests."""

import os
import shutil

NEEDED = bool(os.environ.get("PROXIES_REQUIRED"))
collect_ignore = [f"test_{name}.py" for name in ("nginx", "caddy") if not NEEDED and shutil.which(name) is None]
