# Sourced by `scripts/quickstart`, `scripts/test`, `scripts/bench/gateway` and `.ci/run`: what a bare machine lacks.
# Each `need_…` returns when the tool is there, installs it where that is safe, or ends the script with the next step.
# Written for bash 3.2, which macOS still ships.

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "${0##*/}: $1"
  [ $# -lt 2 ] || say "hint: $2"
  exit 1
}

# Only as root on Debian and its children: everywhere else installing packages is the user's business.
install_with_apt() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  say "installing $* (apt-get)"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get install -y -qq "$@" || { apt-get update -qq && apt-get install -y -qq "$@"; }; } >/dev/null 2>&1 </dev/null
}

# A C compiler: SQLite and the TLS library are compiled from C.
need_c_compiler() {
  if command -v cc >/dev/null && cc --version >/dev/null 2>&1; then return; fi
  if [ "$(uname)" = Darwin ]; then fail "no C compiler" "run \`xcode-select --install\`, then this again"; fi
  install_with_apt gcc libc6-dev make || fail "no C compiler" "on Debian or Ubuntu: \`sudo apt-get install gcc libc6-dev make\`"
}

need_python() {
  if python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then return; fi
  if [ "$(uname)" = Darwin ]; then fail "python 3.10 or newer is needed" "\`brew install python\`"; fi
  if install_with_apt python3 python3-venv && python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then return; fi
  fail "python 3.10 or newer is needed as \`python3\`" "on Debian or Ubuntu: \`sudo apt-get install python3 python3-venv\`"
}

# The toolchain that rust-toolchain.toml names. A rustup is asked for it; an older Rust without rustup is not enough.
need_rust() {
  local wanted
  wanted=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
  export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
  if rust_is_at_least "$wanted"; then return; fi
  if ! command -v rustup >/dev/null; then install_rustup; fi
  rust_is_at_least "$wanted" || rustup toolchain install "$wanted" --profile minimal --component clippy,rustfmt >&2 || true
  rust_is_at_least "$wanted" || fail "rust $wanted is not there and could not be installed" \
    "\`rustup toolchain install $wanted\` needs static.rust-lang.org: check the network, or set RUSTUP_DIST_SERVER to a mirror"
}

rust_is_at_least() {
  local found
  found=$(rustc --version 2>/dev/null | cut -d' ' -f2) || return 1
  [ -n "$found" ] && cargo --version >/dev/null 2>&1 || return 1
  [ "$(printf '%s\n%s\n' "$1" "${found%%-*}" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)" = "$1" ]
}

install_rustup() {
  command -v curl >/dev/null || install_with_apt curl ca-certificates || fail "neither rust nor curl is there" "install Rust from https://rustup.rs"
  say "installing rustup into ${CARGO_HOME:-$HOME/.cargo} (https://rustup.rs)"
  # Downloaded whole before it runs: a connection cut short must not run half a script.
  local script
  script=$(mktemp)
  if ! curl --proto '=https' --tlsv1.2 -sSf --retry 3 -o "$script" https://sh.rustup.rs; then
    rm -f "$script"
    fail "rust is missing and https://sh.rustup.rs cannot be reached" "check the network, or install Rust $(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml) by hand"
  fi
  sh "$script" -y --no-modify-path --profile minimal --default-toolchain none >&2 || fail "rustup's installer failed (output above)"
  rm -f "$script"
}

need_nextest() {
  export PATH="$PWD/.local/tools/bin:$PATH"
  if cargo nextest --version >/dev/null 2>&1; then return; fi
  say "installing cargo-nextest into .local/tools (some minutes, once)"
  cargo install cargo-nextest --version "^0.9.143" --locked --root .local/tools >&2 \
    || fail "cargo-nextest is missing and could not be installed" "https://nexte.st has prebuilt binaries"
}
