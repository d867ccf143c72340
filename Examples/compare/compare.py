#!/usr/bin/env python3
"""Compares netfetch with the curl command: compare.py <netfetch> [--quick] [--show NAME] [--write]

Both get the same replies from a server of this script, both send the same command lines' requests to it, and both run
command lines that fail. What comes of it must be the same, except for what differences.json lists, each with its reason. An unlisted
difference fails, and so does a listed one that is not there. The list is of curl 7.88: with another, differences are
printed, and fail only if they are more than a tenth of the cases. A crash always fails.
  --quick       a part of the replies, without those that wait for a time limit
  --show NAME   run the cases whose names contain NAME, and print what both make of them
  --write       print the differences found, in the form of the file
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

import codes
import replies
import shapes
from server import Server

HERE = os.path.dirname(os.path.abspath(__file__))
WORKERS = 6


def text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


# What comes back.

def answering(cases):
    def answer(key, target):
        case = cases[int(key[1:])]
        path = target.partition("/" + key)[2]
        if path.startswith("/start") and "?" in path and "?" in case.steps:
            return prepared([case.steps["?"]], key), "close"
        if path.partition("?")[0] == "/start":
            return cut(prepared(case.pieces, key), case.cut), case.then
        step = case.steps.get(urllib.parse.unquote(path.partition("?")[0], "latin-1"), replies.sized("lost", status="404 Lost"))
        return prepared([step], key), "close"
    return answer


def cut(pieces, size):
    whole = b"".join(pieces)
    return [whole[start:start + size] for start in range(0, len(whole), size)] if size else pieces


def prepared(pieces, key):
    """Puts the place of a case into what it sends."""
    base, made = SERVER.base + "/" + key, []
    for piece in pieces:
        piece = piece if isinstance(piece, bytes) else piece.encode("latin-1")
        piece = piece.replace(b"{base}", base.encode()).replace(b"{BASE}", base.replace("http", "HTTP").encode())
        piece = piece.replace(b"{host}", (SERVER.host + "/" + key).encode())
        piece = re.sub(rb"(Location: *)/(?!/)", lambda found: found[1] + f"/{key}/".encode(), piece)
        made.append(piece)
    return made


def curl_reply(number, case, folder):
    heads, body, sent = (os.path.join(folder, f"{number}.{name}") for name in ("heads", "body", "sent"))
    command = ["curl", "-q", "-s", "-g", "--noproxy", "*", "-m", str(case.timeout), "-D", heads, "-o", body, "-H", "Expect:"]
    if case.body is not None:
        with open(sent, "wb") as file:
            file.write(case.body)
        command += {"POST": ["--data-binary", "@" + sent], "PUT": ["-T", sent]}.get(case.method, ["-X", case.method, "--data-binary", "@" + sent])
    elif case.method != "GET":
        command += ["-I"] if case.method == "HEAD" else ["-X", case.method]
    if case.follow:
        command += ["-L", "--max-redirs", str(case.follow)]
    if case.compressed:
        command += ["--compressed"]
    code = subprocess.run(command + [f"{SERVER.base}/c{number}/start"], stdin=subprocess.DEVNULL, timeout=60).returncode
    status, fields = last_head(heads)
    with open(body, "rb") if os.path.exists(body) else open(os.devnull, "rb") as file:
        content = file.read()
    if case.method == "HEAD":
        content = b""  # curl writes the head there
    return {"ok": code == 0, "status": status, "headers": fields, "body": digest(content), "why": f"exit code {code}"}


def last_head(path):
    """The last head of a dump that is no informational one. Lines after a head's blank line are trailers."""
    status, fields, inside = None, [], False
    if not os.path.exists(path):
        return status, fields
    with open(path, "rb") as file:
        for line in file.read().split(b"\n"):
            line = line.rstrip(b"\r")
            found = re.match(rb"HTTP/[\d.]+ +(\d{3})", line) if not inside else None
            if found:
                inside = True
                if found[1][:1] != b"1":
                    status, fields = int(found[1]), []
            elif not line:
                inside = False
            elif inside and line[:1] in b" \t" and fields:
                fields[-1][1] = (fields[-1][1] + " " + text(line.strip())).strip()
            elif inside and b":" in line:
                name, _, value = line.partition(b":")
                fields.append([text(name.strip()), text(value.strip(b" \t"))])
    return status, fields


