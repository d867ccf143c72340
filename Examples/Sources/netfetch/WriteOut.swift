import Foundation
import NetworkStack

/// The text of -w, with variables in curl's notation: `%{http_code}`, `%header{name}`.
struct WriteOut {
    private let format: String

    /// Reads the option's value.
    ///
    /// - Throws: A ``LocalFileError`` if it names a file that cannot be read.
    init(_ text: String) throws(LocalFileError) {
        format =
            text.hasPrefix("@") ? String(decoding: try LocalFile.read(String(text.dropFirst())), as: UTF8.self) : text
    }

    /// What to write, and where.
    struct Text {
        var output = ""
        var errors = ""
    }

    /// Fills in the variables.
    func text(of report: FetchReport) -> Text {
        var (text, goesToErrors) = (Text(), false)
        func put(_ piece: some StringProtocol) {
            if goesToErrors { text.errors += piece } else { text.output += piece }
        }
        var rest = format[...]
        while let letter = rest.popFirst() {
            switch (letter, rest.first) {
            case ("%", "%"):
                put("%")
                rest.removeFirst()
            case ("%", "{"):
                guard let end = rest.firstIndex(of: "}") else {
                    put("%")
                    continue
                }
                let name = String(rest[rest.index(after: rest.startIndex)..<end])
                rest = rest[rest.index(after: end)...]
                switch name {
                case "stderr": goesToErrors = true
                case "stdout": goesToErrors = false
                case "onerror": if report.exitCode == 0 { return text }
                default:
                    if let value = report.value(of: name) {
                        put(value)
                    } else {
                        Trace.write("netfetch: unknown --write-out variable: '\(name)'\n")
                    }
                }
            case ("%", _) where rest.hasPrefix("header{"):
                guard let end = rest.firstIndex(of: "}") else {
                    put("%")
                    continue
                }
                put(report.header(String(rest.dropFirst(7).prefix { $0 != "}" })))
                rest = rest[rest.index(after: end)...]
            case ("\\", let next?):
                rest.removeFirst()
                put(["n": "\n", "r": "\r", "t": "\t"][next] ?? "\\\(next)")
            default: put(String(letter))
            }
        }
        return text
    }
}

/// How a fetch of the command line ended, for -w.
struct FetchReport {
    let url: String
    let number: Int
    let outcome: Outcome
    /// Bytes of the body, unless it was dropped.
    let downloaded: Int64
    let file: String?
    let exitCode: Int32
    let message: String?

    /// The first value of a field of the last head.
    func header(_ name: String) -> String {
        outcome.head?.headers.first { $0.name == HTTP.HeaderName(name) }?.value ?? ""
    }

    /// A variable's value, or `nil` if there is no such variable.
    func value(of name: String) -> String? {
        let (head, metrics) = (outcome.head, outcome.metrics)
        switch name {
        case "http_code", "response_code":
            return String(format: "%03d", head?.status.rawValue ?? 0)
        case "http_version": return head?.version.number ?? "0"
        case "content_type": return header("Content-Type")
        case "errormsg": return message ?? ""
        case "exitcode": return "\(exitCode)"
        case "filename_effective": return file ?? ""
        case "method": return outcome.request.method.rawValue
        case "num_headers": return "\(head?.headers.count ?? 0)"
        case "num_redirects": return "\(outcome.redirects)"
        case "num_retries": return "\(outcome.retries)"
        case "redirect_url": return redirectURL
        case "referer": return outcome.request.headers[.referer] ?? ""
        case "remote_ip": return metrics.remoteAddress ?? ""
        case "remote_port": return "\(metrics.remotePort ?? 0)"
        case "scheme": return outcome.url.scheme?.uppercased() ?? ""
        case "size_download": return "\(downloaded)"
        case "size_header": return "\(metrics.headBytesReceived ?? 0)"
        case "size_upload": return "\(metrics.bytesSent)"
        case "speed_download": return speed(downloaded)
        case "speed_upload": return speed(metrics.bytesSent)
        case "time_appconnect": return time(metrics.secured)
        case "time_connect": return time(metrics.connected)
        case "time_namelookup": return time(metrics.resolved)
        case "time_starttransfer": return time(metrics.firstByte)
        case "time_total": return time(outcome.elapsed)
        case "url": return url
        case "urlnum": return "\(number)"
        case "url_effective": return outcome.url.absoluteString
        case "header_json": return headerJSON
        default: return nil
        }
    }

    private func time(_ duration: Duration?) -> String {
        String(format: "%.6f", (duration?.milliseconds ?? 0) / 1000)
    }

    private func speed(_ bytes: Int64) -> String {
        "\(Int64(Double(bytes) / max(outcome.elapsed.milliseconds / 1000, 0.000001)))"
    }

    /// Where a redirect leads that was not followed.
    private var redirectURL: String {
        guard let head = outcome.head, head.status.statusClass == .redirection, let place = head.headers[.location]
        else {
            return ""
        }
        return URL(string: place, relativeTo: outcome.url)?.absoluteString ?? place
    }

    /// The last head's fields, a line each: `{"name":["value",...],`.
    private var headerJSON: String {
        var (names, values) = ([String](), [String: [JSON]]())
        for field in outcome.head?.headers ?? [:] {
            let name = field.name.rawValue.lowercased()
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(.string(field.value))
        }
        let lines = names.map { JSON.string($0).text + ":" + JSON.array(values[$0] ?? []).text }
        return "{" + lines.joined(separator: ",\n") + "\n}"
    }
}
