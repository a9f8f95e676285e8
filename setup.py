"""Compile the record loop with mypyc; everything else about the build is in pyproject.toml.

With FAUXKA_COMPILE=1 in the environment, a missing C compiler or header of Python is an error (images, wheels). With
FAUXKA_COMPILE=0, nothing is compiled (the wheel for all platforms). By default, what cannot be compiled stays a source.
"""

import os

from setuptools import Extension, setup

COMPILED_MODULES = ["src/fauxka/protocol/batches/record_validation.py"]


def extensions() -> list[Extension]:
    """Return the modules to compile."""
    wanted = os.environ.get("FAUXKA_COMPILE")
    if wanted == "0":
        return []
    from mypyc.build import mypycify

    found = mypycify(COMPILED_MODULES, opt_level="3", debug_level="0")
    for extension in found:
        extension.optional = wanted != "1"
    return found


setup(ext_modules=extensions())
