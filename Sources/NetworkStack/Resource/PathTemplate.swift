/// A path with placeholders, such as `/customers/{id}/orders`.
///
/// The text between the placeholders is decoded text. In a value, everything except letters, digits and `-._~` is escaped, also a
/// slash, so that it stays within its segment.
struct PathTemplate {
    private let path: [UInt8]
    private let parameters: [String: String]

    init(_ path: String, _ parameters: [String: String]) {
        self.path = Array(path.utf8)
        self.parameters = parameters
    }

    /// Adds the path, filled in and escaped.
    func append(to bytes: inout [UInt8]) throws(HTTP.InvalidValue) {
        var unused = Set(parameters.keys)
        var segment = (start: bytes.count, name: String?.none)
        var position = 0
        while position < path.count {
            if let end = endOfPlace(at: position) {
                let name = String(decoding: path[(position + 1)..<end], as: UTF8.self)
                guard let value = parameters[name] else {
                    throw HTTP.InvalidValue("The path has a place for {\(name)}, and no path parameter is called that.")
                }
                guard !value.isEmpty else {
                    throw HTTP.InvalidValue("The path parameter \(name) is empty, which would make another path.")
                }
                unused.remove(name)
                for byte in value.utf8 { bytes.append(escaping: byte, unless: Self.isUnreserved) }
                segment.name = name
                position = end + 1
            } else {
                let byte = path[position]
                if byte == UInt8(ascii: "/") {
                    try check(bytes[segment.start...], with: segment.name)
                    segment = (bytes.count + 1, nil)
                }
                bytes.append(escaping: byte, unless: { $0.isPathByte })
                position += 1
            }
        }
        try check(bytes[segment.start...], with: segment.name)
        if let name = unused.min() {
            throw HTTP.InvalidValue("There is a path parameter \(name), but no {\(name)} in the path.")
        }
    }

    /// Where the place that begins here ends, if one begins here: `{`, a name without slash or brace, `}`.
    private func endOfPlace(at start: Int) -> Int? {
        guard path[start] == UInt8(ascii: "{") else { return nil }
        let end = path[(start + 1)...].firstIndex { byte in
            byte == UInt8(ascii: "}") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "/")
        }
        guard let end, end > start + 1, path[end] == UInt8(ascii: "}") else { return nil }
        return end
    }

    /// Refuses a segment that a value turned into only dots: it would lead to another path, escaped or not.
    private func check(_ segment: ArraySlice<UInt8>, with name: String?) throws(HTTP.InvalidValue) {
        guard let name, segment.count < 3, segment.allSatisfy({ $0 == UInt8(ascii: ".") }) else { return }
        throw HTTP.InvalidValue(
            "The path parameter \(name) makes a segment of dots alone, which would make another path."
        )
    }

    /// RFC 3986 `unreserved`.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "-._~".utf8.contains(byte)
    }
}
