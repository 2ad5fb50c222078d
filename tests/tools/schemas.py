"""Files of other programs against their published schemas, which check-jsonschema brings."""

from pathlib import Path

from check_jsonschema import main
from click.testing import CliRunner, Result


def check_file(schema: str, file: Path) -> Result:
    """Calls check-jsonschema within this process. Its exit code is 0 if the file is valid, and 1 if it is not."""
    return CliRunner().invoke(main, ["--builtin-schema", f"vendor.{schema}", str(file)])
