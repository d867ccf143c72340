#!/usr/bin/env bash
# Checks the last commit as a release: the version is the same everywhere; every package of the repository builds, also those that CI
# does not build. Then, in a clean clone with the tag that the commit would get: a package that depends on it by version builds and
# fetches; the public API breaks only where Semantic Versioning allows it; and a program with Swift
# linked statically runs in a folder of its own (chroot) with what libcurl needs, and nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() {
    echo "release-check: $*" >&2
    exit 1
}
step() { echo "-- $*"; }

[ -z "$(git status --porcelain)" ] || fail "there are uncommitted changes; a release is a commit."
version=$(sed -nE 's/.*static let version = "([0-9]+\.[0-9]+\.[0-9]+)".*/\1/p' Sources/NetworkStack/Message/Network.swift)

step "The version is $version in the changelog and in the installation steps"
first=$(grep -m 1 '^## \[' CHANGELOG.md)
[[ $first =~ ^"## [$version] - "20[0-9]{2}-[0-9]{2}-[0-9]{2}$ ]] || fail "CHANGELOG.md begins with '$first' in place of '## [$version] - <date>'."
for page in README.md Sources/NetworkStack/NetworkStack.docc/GettingStarted.md; do
    grep -qF "from: \"$version\"" "$page" || fail "$page does not depend on the package by from: \"$version\"."
done

step "Every package of the repository builds, with its tests"
for manifest in $(git ls-files '*Package.swift'); do
    package=$(dirname "$manifest")
    echo "$package"
    swift build -q --build-tests --disable-build-manifest-caching --package-path "$package" || fail "$package does not build."
done

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
clone=$work/network-stack
git clone -q . "$clone"
commit=$(git rev-parse HEAD)
tagged=$(git -C "$clone" rev-parse -q --verify "refs/tags/$version^{commit}" || true)
[ "${tagged:-$commit}" = "$commit" ] || fail "$version is the tag of another commit, so Network.version must be the next one."
[ -n "$tagged" ] || git -C "$clone" tag "$version"

# One server with two ports: HTTP, and HTTPS with a certificate that only what is in the chroot trusts.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -keyout "$work/key.pem" -out "$work/certificate.pem" 2>"$work/openssl.log" || fail "openssl: $(cat "$work/openssl.log")"
cat >"$work/server.py" <<'PYTHON'
import http.server, pathlib, ssl, sys, threading

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_): pass

folder = pathlib.Path(sys.argv[1])
servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) for _ in range(2)]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True)
(folder / "new").write_text(" ".join(str(server.server_port) for server in servers) + "\n")
(folder / "new").rename(folder / "ports")
threading.Thread(target=servers[0].serve_forever, daemon=True).start()
servers[1].serve_forever()
PYTHON
python3 "$work/server.py" "$work" 2>"$work/server.log" &
server=$!
for _ in $(seq 100); do [ -e "$work/ports" ] && break || sleep 0.1; done
[ -e "$work/ports" ] || fail "the server does not start: $(cat "$work/server.log")"
read -r plain secure <"$work/ports"
pages=("http://localhost:$plain/" "https://localhost:$secure/")

step "A package that depends on $version builds and fetches"
consumer=$work/consumer
mkdir "$consumer"
cp -r "$clone/Tests/Consumer/Sources" "$consumer"
sed "s|name: \"network-stack\", path: \"../..\"|url: \"file://$clone\", from: \"$version\"|" \
    "$clone/Tests/Consumer/Package.swift" >"$consumer/Package.swift"
grep -q "from: \"$version\"" "$consumer/Package.swift" || fail "Tests/Consumer/Package.swift is not as this script expects it."
build() { swift build -q -c release --package-path "$consumer" "$@"; }
for product in OneFetch URLSessionOnly; do build --product "$product" || fail "$product does not build from outside."; done
programs=$(build --show-bin-path)
# check <what> <the number of pages that are fetched> <output>
check() { [ "$(grep -c '^200.*, 5 bytes$' <<<"$3")" = "$2" ] || fail "$1 printed: $3"; }
check OneFetch 1 "$("$programs/OneFetch" "${pages[0]}" 2>&1)"
"$programs/URLSessionOnly" >/dev/null || fail "URLSessionOnly fails."

step "The program runs in a chroot, with Swift linked statically"
build --static-swift-stdlib --scratch-path "$work/static" --product OneFetch || fail "OneFetch does not build with --static-swift-stdlib."
program=$(build --static-swift-stdlib --scratch-path "$work/static" --show-bin-path)/OneFetch
libraries=$(ldd "$program" | grep -oE '/[^ ]+' | sort -u)
! grep -E 'libswift|libFoundation|libdispatch' <<<"$libraries" || fail "the program loads the libraries of Swift above."
root=$work/root
for file in $libraries; do install -D "$file" "$root$file"; done
install -D "$program" "$root/OneFetch"
install -D -m 644 "$work/certificate.pem" "$root/etc/ssl/certs/ca-certificates.crt"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
mkdir "$root/proc"  # Swift reads the arguments of a program there.
namespaces=(--mount --pid --fork "--mount-proc=$root/proc")
[ "$(id -u)" = 0 ] || namespaces+=(--map-root-user)
inside() { unshare "${namespaces[@]}" chroot "$root" "$@"; }
check "The program in the chroot" 2 "$(inside /OneFetch "${pages[@]}" 2>&1)"
rm "$root/etc/ssl/certs/ca-certificates.crt"
if text=$(inside /OneFetch "${pages[1]}" 2>&1); then fail "without authorities, the program in the chroot printed: $text"; fi
echo "$(wc -l <<<"$libraries") libraries, $(du -sm "$root" | cut -f 1) MB in all"

last=$(git -C "$clone" describe --tags --abbrev=0 --match '[0-9]*.[0-9]*.[0-9]*' "$commit^" 2>/dev/null || true)
if [ -z "$last" ]; then
    echo "There is no tag before $version, so there is no public API to compare with."
else
    step "The public API since $last"
    if swift package --package-path "$clone" diagnose-api-breaking-changes "$last" >"$work/api.log" 2>&1; then
        echo "Nothing breaks."
    else
        grep -F "API breakage" "$work/api.log" || fail "the API cannot be compared: $(tail -n 20 "$work/api.log")"
        IFS=. read -r major minor _ <<<"$version"
        [[ $last != "$major".* || $major = 0 && $last != "$major.$minor".* ]] ||
            fail "$version may not break the API of $last: see the lines above."
    fi
fi
echo "$version can be released: git tag $version && git push origin $version"
