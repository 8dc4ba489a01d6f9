#!/usr/bin/env bash
# ./run.sh            scores the bundled example
# ./run.sh ARGS...    runs beam-bleu with these arguments
# ./run.sh install [EXTRA...]
#                     installs beam-bleu, and extras of pyproject.toml: gcp (Dataflow), report
#                     (--report), ja, ko, spm (tokenizers), yaml (Beam YAML), ...
# ./run.sh test       runs the fast tests, on all cores
# ./run.sh test --slow | --libraries | --browser | --engines | --nightly | --fast
#                     runs these sets of tests; give several options for several sets.
#                     Other arguments go to pytest: ./run.sh test tests/pipeline -k usage
# ./run.sh lint       checks style, format and types
# ./run.sh docs       makes the site of the documentation, in the folder site
# ./run.sh cluster start|status|flags|stop flink|prism|spark|s3|gcs|azure
#                     a real engine or an object store on this machine, for trying and testing
#                     the command, not for production (docs/operating.md)
# ./run.sh cluster start flink --hosts 3
#                     three hosts that share nothing, and an object store: `cluster run`, `put`
#                     and `get` use them
# ./run.sh help       shows this text; ./run.sh --help shows the help of beam-bleu
#
# The first call makes .venv here and installs the project into it. Later calls use the Python
# in .venv. They need no other Python and no network, unless pyproject.toml has changed or an
# installation was interrupted: then a call installs again, with all extras that were there.
# PYTHON names the Python that makes .venv (default: python3). To change it later, run
# PYTHON=... ./run.sh install.
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
# What is installed: a line of extras, the version of Python, the project's folder, and then
# pyproject.toml. The last part is missing while an installation runs, or if it was interrupted.
stamp=$venv/installed

fail() {
  printf 'run.sh: %s\n  %s\n' "$1" "$2" >&2
  exit 1
}

# The version of a Python. Packages that are installed for one version do not work with another.
version() {
  "$1" -I -S -c 'import sys; print("Python %d.%d" % sys.version_info[:2])' 2>/dev/null
}

# Whether PYTHON is not set, or has the version of .venv.
same_python() {
  [[ -z ${PYTHON-} || "$(version "$PYTHON")" == "$(version "$venv/bin/python")" ]]
}

# The extras of pyproject.toml.
known_extras() {
  sed -n '/^\[project\.optional-dependencies]/,/^\[[^]]*]$/s/^\([a-z-]*\) = \[.*/\1/p' "$project/pyproject.toml"
}

installed_extras() {
  [[ ! -f $stamp ]] || sed -n 1p "$stamp"
}

# What .venv was made for, and what the project needs.
place() {
  version "$venv/bin/python" && printf '%s\n' "$project"
}
needs() {
  place && cat "$project/pyproject.toml"
}

# Whether the project is installed with these extras.
is_installed() {
  local extra
  [[ -f $stamp && -x $venv/bin/beam-bleu && "$(sed 1d "$stamp")" == "$(needs)" ]] && same_python || return 1
  for extra in "$@"; do
    [[ " $(installed_extras) " == *" $extra "* ]] || return 1
  done
}

# Makes the virtual environment, unless it is there, whole, and still right.
make_environment() {
  if [[ ! -e $venv/unfinished ]] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 && same_python &&
    [[ ! -f $stamp || "$(sed -n 2,3p "$stamp")" == "$(place)" ]]; then
    return
  fi
  # If this is interrupted before `unfinished` is there, pip is not there, either.
  if ! {
    "$python" -m venv --clear --without-pip "$venv" >&2 &&
      touch "$venv/unfinished" &&
      "$venv/bin/python" -m ensurepip --default-pip >/dev/null &&
      rm "$venv/unfinished"
  }; then
    fail "$python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
  fi
}

# Writes the stamp: the extras, and the rest by a function.
write_stamp() {
  { printf '%s\n' "$1" && "$2"; } >"$stamp.new"
  mv "$stamp.new" "$stamp"
}

