public import FoundationEssentials

/// A token that proves who asks, and what is needed to get the next one (RFC 6749 section 5.1). Its descriptions show no
/// secret.
public struct AccessToken: Sendable, Hashable, Codable {
    /// The token as it is sent.
    public var value: String
    /// The scheme it is sent with, before the token; `Bearer` unless the server says otherwise.
    public var scheme: HTTP.AuthScheme
    /// When the token is no longer taken, if known.
    public var expirationDate: Date?
    /// What the next token is asked for with, if there is such a thing.
    public var refreshToken: String?

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - value: The token as it is sent.
    ///   - scheme: The scheme it is sent with.
    ///   - expirationDate: When the token is no longer taken, if known.
    ///   - refreshToken: What the next token is asked for with, if there is such a thing.
    public init(
        _ value: String,
        scheme: HTTP.AuthScheme = .bearer,
        expirationDate: Date? = nil,
        refreshToken: String? = nil
    ) {
        self.value = value
        self.scheme = scheme
        self.expirationDate = expirationDate
        self.refreshToken = refreshToken
    }

    /// The value of the `Authorization` field.
    var credentials: String { scheme.credentials(value) }
}

extension HTTP.AuthScheme: Codable {}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// The scheme and the expiration, without the secrets.
    public var description: String {
        // Foundation traps where it is to describe a date that is none.
        let date = expirationDate.flatMap { $0.timeIntervalSince1970.isNaN ? nil : $0 }
        return "\(scheme) <redacted>" + (date.map { ", until \($0)" } ?? "")
    }

    /// The scheme and the expiration: a dump, too, shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["token": description]) }
}
