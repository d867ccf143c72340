#!/usr/bin/env bash
# Runs both stacks' tests with a newer libcurl than the system's, which is what users of later systems have: the one that
# Debian 12's backports keep. Nothing is installed; it is unpacked below .build, once, and put before the system's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. /etc/os-release
here=$(pkg-config --modversion libcurl)
case $here in
7.*) ;;
*)
    echo "This system's own libcurl is $here, so the suite has run with a newer one already."
    exit 0
    ;;
esac
if [ "${VERSION_CODENAME:-}" != bookworm ]; then
    echo "libcurl $here is old, and where this system ($PRETTY_NAME) keeps a newer one is not known here." >&2
    echo "'make suite LIBCURL=folder' takes one of your own." >&2
    exit 1
fi

folder=$PWD/.build/newer
apt() {
    apt-get -q -o Dir::Etc::SourceList="$folder/sources" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$folder/lists" \
        -o Dir::Cache="$folder" -o APT::Sandbox::User= -o Acquire::Retries=3 "$@"
}
if [ ! -e "$folder/root" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"/{lists/partial,archives/partial}
    # The mirror that the system itself uses.
    mirror=$(apt-cache policy libcurl4-openssl-dev | awk '$2 ~ /^http/ { print $2; exit }')
    echo "deb ${mirror:?Where does apt take packages from?} bookworm-backports main" >"$folder/sources"
    apt update >"$folder/log" 2>&1 && (cd "$folder" && apt download libcurl4/bookworm-backports >>log 2>&1) || {
        cat "$folder/log" >&2
        echo "Debian's backports cannot be reached; apt-get's own words are above." >&2
        exit 1
    }
    dpkg-deb -x "$folder"/libcurl4_*.deb "$folder/unpacked"
    mv "$folder/unpacked" "$folder/root"
fi
LIBCURL=$(dirname "$(find "$folder/root" -name libcurl.so.4)")
export LIBCURL
exec .ci/suite.py
