#!/usr/bin/env python3
"""Counts what a fetch of the curl stack costs over the floor in C: instructions, allocations, system calls.

Counts do not depend on how busy the machine is, so they can be held to thresholds (Benchmarks/counts.json). Each is the
difference between a long and a short run, divided by the fetches between them: starting up is not in it. valgrind's
callgrind counts instructions and calls of the allocator, strace counts system calls.

usage: counts.py [--keep FOLDER]     leaves callgrind's files in FOLDER, for callgrind_annotate
"""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "Benchmarks/.build/release")
THRESHOLDS = os.path.join(ROOT, "Benchmarks/counts.json")
IN_FLIGHT = 64
SHORT, LONG = 640, 2560
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}
FLOOR = ("bench-floor", "libcurl-c-epoll")
MEASURED = {
    "curl-stack": ("bench-curl-stack", "curl-stack"),
    "curl-stack-callback": ("bench-curl-stack", "curl-stack-callback"),
    # Three interceptors that change nothing.
    "curl-stack-intercepted": ("bench-curl-stack", "curl-stack", "passive_interceptors=3"),
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(folder):
    """Starts nginx with a file of 1 KiB and answers its process and the file's URL."""
    port = free_port()
    os.makedirs(f"{folder}/files")
    with open(f"{folder}/files/1k", "wb") as file:
        file.write(b"x" * 1024)
    temporary = "".join(f"{name}_temp_path {folder}/{name}; "
                        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(f"""
            daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log warn;
            events {{ worker_connections 1024; }}
            http {{ access_log off; keepalive_requests 1000000; keepalive_timeout 300; {temporary}
                    server {{ listen 127.0.0.1:{port} backlog=1024; root {folder}/files; }} }}""")
    environment = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
    server = subprocess.Popen(["nginx", "-p", folder, "-c", f"{folder}/nginx.conf"], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server, f"http://127.0.0.1:{port}/1k"
        except OSError:
            time.sleep(0.05)
    raise SystemExit("counts.py: nginx did not start.")


def run(tool, program, client, *settings, url, fetches):
    settings = [*settings, f"client={client}", f"url={url}", "method=GET", f"in_flight={IN_FLIGHT}", "expect=1024",
                f"warm_up_fetches={IN_FLIGHT}", f"fetches={fetches}"]
    command = tool + [program] + settings
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    line = json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else {"errors": 1, "error": done.stderr}
    if line["errors"] or line["fetches"] != fetches:
        raise SystemExit(f"counts.py: {client} did not make its {fetches} fetches: {line.get('error')}")


def without_debug_information(folder, program):
    """A copy of a program without what valgrind 3.19 cannot read of a newer compiler's debug information."""
    copy = os.path.join(folder, program)
    subprocess.run(["strip", "--strip-debug", "-o", copy, os.path.join(PROGRAMS, program)], check=True)
    return copy


def callgrind(path, what, **which):
    """Instructions and allocations of a run."""
    run(["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={path}"], *what, **which)
    instructions = allocations = 0
    names = {}
    callee = None
    with open(path) as file:
        for line in file:
            if line.startswith(("fn=", "cfn=")):
                number, name = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line).groups()
                if name:
                    names[number] = name
                if line[0] == "c":
                    callee = names[number]
            elif line.startswith("calls=") and callee in ALLOCATORS:
                allocations += int(line[6:].split()[0])
            elif line.startswith(("summary:", "totals:")):
                instructions = int(line.split()[1])
    return instructions, allocations


def strace(path, what, **which):
    """System calls of a run."""
    run(["strace", "-f", "-qq", "-c", "-o", path], *what, **which)
    with open(path) as file:
        total = next(line for line in file if line.rstrip().endswith("total"))
    return int(total.split()[3]) if len(total.split()) > 4 else int(total.split()[-2])


def count(folder, name, what, url):
    program, *rest = what
    what = (without_debug_information(folder, program), *rest)
    short = callgrind(f"{folder}/{name}-short.callgrind", what, url=url, fetches=SHORT)
    long = callgrind(f"{folder}/{name}.callgrind", what, url=url, fetches=LONG)
    calls = [strace(f"{folder}/{name}.strace", what, url=url, fetches=fetches) for fetches in (SHORT, LONG)]
    between = LONG - SHORT
    return {"instructions": (long[0] - short[0]) / between, "allocations": (long[1] - short[1]) / between,
            "system_calls": (calls[1] - calls[0]) / between}


def main():
    with open(THRESHOLDS) as file:
        thresholds = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        kept = sys.argv[2] if len(sys.argv) > 2 and sys.argv[1] == "--keep" else folder
        os.makedirs(kept, exist_ok=True)
        server, url = serve(folder)
        try:
            floor = count(kept, FLOOR[1], FLOOR, url)
            measured = {name: count(kept, name, what, url) for name, what in MEASURED.items()}
        finally:
            server.terminate()
            server.wait()
    verdict = 0
    print(f"{'per fetch, 64 in flight':26}{'instructions':>14}{'allocations':>14}{'system calls':>14}")
    for name, figures in [(FLOOR[1], floor)] + list(measured.items()):
        print(f"{name:26}{figures['instructions']:14.0f}{figures['allocations']:14.2f}{figures['system_calls']:14.2f}")
    for name, figures in measured.items():
        for what, most in thresholds[name].items():
            over = {"instructions_ratio": lambda: figures["instructions"] / floor["instructions"],
                    "instructions_over_curl_stack": lambda: figures["instructions"] / measured["curl-stack"]["instructions"],
                    "allocations_over_floor": lambda: figures["allocations"] - floor["allocations"],
                    "system_calls_over_floor": lambda: figures["system_calls"] - floor["system_calls"]}[what]()
            if over > most:
                words = what.replace("_", " ")
                print(f"{name}: {words} of a fetch are {over:.2f} now and may be {most} (Benchmarks/counts.json): something was "
                      f"added to the path of every fetch. '.ci/counts.py --keep FOLDER' leaves callgrind's files to find it by.",
                      file=sys.stderr)
                verdict = 1
    return verdict


if __name__ == "__main__":
    sys.exit(main())
