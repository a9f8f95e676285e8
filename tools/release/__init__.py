"""What a release is made of: `python -m tools.release check` builds it from the last commit and tests what it built.

1. builds.py clones the commit, and builds the sources, the wheel for every platform, and a wheel with compiled modules
   for each CPython that interpreters.py finds. What builds is locked in requirements/build.txt and release.txt.
2. The same is built a second time in another folder. comparison.py names each file that differs.
3. installation.py installs each of them alone. installed_checks.py tests it without a compiler, not as root, and with a
   home folder that cannot be written.
4. image_check.py builds the image in a container engine of its own, starts it, and tests it.
   image_start.py starts the image in Docker before image_push.py pushes it.
5. evidence.py writes what is published beside them: SHA256SUMS, bills of materials, licences, and the provenance.
6. table.py prints a row for each artefact, also for those that another machine builds, with the reason.

tag_check.py compares the commit with the tag of a release. Only image_push.py publishes. docs/release.md has the steps.
"""
