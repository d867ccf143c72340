public import FoundationEssentials

/// The SHA-256 hash of a public key (of the DER SubjectPublicKeyInfo, RFC 7469 section 2.4), whatever the key's type.
///
/// Two pins are equal if their 32 bytes are; how they were written does not count. A certificate's pin, by openssl:
///
///     openssl x509 -in certificate.pem -pubkey -noout | openssl pkey -pubin -outform der \
///         | openssl dgst -sha256 -binary | openssl enc -base64
public struct PublicKeyPin: Hashable, Sendable {
    // Four words: comparing them is cheaper than comparing an array, and nothing is allocated.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// A pin from a hash.
    ///
    /// - Parameter hash: 32 bytes. Any other number makes no pin.
    public init?(sha256 hash: some Collection<UInt8>) {
        guard hash.count == 32 else { return nil }
        var rest = hash.makeIterator()
        func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(rest.next() ?? 0) } }
        words = (word(), word(), word(), word())
    }

    /// A pin from its text.
    ///
    /// - Parameter text: Base64 of the 32 bytes with its padding, bare or after `sha256/` or `sha256//`. Nothing else makes
    ///   a pin: no blank, no line break, no URL-safe alphabet.
    public init?(_ text: String) {
        var digits = Substring(text)
        if digits.hasPrefix("sha256/") {
            digits = digits.dropFirst(7)
            // A slash is a digit of base64, too: only what is one too long has a second one for its prefix.
            if digits.utf8.count == 45, digits.hasPrefix("/") { digits = digits.dropFirst() }
        }
        guard digits.utf8.count == 44, let hash = Data(base64Encoded: String(digits)) else { return nil }
        self.init(sha256: hash)
    }

    /// The hash: 32 bytes.
    public var sha256: Data {
        let words = [words.0, words.1, words.2, words.3]
        return Data(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } })
    }

    /// The hash in base64, as the policies of RFC 7469 write it.
    public var base64: String { sha256.base64EncodedString() }

    /// The hash of no bytes at all.
    static let ofNothing = PublicKeyPin("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")

    /// Whether two pins are of the same key.
    public static func == (left: PublicKeyPin, right: PublicKeyPin) -> Bool { left.words == right.words }

    /// Hashes the 32 bytes.
    public func hash(into hasher: inout Hasher) {
        // The bytes are a hash already: any eight of them tell pins apart.
        hasher.combine(words.0)
    }
}

extension PublicKeyPin: LosslessStringConvertible {
    /// The pin as curl writes it, `sha256//` and base64.
    public var description: String { "sha256//" + base64 }
}

extension PublicKeyPin: Codable {
    /// Reads a pin from its text.
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

    /// Writes the pin as curl does.
    ///
    /// - Parameter encoder: Takes a string.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
