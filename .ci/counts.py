#!/usr/bin/env python3
"""Counts what a fetch of the curl stack costs, beside the floor in C: instructions, allocations, system calls.

Counts do not depend on how busy the machine is, so they can be held to thresholds (Benchmarks/counts.json). Each is the
difference between a long and a short run, divided by the fetches between them: starting up is not in it. valgrind's
callgrind counts instructions and calls of the allocator, by the library they happen in; strace counts system calls.

How often libcurl registers a socket depends on who is faster, the server or the client, and so do some allocations of its
own. What this library and Swift's runtime do themselves does not: the same to a hundredth of an allocation and to 2 % of the
instructions, run after run. That is what the tight thresholds hold. Of the system calls, those that threads wait for each
other with are left out, and of three runs the least is taken. Who is beyond a threshold is counted again, twice at most, and
the least of each figure counts: what was added to a fetch is in every run. Ratios are taken within a run, where all meet the
same server.

usage: counts.py [--keep FOLDER] [--write]
  --keep FOLDER   leaves callgrind's files in FOLDER, for callgrind_annotate
  --write         writes the thresholds anew: what was counted, and the margin of each
"""
import argparse
import collections
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, ".build-release/release")
THRESHOLDS = os.path.join(ROOT, "Benchmarks/counts.json")
IN_FLIGHT = 64
SHORT, LONG = 640, 2560
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}
# Whose instructions and allocations are the stack's own: the program's, and those of the libraries that run Swift.
OWN = re.compile(r"^(bench-|libswift|lib_?Foundation|libdispatch|libBlocksRuntime)")
# How often these are called depends on how threads meet, or on the allocator's mood.
OF_SCHEDULING = {"futex", "sched_yield", "restart_syscall", "mmap", "munmap", "mprotect", "madvise", "brk", "mremap"}
# What a threshold allows beyond what was counted when it was written: less than one allocation, less than one system call.
MARGINS = {"own_instructions": lambda count: int(round(count * 1.04, -2)), "own_allocations": lambda count: round(count + 0.4, 2),
           "allocations": lambda count: round(count + 2, 2),
           "system_calls": lambda count: round(count + 0.4, 2), "instructions_ratio": lambda count: round(count * 1.08, 2)}
# What interceptors may cost is a promise, which counting anew does not change.
PROMISED = {"curl-stack-intercepted": {"instructions_over_curl_stack": 1.15},
            "curl-stack-observed": {"instructions_over_curl_stack": 1.35},
            "curl-stack-recorded": {"instructions_over_curl_stack": 1.15}}
WORDS = {"own_instructions": "instructions of its own", "own_allocations": "allocations of its own",
         "allocations": "allocations with libcurl's",
         "system_calls": "system calls", "instructions_ratio": "times the floor's instructions",
         "instructions_over_curl_stack": "times the instructions of one without interceptors and listeners"}
