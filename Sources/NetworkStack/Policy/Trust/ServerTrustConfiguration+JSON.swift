public import FoundationEssentials

extension ServerTrustConfiguration: Decodable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pinningPolicies, certificateCheckingOrder, allowNotPinnedDomains, allowExpiredDomainPolicies, mode
    }

    /// Makes a configuration from JSON:
    ///
    ///     {
    ///       "pinningPolicies": [
    ///         {
    ///           "domainName": "api.example.com",
    ///           "includeSubdomains": true,
    ///           "expirationDate": "2031-11-10T00:00:00Z",
    ///           "pinnedHashes": ["sha256//jV54…=", "sha256//b2uE…="],
    ///           "enforceBackupPin": true,
    ///           "scope": "leaf"
    ///         }
    ///       ],
    ///       "certificateCheckingOrder": "leafToRoot",
    ///       "allowNotPinnedDomains": false,
    ///       "allowExpiredDomainPolicies": false,
    ///       "mode": "enforced"
    ///     }
    ///
    /// Missing keys have the defaults of the initializers. Unknown keys are refused, so that a misspelling cannot weaken a
    /// policy.
    ///
    /// - Parameter json: UTF-8 text.
    /// - Throws: ``ValidationError`` and ``PinningPolicy/ValidationError`` for invalid values; `DecodingError` for another
    ///   structure, or for a key that occurs twice in one object.
    public init(json: Data) throws {
        self = try JSONDecoder().decode(Self.self, from: json)
        guard let repeated = RepeatedKey(in: json) else { return }
        let reason = "The key \"\(repeated.text)\" stands twice in one object; which of the two counts is not clear."
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: reason))
    }

    /// Decodes a configuration in the format of ``init(json:)``. Only ``init(json:)`` refuses a repeated key, because decoders do
    /// not report it.
    ///
    /// - Parameter decoder: Holds the configuration.
    /// - Throws: The errors of ``init(json:)``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(beyond: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            pinningPolicies: container.decode([PinningPolicy].self, forKey: .pinningPolicies),
            certificateCheckingOrder: container.decodeIfPresent(
                CertificateCheckingOrder.self,
                forKey: .certificateCheckingOrder
            ) ?? .leafToRoot,
            allowNotPinnedDomains: container.decodeIfPresent(Bool.self, forKey: .allowNotPinnedDomains) ?? false,
            allowExpiredDomainPolicies: container.decodeIfPresent(Bool.self, forKey: .allowExpiredDomainPolicies)
                ?? false,
            mode: container.decodeIfPresent(Mode.self, forKey: .mode) ?? .enforced
        )
    }
}

extension PinningPolicy: Decodable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case domainName, includeSubdomains, expirationDate, pinnedHashes, enforceBackupPin, scope
    }

    /// Decodes a policy in the format of ``ServerTrustConfiguration/init(json:)``.
    ///
    /// - Parameter decoder: Holds the policy.
    /// - Throws: ``ValidationError``, or `DecodingError` for another structure.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(beyond: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var expirationDate = Date.distantFuture
        if let text = try container.decodeIfPresent(String.self, forKey: .expirationDate) {
            guard let date = Date(exactly: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .expirationDate,
                    in: container,
                    debugDescription: "\(text) is no date such as 2031-11-10T00:00:00Z."
                )
            }
            expirationDate = date
        }
        try self.init(
            domainName: container.decode(String.self, forKey: .domainName),
            includeSubdomains: container.decodeIfPresent(Bool.self, forKey: .includeSubdomains) ?? false,
            expirationDate: expirationDate,
            pinnedHashes: Set(container.decode([String].self, forKey: .pinnedHashes)),
            enforceBackupPin: container.decodeIfPresent(Bool.self, forKey: .enforceBackupPin) ?? true,
            scope: container.decodeIfPresent(Scope.self, forKey: .scope) ?? .chain
        )
    }
}

/// Any key, to find unknown ones.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    fileprivate func refuseKeys<Key: CodingKey & CaseIterable>(beyond known: Key.Type) throws {
        let container = try container(keyedBy: AnyKey.self)
        let names = Key.allCases.map(\.stringValue)
        for key in container.allKeys where !names.contains(key.stringValue) {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: container,
                debugDescription: "\(key.stringValue) is none of \(names.joined(separator: ", "))."
            )
        }
    }
}

extension Date {
    /// Parses an ISO 8601 date with its time and its offset from UTC. Foundation ignores what follows, and reads February 31st as
    /// a day in March.
    fileprivate init?(exactly text: String) {
        let offset = text.suffix(text.hasSuffix("Z") ? 1 : 6)
        let time = text.dropLast(offset.count)
        // JavaScript always writes milliseconds; here they must be zero.
        let local = String(time.hasSuffix(".000") ? time.dropLast(4) : time) + "Z"
        guard offset.hasPrefix("Z") || offset.hasPrefix("+") || offset.hasPrefix("-"),
            let date = try? Date(text, strategy: .iso8601), let inUTC = try? Date(local, strategy: .iso8601),
            inUTC.formatted(.iso8601) == local
        else { return nil }
        self = date
    }
}
