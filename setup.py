"""Compile the way of a small Produce with mypyc; everything else about the build is in pyproject.toml.

With FAUXKA_COMPILE=1 in the environment, a missing C compiler or header of Python is an error (images, wheels). With
FAUXKA_COMPILE=0, nothing is compiled (the wheel for all platforms). By default, what cannot be compiled stays a source.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext

# The modules that every Produce runs, from the bytes of its socket to the journal, and those with subclasses of their
# classes.
COMPILED_MODULES = [
    "src/fauxka/broker/dispatch/dispatch.py",
    "src/fauxka/broker/dispatch/owned_request.py",
    "src/fauxka/broker/network/busy_poll.py",
    "src/fauxka/broker/network/connection.py",
    "src/fauxka/broker/network/frame_buffer.py",
    "src/fauxka/broker/network/receive_buffers.py",
    "src/fauxka/broker/network/response_queue.py",
    "src/fauxka/broker/network/transport_writer.py",
    "src/fauxka/broker/network/turn_writes.py",
    "src/fauxka/broker/replica/discarding_partition.py",
    "src/fauxka/broker/replica/partition.py",
    "src/fauxka/broker/requests/produce_route.py",
    "src/fauxka/broker/requests/produce_routes.py",
    "src/fauxka/broker/requests/request_context.py",
    "src/fauxka/broker/requests/routed_produce.py",
    "src/fauxka/broker/runtime/buffers.py",
    "src/fauxka/broker/runtime/clock.py",
    "src/fauxka/faults/journal/counted_batches.py",
    "src/fauxka/faults/journal/journal.py",
    "src/fauxka/faults/plain_append.py",
    "src/fauxka/protocol/batches/record_batch.py",
    "src/fauxka/protocol/batches/record_validation.py",
    "src/fauxka/protocol/buffer_codec.py",
    "src/fauxka/protocol/compared_fields.py",
    "src/fauxka/protocol/produced_records.py",
    "src/fauxka/protocol/sequences.py",
    "src/fauxka/protocol/single_partition_response.py",
    "src/fauxka/storage/append_decision.py",
    "src/fauxka/storage/append_result.py",
    "src/fauxka/storage/cleaning/cleaned_segment.py",
    "src/fauxka/storage/decompressed_limit.py",
    "src/fauxka/storage/file_systems/memory_file.py",
    "src/fauxka/storage/generated_log.py",
    "src/fauxka/storage/leader_epoch_cache.py",
    "src/fauxka/storage/log_config.py",
    "src/fauxka/storage/log_validator.py",
    "src/fauxka/storage/partition_log.py",
    "src/fauxka/storage/producers/producer_append_info.py",
    "src/fauxka/storage/producers/producer_state_entry.py",
    "src/fauxka/storage/producers/producer_state_manager.py",
    "src/fauxka/storage/producers/unverified_producers.py",
    "src/fauxka/storage/segments/log_segment.py",
    "src/fauxka/storage/segments/log_segments.py",
]
COMPILER = ["mypy>=1.18"]
# A build runs this file for its requirements and its metadata too. Only these commands need the extensions.
BUILDING_COMMANDS = {"bdist_wheel", "build", "build_ext", "editable_wheel", "install"}
# Without mypy.ini's or pyproject's checks: those are for `make check`. Other modules are not read, which takes a fifth
# of the time: their objects are of any type. So no compiled class may have one of theirs as its base
# (tests/storage/test_compiled_sources.py).
MYPY_OPTIONS = ["--config-file=", "--explicit-package-bases", "--ignore-missing-imports", "--follow-imports=skip"]


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
        # A higher level takes half as long again to compile and gains nothing measurable. Several files compile in
        # less time than one, and at the same time.
        extensions = mypycify(
            [*MYPY_OPTIONS, *COMPILED_MODULES],
            opt_level="1",
            debug_level="0",
            group_name="fauxka",
            multi_file=True,
        )
        for extension in extensions:
            extension.optional = wanted != "1"
        parallel = {"build_ext": {"parallel": str(os.cpu_count() or 1)}}
        setup(ext_modules=extensions, cmdclass={"build_ext": ParallelBuild}, options=parallel)


class ParallelBuild(build_ext):
    """Compiles the sources of an extension at the same time, as setuptools compiles several extensions."""

    def build_extensions(self) -> None:
        """Compile and link all extensions."""
        if sys.platform == "win32":
            # The compiler of Visual Studio prepares itself with its first file.
            super().build_extensions()
            return
        compile_all = self.compiler.compile

        def compile_together(sources: Sequence[str], **options: Any) -> list[str]:
            def compile_one(source: str) -> list[str]:
                return compile_all([source], **options)

            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return [compiled for of_one in pool.map(compile_one, sources) for compiled in of_one]

        self.compiler.compile = compile_together
        super().build_extensions()


def has_compiler() -> bool:
    """Return whether the C compiler exists that setuptools would run, for the Python that mypyc's code is for."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return sys.implementation.name == "cpython" and shutil.which(command.split()[0]) is not None


main()
