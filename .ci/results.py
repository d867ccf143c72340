#!/usr/bin/env python3
"""Writes a report as Markdown: the table of Benchmarks/RESULTS.md, the targets, and the rows of each workload.

usage: results.py [.build/bench/report.json] [workload ...]     all workloads of the report if none is named
"""
import json
import sys


CLIENTS = {
    "curl-stack": "ours", "curl-stack-callback": "ours, callback", "libcurl-c": "C", "urlsession": "URLSession",
    "async-http-client": "AsyncHTTPClient", "go-net-http": "Go", "rust-reqwest": "reqwest",
}


def figure(value, digits=1):
    return "-" if value is None else f"{value:,.{digits}f}"


def table(head, lines):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for cells in lines:
        print("| " + " | ".join(cells) + " |")
    print()


def comparison(rows, names):
    """Processor time of each client in each workload; in brackets the ratio to C, round by round."""
    found = {(row["workload"], row["client"]): row for row in rows if not row["errors"]}
    lines = []
    for name in names:
        line = [f"`{name}`"]
        for client in CLIENTS:
            row = found.get((name, client), {})
            ratio = row.get("cpu_ratio_to_floor") if client.startswith("curl-stack") else None
            processor = row.get("cpu_us_per_fetch")
            line.append(figure(processor, 1 if (processor or 0) < 1000 else 0) + (f" ({ratio:.2f})" if ratio else ""))
        lines.append(line)
    table(["CPU us per fetch", *CLIENTS.values()], lines)


def cells(row):
    processor = row.get("cpu_us_per_fetch")
    name = row["client"] + (f" ({row['variant'].split('-')[-1]})" if row.get("variant") else "")
    if row["errors"]:
        return [name, f"no result: {row.get('error', '')}"] + ["-"] * 8
    memory = row.get("peak_rss_bytes")
    throughput = row.get("fetches_per_s")
    return [name, figure(processor, 1 if processor < 1000 else 0), figure(row.get("cpu_ratio_to_floor"), 2),
            figure(row.get("cpu_ratio_to_curl_stack"), 2), figure(throughput, 0 if throughput >= 100 else 2),
            figure(row.get("throughput_ratio_to_floor"), 2), figure(row.get("p50_us"), 0), figure(row.get("p99_us"), 0),
            figure(row.get("p999_us"), 0), figure(memory and memory / 1048576)]


def main():
    arguments = sys.argv[1:]
    path = arguments.pop(0) if arguments and arguments[0].endswith(".json") else ".build/bench/report.json"
    with open(path) as file:
        report = json.load(file)
    names = list(dict.fromkeys(row["workload"] for row in report["rows"]))
    unknown = [name for name in arguments if name not in names]
    if unknown:
        raise SystemExit(f"results.py: the report has no workload {', '.join(unknown)}; it has {', '.join(names)}.")
    print(", ".join(f"{key}: {value}" for key, value in sorted((report["machine"] | report["effort"]).items())) + "\n")
    comparison(report["rows"], arguments or names)
    table(["workload", "client", "against", "figure", "measured", "must", "aim", ""],
          [[f"`{one['workload']}`", one["client"], one["against"], one["figure"], figure(one["measured"], 2),
            figure(one["must"], 2), figure(one.get("aim"), 2),
            "met, and the aim" if one.get("reaches_aim") else "met" if one["is_met"] else "**missed**"]
           for one in report["targets"] if not arguments or one["workload"] in arguments])
    for name in arguments or names:
        rows = [row for row in report["rows"] if row["workload"] == name]
        shown = {row.get("variant") for row in rows}
        print(f"`{name}`\n")
        table(["client", "CPU us per fetch", "x floor", "x curl-stack", "fetches/s", "x floor's", "p50 us", "p99 us", "p99.9 us",
               "peak MiB"], [cells(row) for row in rows if row["client"] not in shown])
        extra = [(row["client"], row["rss_bytes_per_open_response"] / 1024,
                  row.get("throughput_ratio_to_itself_without_open_responses"))
                 for row in rows if row.get("rss_bytes_per_open_response")]
        if extra:
            table(["client", "KiB per open response", "x its throughput without them"],
                  [[client, figure(memory), figure(ratio, 2)] for client, memory, ratio in extra])


if __name__ == "__main__":
    main()
