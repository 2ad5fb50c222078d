"""Where the executable begins: the command `bank-sandbox`."""

import os

from sandbox.cli import main

# The executable brings libraries of its own and finds them by this variable. Programs that a command starts, such as
# those of `vary`, must find the machine's.
if os.environ.pop("LD_LIBRARY_PATH", None) is not None and (earlier := os.environ.pop("LD_LIBRARY_PATH_ORIG", "")):
    os.environ["LD_LIBRARY_PATH"] = earlier

main()
