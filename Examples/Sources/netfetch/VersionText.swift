import CurlStack
import NetworkStack

/// What -V prints, in the form of curl's.
enum VersionText {
    static let number = Network.version

    static var text: String {
        let library = CurlLibrary.shared
        let features = ["IPv6", "SSL", "UnixSockets", "HSTS"] + (library.hasHTTP2 ? ["HTTP2"] : [])
        return """
            netfetch \(number) libcurl/\(library.version) \(library.tlsVersion ?? "")
            Stacks: \(StackChoice.Backend.allCases.map(\.rawValue).joined(separator: " "))
            Protocols: http https
            Features: \((features + library.contentCodings).sorted().joined(separator: " "))

            """
    }
}
