#!/usr/bin/env bash
# install.sh build|test|bench: installs with apt what is missing, and only that. With nothing missing it needs no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PATH:/usr/sbin:/sbin # where Debian keeps nginx
command -v swift >/dev/null || exec .ci/toolchain.sh

# Each probe asks whether the thing works, not whether a package of that name is there: it may come from elsewhere.
library() { pkg-config --exists "$1" 2>/dev/null; }
command_() { command -v "$1" >/dev/null; }
module() { /usr/bin/python3 -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)" 2>/dev/null; }
list() { [ -e "/usr/share/$1/public_suffix_list.dat" ]; }
crate() { compgen -G "/usr/share/cargo/registry/$1-*" >/dev/null; }
toolchain() { ! ldd "$(dirname "$(readlink -f "$(command -v swift)")")/swift-build" 2>/dev/null | grep -q "^[[:space:]]*$1.*not found"; }
linker() { [ "$(uname)" != Linux ] || { [ -e /usr/include/stdlib.h ] && compgen -G '/usr/lib/gcc/*/*/crtbeginS.o' >/dev/null; }; }

case "${1:-}" in
build) rows='
g++                   linker
libncurses6           toolchain libncurses.so
libsqlite3-0          toolchain libsqlite3.so
libxml2               toolchain libxml2.so
pkg-config            command_ pkg-config
libcurl4-openssl-dev  library libcurl
libssl-dev            library openssl
nginx-light           command_ nginx
curl                  command_ curl
openssl               command_ openssl' ;;
test) rows='
nghttp2-server        command_ nghttpd
squid                 command_ squid
tinyproxy-bin         command_ tinyproxy
microsocks            command_ microsocks
dante-server          command_ danted
python3-httpbin       module httpbin
gunicorn              command_ gunicorn
valgrind              command_ valgrind
strace                command_ strace
publicsuffix          list publicsuffix
python3-venv          module ensurepip' ;;
bench) rows='
wrk                   command_ wrk
golang-go             command_ go
cargo                 command_ cargo
librust-hyper-dev     crate hyper
librust-reqwest-dev   crate reqwest
librust-tokio-dev     crate tokio
python3-pycurl        module pycurl
python3-httpx         module httpx
python3-h2            module h2
python3-aiohttp       module aiohttp' ;;
*) echo "usage: install.sh build|test|bench" >&2; exit 64 ;;
esac

# Debian 13 has no package of dante; DanteServer.swift knows that, too.
if [ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" = trixie ]; then
    rows=$(grep -v '^dante-server ' <<<"$rows")
fi

missing() {
    local package probe
    while read -r package probe; do
        [ -z "$package" ] || $probe || echo "$package"
    done <<<"$rows"
}

wanted=$(missing | xargs)
if [ -n "$wanted" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "There is no apt-get here to install what is missing; install it yourself under the names this system uses: $wanted" >&2
        exit 1
    fi
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Not root and no sudo: ask an administrator to run 'apt-get install $wanted'." >&2
            exit 1
        fi
        as_root=(sudo)
        [ -t 0 ] || as_root=(sudo -n) # nobody is there to type a password
    fi
    # RUNLEVEL=1 keeps a service from being started where the system heeds it; nothing here needs the service.
    apt() {
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"
    }
    echo "Installing: $wanted"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    { apt update && apt install --no-install-recommends $wanted; } </dev/null >"$log" 2>&1 || failed=true
    # A service that could not start leaves its package unconfigured but its programs usable: only what is missing counts.
    still=$(missing | xargs)
    if [ -n "$still" ]; then
        cat "$log" >&2
        echo "apt-get did not install: $still. Its own words are above; the usual reasons are no network, or no right to use sudo without a password." >&2
        exit 1
    fi
    [ -z "${failed:-}" ] || echo "apt-get reported a failure, but everything needed is there: $(grep -E '^(E:|dpkg: error)' "$log" | head -n 1)" >&2
fi
.ci/toolchain.sh

# Not in Debian. The versions are fixed, so that a new one cannot fail a test.
python=.build/python/bin/python
if [ "$1" = test ] && ! $python -c 'import haralyzer, jsonschema' 2>/dev/null; then
    packages='haralyzer==2.4.0 jsonschema==4.26.0'
    echo "Installing from PyPI: $packages"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    { /usr/bin/python3 -m venv --clear .build/python && $python -m pip install $packages; } </dev/null >"$log" 2>&1 || {
        cat "$log" >&2
        echo "pip did not install $packages into .build/python. Its own words are above; the usual reason is no network." >&2
        exit 1
    }
fi
