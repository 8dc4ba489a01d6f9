#!/usr/bin/env bash
# ./run.sh            scores the bundled example
# ./run.sh ARGS...    runs beam-bleu with these arguments
# ./run.sh test       runs the fast tests, on all cores
# ./run.sh test --slow | --libraries | --engines | --fast
#                     runs these sets of tests; give several options for several sets.
#                     Other arguments go to pytest: ./run.sh test tests/pipeline -k usage
# ./run.sh lint       checks style, format and types
# ./run.sh cluster start|flags|stop flink|prism|spark
#                     a real engine on this machine, for trying and testing the command,
#                     not for production (docs/engines.md)
#
# The first call makes .venv here and installs the project into it; `test` and `lint`
# add what they need when they are first called. Later calls install again only when
# pyproject.toml or the Python has changed. PYTHON names the Python to use (default: python3).
set -euo pipefail

# Find the script itself, because it may be called through symbolic links.
script=${BASH_SOURCE[0]}
while [[ -L $script ]]; do
  link=$(readlink -- "$script")
  [[ $link == /* ]] || link=$(dirname -- "$script")/$link
  script=$link
done
project=$(CDPATH='' cd -- "$(dirname -- "$script")" && pwd -P)
venv=$project/.venv
python=${PYTHON:-python3}

fail() {
  printf 'run.sh: %s\n  %s\n' "$1" "$2" >&2
  exit 1
}

# Installs the project with an extra ("" for no extra), unless it is installed already.
install() {
  local extra=$1 stamp now
  stamp=$venv/installed${extra:+-$extra}
  now=$("$python" -VV && cat "$project/pyproject.toml" && echo "$project")
  if [[ -f $stamp && "$(cat "$stamp")" == "$now" ]]; then
    return
  fi
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$("$python" -V) is too old" "set PYTHON to a Python 3.10 or later"
  echo "run.sh: installing into $venv (once)" >&2
  [[ -x $venv/bin/python ]] && "$venv/bin/python" -c 'import pip' 2>/dev/null ||
    "$python" -m venv --clear "$venv" >&2 ||
    fail "$python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
  # Python compiles the files that it imports. If pip compiled all files, that would be a third of its time.
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile \
    --editable "$project${extra:+[$extra]}" >&2 ||
    fail "installing failed" "pip says why above"
  printf '%s\n' "$now" | tee "$venv/installed" >"$stamp"  # the project without an extra is there, too
}

command -v "$python" >/dev/null || fail "there is no $python" "install Python 3.10 or later, or set PYTHON"

case ${1-} in
  test)
    shift
    extra=test
    for argument in "$@"; do
      [[ $argument == --libraries ]] && extra=test-libraries
    done
    install "$extra"
    cd "$project"
    # One process for each core. The tests of a file stay in one process; so do those of an engine.
    exec "$venv/bin/python" -m pytest --numprocesses auto --dist loadgroup "$@"
    ;;
  lint)
    install lint
    cd "$project"
    status=0
    "$venv/bin/ruff" check . || status=$?
    "$venv/bin/ruff" format --check . || status=$?
    "$venv/bin/mypy" || status=$?
    "$venv/bin/pre-commit" validate-config || status=$?
    exit "$status"
    ;;
  cluster)
    shift
    install ""
    PYTHONPATH=$project exec "$venv/bin/python" -m deploy.local "$@"
    ;;
  "")
    install ""
    example=$project/examples
    exec "$venv/bin/beam-bleu" \
      --candidates "$example/systems/atlas.txt" \
      --candidates "$example/systems/birch.txt" \
      --candidates "$example/systems/cobalt.txt" \
      --references "$example/references/a.txt" \
      --references "$example/references/b.txt"
    ;;
  *)
    install ""
    exec "$venv/bin/beam-bleu" "$@"
    ;;
esac
