"""Compile the checks of produced batches with mypyc; everything else about the build is in pyproject.toml.

With FAUXKA_COMPILE=1 in the environment, a missing C compiler or header of Python is an error (images, wheels). With
FAUXKA_COMPILE=0, nothing is compiled (the wheel for all platforms). By default, what cannot be compiled stays a source.
"""

import os
import shutil
import sys
import sysconfig

from setuptools import setup

# The modules that every Produce runs, from the bytes of its batch to the decision on it.
COMPILED_MODULES = [
    "src/fauxka/protocol/batches/record_validation.py",
    "src/fauxka/protocol/buffer_codec.py",
    "src/fauxka/protocol/produced_records.py",
    "src/fauxka/storage/append_decision.py",
    "src/fauxka/storage/log_validator.py",
    "src/fauxka/storage/producers/producer_append_info.py",
    "src/fauxka/storage/producers/producer_state_entry.py",
]
COMPILER = ["mypy>=1.18"]
# A build runs this file for its requirements and its metadata too. Only these commands need the extensions.
BUILDING_COMMANDS = {"bdist_wheel", "build", "build_ext", "editable_wheel", "install"}
# Without mypy.ini's or pyproject's checks: those are for `make check`.
MYPY_OPTIONS = ["--config-file=", "--explicit-package-bases", "--ignore-missing-imports"]


def main() -> None:
    """Build with the compiled modules, if they are wanted and can be had."""
    if not os.path.isdir("src/fauxka/broker"):
        # Git for Windows writes links as files by default, and so does the unpacker of an archive.
        sys.exit("fauxka: src/fauxka has files in place of symbolic links: git config --global core.symlinks true")
    wanted = os.environ.get("FAUXKA_COMPILE")
    if wanted == "0" or (wanted != "1" and not has_compiler()):
        setup()
    elif not BUILDING_COMMANDS & set(sys.argv):
        # A front end asks for the requirements of the build, and installs them.
        setup(setup_requires=COMPILER)
    else:
        from mypyc.build import mypycify

        os.environ["MYPYPATH"] = "src"
        # A higher level takes half as long again to compile and gains nothing measurable.
        extensions = mypycify([*MYPY_OPTIONS, *COMPILED_MODULES], opt_level="1", debug_level="0", group_name="fauxka")
        for extension in extensions:
            extension.optional = wanted != "1"
        setup(ext_modules=extensions)


def has_compiler() -> bool:
    """Return whether the C compiler exists that setuptools would run, for the Python that mypyc's code is for."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return sys.implementation.name == "cpython" and shutil.which(command.split()[0]) is not None


main()