# Beyond this share of a threshold, instructions are reported: two machines may differ by the rest.
NEAR = 0.99
FLOOR = ("bench-floor", "libcurl-c-epoll")
# All with the faster allocator (`Network.CurlNetworkStack.useFastAllocator()`), except the last.
MEASURED = {
    "curl-stack": ("bench-curl-stack", "curl-stack"),
    "curl-stack-callback": ("bench-curl-stack", "curl-stack-callback"),
    # Three interceptors that change nothing.
    "curl-stack-intercepted": ("bench-curl-stack", "curl-stack", "passive_interceptors=3"),
    # Three listeners that do nothing with every event.
    "curl-stack-observed": ("bench-curl-stack", "curl-stack", "listeners=3"),
    "curl-stack-recorded": ("bench-curl-stack", "curl-stack", "recorders=1"),
    "curl-stack-default-allocator": ("bench-curl-stack", "curl-stack", "fast_allocator=0"),
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
    temporary = "".join(f'{name}_temp_path "{folder}/{name}"; '
                        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(f"""
            daemon off; master_process off; pid "{folder}/nginx.pid"; error_log "{folder}/error.log" warn;
            events {{ worker_connections 1024; }}
            http {{ access_log off; keepalive_requests 1000000; keepalive_timeout 300; {temporary}
                    server {{ listen 127.0.0.1:{port} backlog=1024; root "{folder}/files"; }} }}""")
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
    """Of a run: instructions, and what of instructions and allocations is the stack's own."""
    run(["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={path}"], *what, **which)
    names, libraries = {}, {}
    library = callee = None
    costs_of_callee_follow = False
    counts = collections.Counter()
    with open(path) as file:
        for line in file:
            # Names are written once, with a number that stands for them from then on.
            if line.startswith(("ob=", "cob=", "fn=", "cfn=")):
                key, number, name = re.match(r"(\w+)=\((\d+)\)(?: (.*))?", line).groups()
                known = libraries if key.endswith("ob") else names
                if name:
                    known[number] = name
                if key == "ob":
                    library = os.path.basename(known[number])
                elif key == "cfn":
                    callee = known[number]
            elif line.startswith("calls="):
                costs_of_callee_follow = True
                if callee in ALLOCATORS:
                    calls = int(line[6:].split()[0])
                    counts["allocations"] += calls
                    counts["own_allocations"] += calls if OWN.match(library) else 0
            elif line[0] in "0123456789+-*":
                words = line.split()
                if not costs_of_callee_follow and len(words) > 1:
                    counts["instructions"] += int(words[1])
                    counts["own_instructions"] += int(words[1]) if OWN.match(library) else 0
                costs_of_callee_follow = False
    return counts


def strace(path, what, **which):
    """System calls of a run, without those of scheduling."""
    run(["strace", "-f", "-qq", "-c", "-o", path], *what, **which)
    calls = 0
    with open(path) as file:
        for words in map(str.split, file):
            if len(words) > 4 and words[0][0].isdigit() and words[-1] not in OF_SCHEDULING | {"total"}:
                calls += int(words[3])
    return calls


def count(folder, name, what, url):
    program, *rest = what
    what = (without_debug_information(folder, program), *rest)
    short = callgrind(f"{folder}/{name}-short.callgrind", what, url=url, fetches=SHORT)
    long = callgrind(f"{folder}/{name}.callgrind", what, url=url, fetches=LONG)
    least = {fetches: min(strace(f"{folder}/{name}.strace", what, url=url, fetches=fetches) for _ in range(3))
             for fetches in (SHORT, LONG)}
    between = LONG - SHORT
    figures = {what: (long[what] - short[what]) / between for what in long}
    figures["system_calls"] = (least[LONG] - least[SHORT]) / between
    return figures


def count_all(folder, url):
    """What a fetch of each costs, the floor first."""
    return with_ratios({name: count(folder, name, what, url) for name, what in {FLOOR[1]: FLOOR, **MEASURED}.items()})


def with_ratios(measured):
    floor, stack = measured[FLOOR[1]]["instructions"], measured["curl-stack"]["instructions"]
    return {name: figures | {"instructions_ratio": figures["instructions"] / floor,
                             "instructions_over_curl_stack": figures["instructions"] / stack}
            for name, figures in measured.items()}


def held():
    """What each threshold is about, and what it allows."""
    with open(THRESHOLDS) as file:
        return [(name, what, most) for name, these in json.load(file).items() for what, most in these.items()]


def beyond(measured):
    return [(name, what) for name, what, most in held() if measured[name][what] > most]


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--keep")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = options.keep or folder
        os.makedirs(kept, exist_ok=True)
        server, url = serve(folder)
        try:
            measured = count_all(kept, url)
            for _ in range(2):
                if options.write or not beyond(measured):
                    break
                again = count_all(kept, url)
                measured = {name: {what: min(figure, again[name][what]) for what, figure in figures.items()}
                            for name, figures in measured.items()}
        finally:
            server.terminate()
            server.wait()

    columns = ["instructions", "own_instructions", "allocations", "own_allocations", "system_calls"]
    print(f"{'a fetch, 64 in flight':30}" + "".join(f"{column.replace('_', ' '):>18}" for column in columns))
    for name, figures in measured.items():
        print(f"{name:30}" + "".join(f"{figures[column]:18.{0 if 'instr' in column else 2}f}" for column in columns))
    if options.write:
        thresholds = {name: {what: margin(measured[name][what]) for what, margin in MARGINS.items()}
                      for name in MEASURED if name not in PROMISED}
        thresholds |= PROMISED
        with open(THRESHOLDS, "w") as file:
            file.write("{\n" + ",\n".join(f'  "{name}": {json.dumps(these)}' for name, these in thresholds.items()) + "\n}\n")
        return 0

    for name, what, most in held():
        now = measured[name][what]
        if now > most:
            print(f"{name}: a fetch costs {now:,.2f} {WORDS[what]} and may cost {most:,} (Benchmarks/counts.json): something was "
                  f"added to the path of every fetch. '.ci/counts.py --keep FOLDER' leaves callgrind's files to find it by; if it "
                  f"is worth its price, '.ci/counts.py --write' writes the thresholds anew.", file=sys.stderr)
        elif "instructions" in what and now > most * NEAR:
            print(f"{name}: a fetch costs {now:,.2f} {WORDS[what]} and may cost {most:,}: two machines may differ by more than the room that is left. "
                  f"Reduce it before CI fails on another machine.")
        elif what.startswith(("own_", "system_")) and most > MARGINS[what](now) * 1.02:
            print(f"{name}: a fetch costs {now:,.2f} {WORDS[what]} and may cost {most:,}: '.ci/counts.py --write' holds what "
                  f"was gained.")
    return 1 if beyond(measured) else 0


if __name__ == "__main__":
    sys.exit(main())
