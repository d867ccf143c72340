#!/usr/bin/env bash
# libcurl.sh <folder>: builds the libcurl whose sources are in a folder, below .build, as distributions do, and prints where it is:
#     make suite LIBCURL=$(.ci/libcurl.sh ~/curl-8.5.0)
set -euo pipefail
sources=$(realpath "${1:?the folder of a release of curl, such as curl-8.5.0}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
needed="cmake ninja-build libssl-dev libnghttp2-dev libbrotli-dev libzstd-dev zlib1g-dev"
missing=$(for package in $needed; do dpkg -s "$package" >/dev/null 2>&1 || echo "$package"; done)
if [ -n "$missing" ]; then
    echo "Building libcurl needs: apt-get install" $missing >&2
    exit 1
fi
version=$(sed -n 's/^#define LIBCURL_VERSION "\([0-9.]*\).*/\1/p' "$sources/include/curl/curlver.h")
folder=$PWD/.build/libcurl/${version:?"$sources has no include/curl/curlver.h of a release"}
options=(-DCMAKE_BUILD_TYPE=Release -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DBUILD_LIBCURL_DOCS=OFF -DBUILD_MISC_DOCS=OFF
    -DENABLE_CURL_MANUAL=OFF -DUSE_NGHTTP2=ON -DCURL_BROTLI=ON -DCURL_ZSTD=ON -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF
    -DCURL_DISABLE_LDAP=ON)
mkdir -p "$folder"
{ cmake -G Ninja -S "$sources" -B "$folder" "${options[@]}" && ninja -C "$folder"; } >"$folder/log" 2>&1 || {
    tail -20 "$folder/log" >&2
    echo "libcurl $version was not built; the whole log is $folder/log." >&2
    exit 1
}
echo "$folder/lib"
