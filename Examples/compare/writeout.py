#!/usr/bin/env python3
"""Proves what -w fills in, beside the curl command: writeout.py <netfetch>"""
import json
import os
import subprocess
import sys
import tempfile

from server import Server

# What curl 7.88 has and netfetch refuses, or has under another name.
WITHOUT = {"certs", "num_certs", "ftp_entry_path", "http_connect", "proxy_ssl_verify_result", "curl_version"}
# What is the same for both programs, whatever the time.
FACTS = ["content_type", "exitcode", "filename_effective", "http_code", "http_version", "method", "num_connects", "num_headers", "num_redirects", "redirect_url", "referer",
         "remote_ip", "remote_port", "response_code", "scheme", "size_download", "size_header", "size_request", "size_upload", "ssl_verify_result", "local_ip", "url", "url_effective", "urlnum"]
failures = []


def expect(holds, what, seen=""):
    if not holds:
        failures.append(what)
        print(f"writeout: {what}: {str(seen)[:1500]}")


def answer(key, target):
    if "redirect" in target:
        return [b"HTTP/1.1 302 Found\r\nLocation: /a/there\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"], "close"
    return [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\n", b"hello"], "close"


def run(program, folder, *arguments):
    return subprocess.run([*program, "-sS", "-A", "mine", *arguments], cwd=folder, capture_output=True, text=True, timeout=60)


def prove_json(netfetch, folder, server):
    curl = ["curl", "-q", "-g", "-L", "--noproxy", "*"]
    for arguments in [["{url}/a/there"], ["{url}/a/redirect"], ["-d", "a=b", "{url}/a/there"], ["http://127.0.0.1:1/"]]:
        line = ["-o", "out", "-w", "%{json}", *[argument.replace("{url}", server.base) for argument in arguments]]
        theirs, ours = (json.loads(run(program, folder, *line).stdout) for program in (curl, [netfetch]))
        expect(theirs.keys() - WITHOUT <= ours.keys(), f"%{{json}} of {arguments} has curl's variables", theirs.keys() - WITHOUT - ours.keys())
        if ours["exitcode"] == 0:
            expect([ours[name] for name in FACTS] == [theirs[name] for name in FACTS], f"%{{json}} of {arguments} has curl's values",
                   [(name, theirs[name], ours[name]) for name in FACTS if ours[name] != theirs[name]])
        for name in theirs.keys() - WITHOUT - {"scheme"}:
            kinds = [(int, float) if isinstance(made[name], (int, float)) else type(made[name]) for made in (theirs, ours)]
            expect(kinds[0] == kinds[1], f"%{{{name}}} of {arguments} has curl's type", (theirs[name], ours[name]))
        times = [ours["time_" + name] for name in ["namelookup", "connect", "pretransfer", "starttransfer", "total"]]
        expect(ours["exitcode"] != 0 or times == sorted(times) and times[1] > 0, f"the times of {arguments} are in order", times)
        expect((ours["time_redirect"] > 0) == ("redirect" in arguments[-1]), f"time_redirect of {arguments} is that of redirects", ours["time_redirect"])
        expect(ours["local_port"] > 0 or ours["exitcode"] == 7, f"local_port of {arguments} is known", ours)


def prove_targets(netfetch, folder, server):
    line = ["-o", "out", "-w", "1%output{w.txt}2%{stderr}3%output{>>w.txt}4%{stdout}5%{http_code}", server.base + "/a/there"]
    made = run([netfetch], folder, *line)
    with open(os.path.join(folder, "w.txt"), encoding="utf-8") as file:
        expect((made.stdout, made.stderr, file.read()) == ("15200", "3", "24"), "-w writes where it is told to", made)
    made = run([netfetch], folder, "-o", "out", "-w", "%output{no/where}x", server.base + "/a/there")
    expect(made.returncode == 23 and "no/where" in made.stderr, "a file of -w that cannot be written is 23", made)
    made = run([netfetch], folder, "-w", "%{exitcode} %{errormsg} %{num_connects} %{url}", "http://a b/")
    expect(made.returncode == 3 and made.stdout.startswith("3 url: ") and made.stdout.endswith(" 0 http://a b/"), "-w is written for a fetch that did not begin", made)


def prove_refusals(netfetch, folder, server):
    """A variable that cannot be filled in is refused before anything is sent."""
    before = sum(len(made) for made in server.requests.values())
    for name in sorted(WITHOUT - {"curl_version"}):
        made = run([netfetch], folder, "-w", f"%{{{name}}}", server.base + "/a/there")
        expect(made.returncode == 2 and f"%{{{name}}}" in made.stderr, f"%{{{name}}} is refused", made)
    expect(sum(len(made) for made in server.requests.values()) == before, "nothing is sent", server.requests)
    help_ = run([netfetch], folder, "--help").stdout
    for name in [*FACTS, "conn_id", "json", "header_json", "time_queue", "time_posttransfer", "certs"]:
        expect(name in help_, f"the help names {name}")


def main():
    netfetch, server = os.path.abspath(sys.argv[1]), Server(answer)
    with tempfile.TemporaryDirectory() as folder:
        for prove in [prove_json, prove_targets, prove_refusals]:
            prove(netfetch, folder, server)
    print("-w fills in what curl does" if not failures else f"{len(failures)} promises are broken")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
