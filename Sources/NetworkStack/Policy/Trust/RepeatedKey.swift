internal import FoundationEssentials

/// A key that occurs twice in one object of a JSON text. Decoders take either value.
struct RepeatedKey {
    let text: String

    /// Searches for one, in JSON that a decoder has accepted. In text that is not UTF-8 none is found.
    init?(in json: Data) {
        let bytes = Array(json)
        /// The keys of every open object; `nil` for a list.
        var open: [Set<String>?] = []
        var isKey = false
        var place = 0
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "{"):
                open.append([])
                isKey = true
            case UInt8(ascii: "["):
                open.append(nil)
                isKey = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                isKey = false
            case UInt8(ascii: ","): isKey = open.last.map { $0 != nil } ?? false
            case UInt8(ascii: "\""):
                let start = place
                place += 1
                while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
                    place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard isKey, place < bytes.count, var keys = open.last ?? nil else { break }
                let text = Self.text(bytes[start...place])
                guard keys.insert(text).inserted else {
                    self.text = text
                    return
                }
                open[open.count - 1] = keys
                isKey = false
            default: break
            }
            place += 1
        }
        return nil
    }

    /// A quoted text without its quotes and escapes.
    private static func text(_ quoted: ArraySlice<UInt8>) -> String {
        (try? JSONDecoder().decode(String.self, from: Data(quoted))) ?? String(decoding: quoted, as: UTF8.self)
    }
}