def digest(content):
    return [len(content), hashlib.sha256(content).hexdigest()[:16]]


def netfetch_replies(netfetch, cases, numbers):
    lines = []
    for number in numbers:
        case = cases[number]
        # A connection is kept from one case to the next otherwise, and may end just then: no case is to hang on another.
        line = {"id": number, "url": f"{SERVER.base}/n{number}/start", "method": case.method, "headers": ["Connection: close"],
                "follow": case.follow, "timeout": case.timeout, "decompress": case.compressed}
        if case.body is not None:
            import base64
            line["body_b64"] = base64.b64encode(case.body).decode()
        lines.append(json.dumps(line))
    run = subprocess.run([netfetch, "--batch", "--parallel-max", str(WORKERS)], input="\n".join(lines), capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(f"netfetch --batch ended with {run.returncode}: {run.stderr}")
    made = {}
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        content = [answer["body_len"], answer["body_sha256"][:16]]
        made[answer["id"]] = {"ok": answer["error"] is None, "status": answer["status"], "headers": answer["headers"], "body": content,
                              "why": f"{answer['error']}: {answer['detail']}" if answer["error"] else "whole"}
    return made


def compare_replies(netfetch, cases):
    numbers = range(len(cases))
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            curls = list(pool.map(lambda number: curl_reply(number, cases[number], folder), numbers))
        netfetches = netfetch_replies(netfetch, cases, numbers)
    place = re.compile(r"/[cn](\d+)/")
    for number, case in enumerate(cases):
        ours, theirs = netfetches.get(number), curls[number]
        if ours is None:
            sys.exit(f"netfetch printed no result for '{case.name}'")
        for side in (ours, theirs):
            side["headers"] = [[name, place.sub(r"/\1/", value)] for name, value in side["headers"]]
        yield case.name, theirs, ours, [name for name in ("ok", "status", "headers", "body") if ours[name] != theirs[name]]


# What goes out.

def answering_shapes(cases):
    def answer(key, target):
        case = cases[int(key[1:])]
        made = SERVER.requests.get(key, [])
        ready = case.replies[len(made) - 1] if len(made) <= len(case.replies) else replies.sized("there")
        base, other = f"{SERVER.base}/{key}", f"http://localhost:{SERVER.base.rsplit(':', 1)[1]}/{key}"
        return [ready.replace(b"{base}", base.encode()).replace(b"{other}", other.encode())], "close"
    return answer


def run_shape(program, mark, number, case, outer):
    folder = os.path.join(outer, f"{mark}{number}")
    for name, content in shapes.FILES.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    base, arguments = SERVER.base, list(case.arguments)
    if case.host:
        port = SERVER.base.rsplit(":", 1)[1]
        base = f"http://{case.host}:{port}"
        # A rule with the server's own port, in the one place where it can be known.
        arguments = [argument.replace("{port}", f"a.test:{port}") for argument in arguments]
        arguments += ["-x", SERVER.base, "--resolve", f"{case.host.rstrip('.')}:{port}:127.0.0.1"]
    arguments = [argument.replace("{start}", f"{base}/{mark}{number}/start") for argument in arguments]
    if case.path is not None:
        arguments.append(f"{base}/{mark}{number}{case.path}")
    # Without a terminal, a password is read from standard input.
    run = subprocess.run([*program, *arguments], cwd=folder, input=case.input or b"", capture_output=True, timeout=60, start_new_session=True)
    made = {"exit": run.returncode, "requests": [neutral(head, body) for head, body in SERVER.requests.get(f"{mark}{number}", [])]}
    if case.shows:
        made["output"] = re.sub(r"/[cn](\d+)(?=/)", r"/\1", run.stdout.decode("latin-1"))
        made["files"] = {name: text(content) for name, content in written(folder) if content != shapes.FILES.get(name)}
    return made


def written(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                yield os.path.relpath(os.path.join(path, name), folder), file.read()


def neutral(head, body):
    """A request without what differs from program to program: whose it is, the order of fields, the codings it knows."""
    first, *lines = text(head).split("\r\n")
    fields = []
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        if name == "user-agent" and re.match(r"(curl|netfetch)/", value):
            value = "its own"
        if name == "accept-encoding" and "," in value:
            value = ", ".join(sorted(part.strip() for part in value.split(",")))
        boundary = re.search(r"boundary=\"?([^\";]+)", value)
        if boundary:
            value = value.replace(boundary[1], "boundary").replace('"', "")
            body = body.replace(boundary[1].encode(), b"boundary")
        # The digest covers the place; httpbin and the suite's own check prove that it is right.
        value = re.sub(r'response="\w+"', 'response="digest"', re.sub(r'uri="/[cn]\d+', 'uri="', value))
        fields.append([name, value])
    place = re.compile(r"/[cn]\d+(?=[/?# ]|$)")
    fields = sorted([name, value] for name, value in fields if not (name == "content-length" and b"--boundary" in body))
    return {"line": place.sub("", first), "fields": fields, "body": digest(body)}


def compare_shapes(netfetch, cases):
    with tempfile.TemporaryDirectory() as folder:
        programs = (["curl", "-q", "-sS", "-g", "--noproxy", "*", "-m", "20"], "c"), ([netfetch, "-s", "-m", "20"], "n")
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            made = [[pool.submit(run_shape, program, mark, number, case, folder) for program, mark in programs] for number, case in enumerate(cases)]
            for case, (theirs, ours) in zip(cases, made):
                theirs, ours = theirs.result(), ours.result()
                differing = [name for name in theirs if theirs[name] != ours[name]]
                yield case.name, theirs, ours, differing


def compare_codes(netfetch, cases):
    with tempfile.TemporaryDirectory() as folder:
        yield from codes.compare(netfetch, cases, folder)


def main():
    global SERVER
    parser = argparse.ArgumentParser()
    parser.add_argument("netfetch")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    netfetch = os.path.abspath(options.netfetch)
    with open(os.path.join(HERE, "differences.json"), encoding="utf-8") as file:
        listed = json.load(file)

    every = replies.all_replies()
    chosen = [case for number, case in enumerate(every) if not options.quick or (case.then != "silence" and number % 4 == 0)]
    forms, failing = shapes.all_shapes(), codes.all_codes()
    named = {"replies": {case.name for case in every}, "shapes": {case.name for case in forms}, "codes": {case.name for case in failing}}
    if options.show:
        chosen, forms, failing = ([case for case in cases if options.show in case.name] for cases in (every, forms, failing))
    if not options.quick and not options.show:
        assert len(chosen) >= 300 and len(forms) >= 60, "too few cases"

    failures, crashes, found = 0, 0, {"replies": {}, "shapes": {}, "codes": {}}
    for kind, cases, answer, compare in (("replies", chosen, answering, compare_replies), ("shapes", forms, answering_shapes, compare_shapes),
                                         ("codes", failing, None, compare_codes)):
        if answer:
            SERVER = Server(answer(cases))
        for name, theirs, ours, differing in compare(netfetch, cases):
            if options.show:
                print(f"{name}\n  curl     {json.dumps(theirs)[:3000]}\n  netfetch {json.dumps(ours)[:3000]}")
            wanted = listed[kind].get(name, {})
            code = ours.get("exit", 0)
            crashes += isinstance(code, int) and code < 0
            if differing:
                found[kind][name] = {"differs": differing, "because": wanted.get("because", "")}
            if differing != wanted.get("differs", []):
                failures += 1
                print(f"{kind}: '{name}' differs in {differing}, listed is {wanted.get('differs', [])}\n  curl     {json.dumps(theirs)[:600]}\n  netfetch {json.dumps(ours)[:600]}")
            elif differing and wanted["because"] not in listed["reasons"]:
                failures += 1
                print(f"{kind}: '{name}' has no reason")
        for name in listed[kind].keys() - named[kind]:
            failures += 1
            print(f"{kind}: '{name}' is listed and there is no such case")
    if options.write:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    count = sum(len(entries) for entries in found.values())
    print(f"{len(chosen)} replies, {len(forms)} requests and {len(failing)} exit codes compared: {count} differ, as listed and justified" if not failures
          else f"{failures} differences are not as listed")
    command = subprocess.run(["curl", "-V"], check=True, capture_output=True, text=True).stdout.split()[1]
    if failures and not command.startswith("7.88."):
        print(f"The list is of curl 7.88, and this is {command}: whether it is curl or netfetch that differs has to be looked at.")
        # Another curl differs in a few cases, and never makes netfetch crash.
        failures = crashes + (failures if not options.show and 10 * failures > len(chosen) + len(forms) + len(failing) else 0)
    sys.exit(1 if failures else 0)


SERVER = None
if __name__ == "__main__":
    main()
