import CurlStack
import NetworkStack
import NetworkStackConformance
import NetworkStackTesting
import URLSessionStack

/// A capability that a stack claims and does not have, and a check that the stack fails for it.
struct Lie: Sendable {
    let capability: HTTP.Capability
    let check: String
    let subject: ConformanceSubject

    /// A stack on libcurl that leaves something out.
    init(_ capability: HTTP.Capability, _ check: String, leavingOut describe: (inout Omission) -> Void) {
        var omission = Omission()
        describe(&omission)
        self.init(capability, check) { [omission] in try LyingStack($0, omission) }
    }

    /// Any stack. It opens no connection in advance.
    init(
        _ capability: HTTP.Capability,
        _ check: String,
        by make: @escaping @Sendable (Network.Configuration) throws -> some HTTPTransportStack
    ) {
        (self.capability, self.check) = (capability, check)
        subject = ConformanceSubject(name: "Liar", capabilities: .init(), make: make, preconnect: { _, _ in })
    }

    /// A stack on libcurl whose transport does not get a part of the configuration.
    static func ignoring(
        _ capability: HTTP.Capability,
        _ check: String,
        _ reset: @escaping @Sendable (inout Network.Configuration) -> Void
    ) -> Lie {
        Lie(capability, check) { $0.configuration = reset }
    }

    /// A stack on libcurl whose transport does not get an option.
    static func ignoringOption(
        _ capability: HTTP.Capability,
        _ check: String,
        _ reset: @escaping @Sendable (inout HTTP.Options) -> Void
    ) -> Lie {
        Lie(capability, check) { $0.hop = { try $0.changed(options: reset) } }
    }

    /// A stack on libcurl that sends another request.
    static func sending(
        _ capability: HTTP.Capability,
        _ check: String,
        _ edit: @escaping @Sendable (inout HTTP.Request) -> Void
    ) -> Lie {
        Lie(capability, check) { $0.hop = { try $0.changed(request: edit) } }
    }

    /// The stack on URLSession, described as if URLSession could do this on Linux.
    static func ofURLSession(_ capability: HTTP.Capability, _ check: String) -> Lie {
        Lie(capability, check) { try Network.URLSessionNetworkStack(configuration: $0) }
    }
}
