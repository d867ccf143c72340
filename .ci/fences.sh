#!/usr/bin/env bash
# The rules of the house that the compiler does not know. Prints every line that breaks one, and which.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

report=$(mktemp)
trap 'rm -f "$report"' EXIT

# fence <sentence>: reads the offending lines; none is well.
fence() {
    local lines
    lines=$(cat)
    [ -z "$lines" ] || printf '%s\n  %s\n\n' "$1" "${lines//$'\n'/$'\n'  }" >>"$report"
}

# files <folder>...: every Swift file in them, as NUL-separated names; nothing built.
files() {
    local folder there=()
    for folder in "$@"; do
        if [ -e "$folder" ]; then there+=("$folder"); else echo "This script names $folder, which is not there." >>"$report"; fi
    done
    [ ${#there[@]} -eq 0 ] || find "${there[@]}" -name '.build*' -prune -o -name '*.swift' -type f -print0 | sort -z
}

# code <pattern> <folder>...: file:line:text of the matches in code, comments left out.
code() {
    local pattern=$1
    shift
    files "$@" | PATTERN=$pattern xargs -0 -r perl -ne '
        my $line = $_;
        s{(^|\s)//.*}{$1};
        print "$ARGV:$.:$line" if /$ENV{PATTERN}/;
        close ARGV if eof'
}

# imports <modules, as an alternation> <folder>...: who imports one of them, whatever the access level or kind. Foundation
# may stand where FoundationEssentials does not exist: in the #else of a #if canImport(FoundationEssentials).
imports() {
    local modules=$1
    shift
    files "$@" | MODULES=$modules xargs -0 -r perl -ne '
        $without = 0, $inside = 1 if /^\s*#if\s+canImport\(FoundationEssentials\)\s*$/;
        $without = 1 if $inside and /^\s*#else\b/;
        $without = $inside = 0 if /^\s*#endif/;
        if (/^\s*(?:@\S+\s+)*(?:\w+\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?($ENV{MODULES})\b/) {
            print "$ARGV:$.:$_" unless $without and $1 eq "Foundation";
        }
        close ARGV, $without = $inside = 0 if eof'
}

# Variables that one thread owns, and whose accesses are not checked for exclusivity: at most 20, and none in TLS/.
unchecked_variables='CurlStack/(Transfer/(HeadReader\.swift:judge|ResponseReader\.swift:(informational|final|kept)|Transfer\.swift:(place|attempt|sends|request)|LoopContext\.swift:touched)|Loop/Pool\.swift:spare|Connection/(ConnectionTable\.swift:byEndpoints|Poller\.swift:sockets)|Queue/ConnectionQueue\.swift:places)'
files Sources | xargs -0 -r perl -ne '
    if (/\@exclusivity\(unchecked\)/) { ($name) = ($_ . <>) =~ /\bvar (\w+)/; print "$ARGV:$name\n" }
    close ARGV if eof' |
    { grep -vE "^Sources/($unchecked_variables)\$" || true; } |
    fence "Exclusivity is checked, except for the variables that this script lists:"

code '\bunsafe|\bUnmanaged\b|\bOpaquePointer\b' Sources |
    { grep -vE '^(Sources/CurlStack/(Support|Decoding|Library|TLS|Connection|Handle)/|Sources/CurlStack/Loop/LoopThread\.swift:|([^:]*/)?(Lock|Shared|OneShot|MonotonicTime|File|FileBodySource|SourceStream)\.swift:)' || true; } |
    fence "Unsafe code lives in CurlStack's folders up to Handle/ that call C, and in LoopThread.swift, Lock.swift, Shared.swift, OneShot.swift, MonotonicTime.swift, File.swift, FileBodySource.swift and SourceStream.swift only:"

unchecked=$(code '@unchecked\s+Sendable' Sources)
[ "$(grep -c . <<<"$unchecked" || true)" -le 4 ] || fence "At most four types may be '@unchecked Sendable':" <<<"$unchecked"

# What libcurl calls must neither call it back, nor wait, nor trap. An opening parenthesis tells its functions from its types.
code '\b(?!(?:curl_slist_append|shim_easy_get_pointer)\()(?:curl|shim)_\w+\(|\bawait\b|\bwithLock\b|\.wait\(|sleep\(|\b(?:fatalError|precondition|preconditionFailure|assert|assertionFailure)\(|[\w)\]]!(?![=\w])' \
    Sources/CurlStack/Handle/Callbacks.swift |
    fence "A callback of libcurl calls nothing of libcurl's (but curl_slist_append, and the lookup of its transfer), does not wait and does not trap:"
code '\bLock\b|\bwithLock\b|\bawait\b|\.resume\(' Sources/NetworkStack/Engine/FetchState*.swift |
    fence "The state of a fetch has no lock and resumes nothing: it returns what is to be done:"
wakes=$(code '\.wake\(' Sources/CurlStack)
{ [ "$(grep -c . <<<"$wakes" || true)" -eq 1 ] && grep -q '^Sources/CurlStack/Commands/Mailbox\.swift:' <<<"$wakes"; } ||
    fence "Posting is waking: one line of Mailbox.swift wakes the loop, and no other:" <<<"${wakes:-none}"

makers=$(code '\bcurl_multi_init\b' Sources)
{ [ "$(grep -c . <<<"$makers" || true)" -eq 1 ] && grep -q '^Sources/CurlStack/Handle/MultiHandle\.swift:' <<<"$makers"; } ||
    fence "One line of MultiHandle.swift calls curl_multi_init, so that child processes inherit no descriptor:" <<<"${makers:-none}"

# Swift 6.3.1 leaks what such an assignment replaces. A Bool has nothing to leak, and 'activeHop' is an object.
code '^\s*(self\.)?(?!activeHop\b)\w+[?!](\.\w+)+ [+-]?= (?!true\b|false\b)' Sources/NetworkStack/Engine/{FetchState*,Delivery}.swift Sources/CurlStack/Loop/Loop*.swift |
    fence "In a type that cannot be copied, what is behind an optional is assigned as a whole:"

code '\bnonisolated\(unsafe\)' Sources | fence "'nonisolated(unsafe)' is not used:"
code '\btry!' Sources | fence "'try!' is not used:"
code '@preconcurrency\s+import' Sources | fence "'@preconcurrency import' is not used:"
files Sources Tests Examples Benchmarks Integrations | { xargs -0 -r grep -nHwE 'TODO|FIXME|XXX' || true; } |
    fence "What is left to do is an issue, not a comment:"

files Sources Tests Integrations | while IFS= read -r -d '' file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 300 ] || head -n 1 "$file" | grep -q 'Longer than 300 lines:' || echo "$file: $lines lines"
done | fence "A file of more than 300 lines says why in its first line ('// Longer than 300 lines: ...'):"

upward=$(.ci/layers.py 2>&1) || fence "A folder uses only the folders before it in .ci/layers.txt:" <<<"$upward"

imports 'Foundation|FoundationNetworking|FoundationXML|CCurl|COpenSSL|CurlStack|URLSessionStack' Sources/NetworkStack |
    fence "NetworkStack knows no backend, no C library and no Foundation beyond FoundationEssentials:"
imports 'Foundation|FoundationNetworking|FoundationXML|URLSessionStack' Sources/CurlStack |
    fence "CurlStack imports neither Foundation nor the other backend:"
imports 'CCurl|COpenSSL|CurlStack' Sources/URLSessionStack |
    fence "URLSessionStack imports neither a C library nor the other backend:"
imports 'Testing|XCTest' Tests/NetworkStackTesting Tests/NetworkStackConformance |
    fence "The doubles and the suite are libraries and import no test framework:"
{ grep -nHF '.package(' Package.swift || true; } | fence "The package depends on no other package:"

# Every mutation fits the code it breaks.
stale=$(.ci/promises.py --check 2>&1) || fence "The promises and their mutations:" <<<"$stale"

if [ -s "$report" ]; then
    cat "$report" >&2
    echo "A fence of the house is broken: move the lines above to where they may be, or do without." >&2
    exit 1
fi
