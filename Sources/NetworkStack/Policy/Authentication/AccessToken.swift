public import FoundationEssentials

/// An access token, with what is needed to get the next one (RFC 6749 section 5.1). Descriptions do not show its secrets.
public struct AccessToken: Sendable, Hashable, Codable {
    /// The token as sent.
    public var value: String
    /// The scheme, sent before the token; `Bearer` by default.
    public var scheme: HTTP.AuthScheme
    /// When the token expires, if known.
    public var expirationDate: Date?
    /// The refresh token, if there is one.
    public var refreshToken: String?

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - value: The token as sent.
    ///   - scheme: The scheme, sent before the token.
    ///   - expirationDate: When the token expires, if known.
    ///   - refreshToken: The refresh token, if there is one.
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
        // Foundation traps when it describes a date that is NaN.
        let date = expirationDate.flatMap { $0.timeIntervalSince1970.isNaN ? nil : $0 }
        return "\(scheme) <redacted>" + (date.map { ", until \($0)" } ?? "")
    }

    /// The scheme and the expiration, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["token": description]) }
}
