#!/usr/bin/env bash
# Install fauxka into an environment of its own and put its command on the PATH of later steps.
# VERSION: on PyPI, or "sources" for those beside this folder.
set -euo pipefail

python=$(command -v python3 || command -v python)
folder=$RUNNER_TEMP/fauxka
"$python" -m venv "$folder"
# Windows has Scripts in place of bin.
programs=$folder/bin
[ -d "$programs" ] || programs=$folder/Scripts
if [ "$VERSION" = sources ]; then
  package=$(dirname "$GITHUB_ACTION_PATH")
else
  package="fauxka==$VERSION"
fi
"$programs/python" -m pip install --quiet "$package"
echo "$programs" >> "$GITHUB_PATH"
