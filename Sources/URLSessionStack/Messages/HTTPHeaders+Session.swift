internal import Foundation
internal import NetworkStack

extension HTTP.Headers {
    /// The fields that a session's configuration adds to every request, in the order of their names.
    init(additional fields: [AnyHashable: Any]) {
        let named = fields.compactMap { name, value in
            (name as? String).map { Field(name: .init($0), value: "\(value)") }
        }
        self.init(named.sorted { $0.name.rawValue < $1.name.rawValue })
    }

    /// Whether a field has credentials.
    var haveCredentials: Bool { contains(.authorization) || contains(.cookie) || contains(.proxyAuthorization) }
}
