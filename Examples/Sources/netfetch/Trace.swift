import Foundation
import NetworkStack

/// Tells what a fetch does on standard error, as curl's -v does. Values that are secret are left out.
enum Trace {
    static func begins(_ request: HTTP.Request) {
        var path = request.url.path(percentEncoded: true)
        if path.isEmpty { path = "/" }
        if let query = request.url.query(percentEncoded: true) { path += "?" + query }
        var text = "> \(request.method) \(path)\n"
        if !request.headers.contains(.host), let host = request.url.host(percentEncoded: true) {
            text += "> Host: \(host)\(request.url.port.map { ":\($0)" } ?? "")\n"
        }
        for line in "\(request.headers)".split(separator: "\n") { text += "> \(line)\n" }
        write(text + ">\n")
    }

    static func entered(_ phase: HTTP.Phase) { write("* \(phase.rawValue)\n") }

    static func received(_ response: HTTP.Response) {
        var text = "< \(response.version) \(response.status)\n"
        for line in "\(response.headers)".split(separator: "\n") { text += "< \(line)\n" }
        write(text + "<\n")
    }

    static func ended(_ outcome: Outcome) {
        var text = "* \(outcome.count) bytes in \(outcome.elapsed.milliseconds) ms, \(outcome.hops) request(s)"
        if let address = outcome.metrics.remoteAddress { text += ", \(address)" }
        if let port = outcome.metrics.remotePort { text += " port \(port)" }
        if outcome.metrics.isConnectionReused == true { text += ", connection reused" }
        write(text + "\n")
    }

    static func write(_ text: String) { _ = LocalFile.write(Data(text.utf8), to: STDERR_FILENO) }
}
