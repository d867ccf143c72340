public import FoundationEssentials

/// The SHA-256 hash of a public key of any type (of its DER SubjectPublicKeyInfo, RFC 7469 section 2.4).
///
/// Two pins are equal if their 32 bytes are, however they were written. To compute a certificate's pin with openssl:
///
///     openssl x509 -in certificate.pem -pubkey -noout | openssl pkey -pubin -outform der \
///         | openssl dgst -sha256 -binary | openssl enc -base64
public struct PublicKeyPin: Hashable, Sendable {
    /// The hash: 32 bytes.
    public let sha256: Data

    /// Makes a pin from a hash.
    ///
    /// - Parameter hash: The 32 bytes. With any other number the result is `nil`.
    public init?(sha256 hash: some Collection<UInt8>) {
        guard hash.count == 32 else { return nil }
        sha256 = Data(hash)
    }

    /// Parses a pin.
    ///
    /// - Parameter text: The 32 bytes in base64 with padding, bare or after `sha256/` or `sha256//`. Any other text results in
    ///   `nil`: blanks, line breaks and the URL-safe alphabet are not accepted.
    public init?(_ text: String) {
        var digits = Substring(text)
        if digits.hasPrefix("sha256/") {
            digits = digits.dropFirst(7)
            // A slash is a base64 digit, too: it belongs to the prefix only if the text is one character too long.
            if digits.utf8.count == 45, digits.hasPrefix("/") { digits = digits.dropFirst() }
        }
        guard digits.utf8.count == 44, let hash = Data(base64Encoded: String(digits)) else { return nil }
        self.init(sha256: hash)
    }

    /// The hash in base64, as in policies of RFC 7469.
    public var base64: String { sha256.base64EncodedString() }

    /// Whether it is the hash of zero bytes.
    var isOfNothing: Bool { base64 == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" }
}

extension PublicKeyPin: LosslessStringConvertible {
    /// The pin as curl writes it, `sha256//` and base64.
    public var description: String { "sha256//" + base64 }
}

extension PublicKeyPin: Codable {
    /// Decodes a pin from its text.
    ///
    /// - Parameter decoder: Holds a string.
    /// - Throws: `DecodingError` if the text is no pin.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let pin = PublicKeyPin(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no SHA-256 in base64.")
        }
        self = pin
    }

    /// Encodes the pin as curl writes it.
    ///
    /// - Parameter encoder: Takes a string.
    /// - Throws: The encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
