#!/bin/sh
# Writes requirements.txt, with what the image installs, and build-requirements.txt, with what its
# build needs: each package with its version and the hashes of its files. Run it in the project's
# folder after dependencies in pyproject.toml have changed. It keeps the versions that are still
# allowed: remove the files first, or add --upgrade, to get new ones. It needs uv (pip install uv).
set -eu
pin() {
  uv pip compile --quiet --python-version 3.11 --python-platform linux --generate-hashes \
    --no-annotate --custom-compile-command "sh deploy/image/pin.sh" "$@"
}
pin --extra ja --extra ko --extra spm "$@" pyproject.toml -o deploy/image/requirements.txt
printf '%s\n' 'cyclonedx-bom>=7,<8' 'pip' 'setuptools>=77' |
  pin "$@" - -o deploy/image/build-requirements.txt