# Installs the project with these extras and those that were there. It runs in a subshell, which
# keeps the lock until it ends or is killed.
install_now() (
  [[ -w $project ]] || fail "beam-bleu is not installed in $project, and you cannot write there" \
    "call ./run.sh there once as its owner, or copy the project"
  command -v "$python" >/dev/null || fail "there is no $python" "install Python 3.10 or later, or set PYTHON"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$("$python" -V) is too old" "set PYTHON to a Python 3.10 or later"
  # With the lock, two calls at once do not install at the same time. Not every system has the
  # program flock, and not every filesystem has locks.
  exec 9>>"$project/.venv.lock"
  "$python" -c '
import contextlib, fcntl, sys
with contextlib.suppress(OSError):
    try:
        fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("run.sh: waiting for another call that installs", file=sys.stderr)
        fcntl.flock(9, fcntl.LOCK_EX)
'
  ! is_installed "$@" || exit 0

  extras=$(installed_extras)
  extras=$(for extra in $(known_extras); do [[ " $extras $* " != *" $extra "* ]] || printf '%s ' "$extra"; done)
  extras=${extras% }
  # The stamp of a whole installation, perhaps for another pyproject.toml.
  before=
  [[ ! -f $stamp || -z $(sed -n 4p "$stamp") ]] || before=$(cat "$stamp")
  echo "run.sh: installing into $venv${extras:+, with the extras $extras} (once)" >&2
  make_environment
  write_stamp "$extras" place
  # The extra staging is for --setup_file. Python compiles the files that it imports. If pip
  # compiled all files, that would be a third of its time.
  if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile \
    --editable "${project}[${extras// /,}${extras:+,}staging]" >&2; then
    # pip changes nothing if it cannot get a package. What was there still works.
    [[ ! $before ]] || ! "$venv/bin/python" -m pip check >/dev/null || printf '%s\n' "$before" >"$stamp"
    fail "installing failed" "pip says why above"
  fi
  write_stamp "$extras" needs
)

# Makes sure that the project is installed with these extras.
install() {
  is_installed "$@" || install_now "$@"
}

# A run never makes .venv again for another PYTHON, because another run may be using .venv.
refuse_other_python() {
  local have wanted
  have=$(version "$venv/bin/python") && [[ -n ${PYTHON-} ]] || return 0
  wanted=$(version "$PYTHON") ||
    fail "PYTHON is $PYTHON, which is no Python 3 that runs" "unset PYTHON: .venv has $have"
  [[ $wanted == "$have" ]] || fail "PYTHON is $PYTHON ($wanted), and .venv has $have" \
    "unset PYTHON, or make .venv again with it: PYTHON=$PYTHON ./run.sh install"
}

[[ ${1-} == install ]] || refuse_other_python
case ${1-} in
  install)
    shift
    for extra in "$@"; do
      known_extras | grep -qxF -e "$extra" ||
        fail "there is no extra $extra" "choose from: $(known_extras | paste -s -d ' ' -)"
    done
    install "$@"
    echo "run.sh: beam-bleu is installed in $venv, with these extras: $(installed_extras)" >&2
    ;;
  help)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$script"
    ;;
  test)
    shift
    extras=("test")
    for argument in "$@"; do
      [[ $argument != --libraries ]] || extras+=(test-libraries)
      [[ $argument != --browser ]] || extras+=(test-browser)
      [[ $argument != --engines && $argument != --nightly ]] || extras+=(report)
    done
    install "${extras[@]}"
    cd "$project"
    # Many containers set this. Each of hundreds of processes would compile Apache Beam again.
    unset PYTHONDONTWRITEBYTECODE
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
  docs)
    install docs
    cd "$project"
    # The warning is about MkDocs 2, which pyproject.toml does not allow.
    NO_MKDOCS_2_WARNING=1 exec "$venv/bin/python" -m mkdocs build --config-file docs/website/mkdocs.yml
    ;;
  cluster)
    shift
    install
    PYTHONPATH=$project exec "$venv/bin/python" -m deploy.local "$@"
    ;;
  "")
    install
    example=$project/examples
    exec "$venv/bin/beam-bleu" \
      --candidates "$example/systems/atlas.txt" \
      --candidates "$example/systems/birch.txt" \
      --candidates "$example/systems/cobalt.txt" \
      --references "$example/references/a.txt" \
      --references "$example/references/b.txt"
    ;;
  *)
    install
    exec "$venv/bin/beam-bleu" "$@"
    ;;
esac
