#!/usr/bin/env bash
# ./run.sh [ARGS...]  runs beam-bleu; without arguments, it scores the bundled example
# ./run.sh install [EXTRA...]   adds extras of pyproject.toml: report, gcp (Dataflow), ja, spm, ...
# ./run.sh test [--slow | --libraries | --browser | --engines | --nightly] [ARGS...]
#                     runs the fast tests or another set, on all cores; pytest gets the arguments
# ./run.sh lint       checks style, format, types and the directions of imports
# ./run.sh docs       makes the site of the documentation, in the folder site
# ./run.sh cluster    starts and stops engines and object stores on this machine, to try things out
# ./run.sh help       shows this text; ./run.sh --help shows that of beam-bleu
# The first call makes .venv with uv, and puts uv there if the machine has none. Later calls need no
# network, until pyproject.toml or deploy/constraints.txt changes. PYTHON names the Python for .venv;
# PYTHON=... ./run.sh install changes it.
set -euo pipefail
project=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
venv=$project/.venv
stamp=$venv/installed # the extras, what .venv was made for, checksums; gone while uv works
export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS-true} # as pip does: a proxy may have a certificate of its own
uv=$(type -P uv || echo "$venv/bin/uv")

fail() { printf 'run.sh: %s\n  %s\n' "$@" >&2 && exit 1; }
version() { "$1" -I -S -c 'import sys; print("Python %d.%d" % sys.version_info[:2])' 2>/dev/null; }
made_for() { echo "$(version "$venv/bin/python"), $project"; }
sums() { cksum "$project/pyproject.toml" "$project/deploy/constraints.txt"; }
extras() { sed -n '/^\[project.optional-/,/^\[[^]]*]$/s/^\([a-z-]*\) = \[.*/\1/p' "$project/pyproject.toml"; }
other_python() { [[ ${PYTHON-} && "$(version "$PYTHON")" != "$(version "$venv/bin/python")" ]]; }

# Whether the project is installed with these extras.
installed() {
  [[ -f $stamp && -x $venv/bin/beam-bleu && "$(sed 1d "$stamp")" == "$(made_for && sums)" ]] || return 1
  for extra in "$@"; do [[ " $(sed 1q "$stamp") " == *" $extra "* ]] || return 1; done
  ! other_python
}

# Installs the project with these extras and those that were there. The subshell holds a lock.
install() (
  ! installed "$@" || exit 0
  cd "$project" && exec 9>>.venv.lock
  ! command -v flock >/dev/null || flock 9
  ! installed "$@" || exit 0
  all=$({ awk 'FNR == 1' "$stamp"* 2>/dev/null; echo staging "$@"; } | xargs -n 1 | sort -u | xargs)
  echo "run.sh: installing into $venv, with these extras: $all" >&2
  if other_python || [[ ! -f $stamp || "$(sed -n 2p "$stamp")" != "$(made_for)" ]]; then
    if [[ $uv != "$venv/bin/uv" ]]; then
      "$uv" venv --quiet --seed --clear ${PYTHON:+--python "$PYTHON"} "$venv"
    else
      "${PYTHON:-python3}" -m venv --clear "$venv"
      "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement <(sed -n '/^uv==/,/[^\\]$/p' deploy/constraints.txt)
    fi
  fi
  [[ ! -f $stamp ]] || mv "$stamp" "$stamp.before"
  if ! "$uv" pip install --quiet --python "$venv/bin/python" --constraints deploy/constraints.txt \
    --build-constraints deploy/constraints.txt --editable ".[${all// /,}]"; then
    [[ ! -f $stamp.before ]] || mv "$stamp.before" "$stamp" # without a package, uv changes nothing
    fail "installing failed" "uv says why above"
  fi
  { echo "$all" && made_for && sums; } >"$stamp"
)

command=${1-}
case $command in install | test | lint | docs | cluster) shift ;; esac
[[ $command == install || ! -f $stamp ]] || ! other_python ||
  fail "PYTHON is $PYTHON, and .venv has $(version "$venv/bin/python")" "unset it, or call ./run.sh install"
case $command in
  install)
    for extra in "$@"; do
      extras | grep -qxF -e "$extra" || fail "there is no extra $extra" "choose from: $(extras | xargs)"
    done
    install "$@" ;;
  test)
    install test
    for set in "$@"; do ! extras | grep -qxF -e "test${set#-}" || install "test${set#-}"; done
    cd "$project" && unset PYTHONDONTWRITEBYTECODE # with it, each of hundreds of processes would compile Beam
    exec .venv/bin/python -m pytest --numprocesses auto --dist loadgroup "$@" ;;
  lint)
    install lint
    cd "$project" && PATH=$venv/bin:$PATH
    ruff check . && ruff format --check . && mypy && lint-imports --no-logo && pre-commit validate-config ;;
  docs)
    install docs
    cd "$project" && NO_MKDOCS_2_WARNING=1 exec .venv/bin/mkdocs build -f docs/website/mkdocs.yml ;;
  cluster)
    install
    PYTHONPATH=$project exec "$venv/bin/python" -m deploy.local "$@" ;;
  help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "$project/run.sh" ;;
  *)
    install
    [[ $command ]] || set -- "$project"/examples/references/?.txt -i "$project"/examples/systems/*.txt
    exec "$venv/bin/beam-bleu" "$@" ;;
esac
