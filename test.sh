#!/usr/bin/env bash
# Runs the tests of the workspace and says at the end what did not run and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'END'
Usage: ./test.sh [--all] [--install]

Runs every test that needs no heavy download: unit, integration and doc tests, and each benchmark
once. The last line is `N passed, N failed, N skipped`, after the list of what was skipped.

  --all      also run what needs a heavy download
  --install  install what is missing (also when CI=true); without it, only say how to get it
  --help     this text

LBBSP_DATA  folder of data that the repository does not carry; tests that need it skip without it

Exit status: 0 all passed; 2 wrong usage; 3 something is missing to build with; otherwise a failure.
END
}

all=false
install=false
if [[ ${CI:-} == true ]]; then install=true; fi
for argument in "$@"; do
    case $argument in
        --all) all=true ;;
        --install) install=true ;;
        --help | -h) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done

missing() {
    echo "test.sh: $1" >&2
    if ! $install; then echo "test.sh: or run ./test.sh --install" >&2; fi
    exit 3
}

as_root() {
    if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

install_linker() {
    command -v apt-get >/dev/null || return
    as_root apt-get update && as_root apt-get install -y --no-install-recommends gcc libc6-dev
}

install_toolchain() {
    if ! command -v rustup >/dev/null; then
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
            sh -s -- -y --profile minimal --default-toolchain none || return
        PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    fi
    # Which one stands in rust-toolchain.toml.
    rustup toolchain install
}

# Empty if there is none that works; what rustup has to say about that stays visible.
cargo_version() {
    command -v cargo >/dev/null || return 0
    { cargo --version || true; } | sed -n 's/^cargo \([0-9.]*\).*/\1/p'
}

# True if version $1 is $2 or newer; an empty version is older than any.
at_least() {
    [[ -n $1 ]] && printf '%s\n' "$2" "$1" | sort -V -C
}

check_tools() {
    if ! command -v cc >/dev/null && $install; then install_linker || true; fi
    command -v cc >/dev/null ||
        missing "no C linker (cc): install a C compiler, on Debian or Ubuntu: apt-get install gcc libc6-dev"

    local needed version
    needed=$(sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' Cargo.toml)
    version=$(cargo_version)
    if ! at_least "$version" "$needed" && $install; then
        install_toolchain || true
        version=$(cargo_version)
    fi
    if [[ -z $version ]]; then
        missing "no working cargo, $needed or newer is needed: get rustup from https://rustup.rs, then run rustup toolchain install here"
    fi
    at_least "$version" "$needed" ||
        missing "cargo is $version, $needed or newer is needed: run rustup toolchain install here"
}

# Standard output and standard error are logged apart: the test runner writes a line in pieces,
# and a test that says on standard error why it was skipped could land inside one.
logged() {
    { "$@" 2>&1 1>&3 3>&- | tee -a "$logs/stderr" >&2 3>&-; } 3>&1 | tee -a "$logs/stdout"
}

run_tests() {
    local status=0
    # Criterion runs every benchmark once when it is built as a test.
    logged cargo test --release --locked --config .cargo/checked.toml --no-fail-fast --all-targets ||
        status=$?
    logged cargo test --release --locked --config .cargo/checked.toml --no-fail-fast --doc ||
        status=$?
    return "$status"
}

plain() {
    sed $'s/\x1b\\[[0-9;]*m//g' "$logs/$1"
}

# The sum of one field of the runner's lines: test result: ok. 5 passed; 0 failed; 1 ignored; ..
total() {
    plain stdout | awk -v field="$1;" '
        /^test result: / { for (i = 2; i <= NF; i++) if ($i == field) sum += $(i - 1) }
        END { print sum + 0 }'
}

summary() {
    local passed failed ignored early skipped
    passed=$(total passed)
    failed=$(total failed)
    ignored=$(plain stdout | sed -n -E 's/^test (.*) \.\.\. ignored(, )?(.*)$/  \1: \3/p')
    # Such a test returns early, so the runner counts it as passed.
    early=$(plain stderr | sed -n 's/^skipped /  /p' | sort -u)
    skipped=$(count "$early")
    passed=$((passed - skipped))
    skipped=$((skipped + $(total ignored)))

    echo
    echo "benchmarks run once: $(plain stdout | grep -c '^Success$' || true)"
    if ((skipped > 0)); then
        echo "skipped:"
        printf '%s\n' "$ignored" "$early" | sed '/^$/d; s/: $/: no reason given/'
    fi
    if ((failed > 0)); then
        echo "failed:"
        plain stdout | sed -n 's/^test \(.*\) \.\.\. FAILED$/  \1/p'
    fi
    if ((status != 0)); then
        echo "cargo test ended with status $status; the whole output is in $logs"
        if ((failed == 0)); then
            echo "no test failed: something did not build or crashed, counted as one failure"
            failed=1
        fi
    elif ((passed + failed == 0)); then
        echo "no test ran, which is a failure"
        status=1
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
}

count() {
    printf '%s' "$1" | awk 'END { print NR }'
}

check_tools
if $all; then
    echo "--all: nothing needs a heavy download yet, so this is the same run as without it"
fi
logs=${CARGO_TARGET_DIR:-target}/test-logs
mkdir -p "$logs"
: >"$logs/stdout"
: >"$logs/stderr"
status=0
run_tests || status=$?
summary
exit "$status"
