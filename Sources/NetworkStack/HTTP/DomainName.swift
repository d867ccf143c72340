/// Converts host names beyond ASCII to A-labels (UTS 46, nontransitional, with the Bidi rule of RFC 5893).
///
/// It converts names for which lower-casing is the only mapping. It refuses the rest: characters that map to others (full-width
/// letters, ligatures), symbols, letters that are not composed (NFC), labels with mixed directions. Its results are those of
/// browsers.
enum DomainName {
    /// The name with each label beyond ASCII as its A-label, or `nil` if it cannot be converted.
    static func ascii(_ name: some StringProtocol) -> String? {
        // An A-label is hardly shorter than its label, and a host has at most 253 bytes.
        guard name.utf8.count <= 1024 else { return nil }
        let isBidi = name.unicodeScalars.contains(where: \.isRightToLeft)
        var labels: [String] = []
        for label in name.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false) {
            guard let mapped = mapped(Array(label)), mapped.isEmpty || !isBidi || hasOneDirection(mapped),
                let encoded = Punycode.label(String(String.UnicodeScalarView(mapped)))
            else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    /// The label in lower case, if lower-casing is its only mapping. A label of ASCII stays as it is.
    private static func mapped(_ label: [Unicode.Scalar]) -> [Unicode.Scalar]? {
        if label.allSatisfy(\.isASCII) { return label }
        // A scalar beyond ASCII takes at least one byte of the A-label.
        guard label.count <= 63, label.first != "-", label.last != "-", label.first?.properties.isMark == false
        else { return nil }
        var mapped: [Unicode.Scalar] = []
        var starter: Unicode.Scalar?
        var lastClass: UInt8 = 0
        for scalar in label {
            guard let lowered = lowered(scalar) else { return nil }
            let order = lowered.properties.canonicalCombiningClass.rawValue
            guard order == 0 || order >= lastClass, !mayCompose(lowered, with: starter) else { return nil }
            if order == 0 { starter = lowered }
            lastClass = order
            mapped.append(lowered)
        }
        return mapped.starts(with: "xn--".unicodeScalars) ? nil : mapped
    }

    /// A letter, mark or digit in lower case, if UTS 46 maps it to nothing else.
    private static func lowered(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        // Both stay as they are, although folding would change them.
        if scalar == "\u{DF}" || scalar == "\u{3C2}" || scalar == "-" || scalar == "_" { return scalar }
        var lowered = scalar
        if scalar.properties.changesWhenNFKCCaseFolded {
            let mapping = scalar.properties.lowercaseMapping.unicodeScalars
            guard mapping.count == 1, let first = mapping.first, !first.properties.changesWhenNFKCCaseFolded else {
                return nil
            }
            lowered = first
        }
        return lowered.properties.isLetter || lowered.properties.isMark || lowered.properties.isDigit ? lowered : nil
    }

    /// Whether normal form C may join a character to the last one that is not a mark.
    private static func mayCompose(_ scalar: Unicode.Scalar, with starter: Unicode.Scalar?) -> Bool {
        switch scalar.value {
        case 0x300...0x36F, 0x653...0x655, 0x1100...0x11FF, 0x1_6D63...0x1_6D6A: return true
        case 0x1_0000...: return scalar.properties.isMark
        case 0x93C, 0x9BE, 0x9D7, 0xB3E, 0xB56...0xB57, 0xBBE, 0xBD7, 0xC56, 0xCC2, 0xCD5...0xCD6, 0xD3E, 0xD57, 0xDCA,
            0xDCF,
            0xDDF, 0x102E, 0x1B35, 0x3099...0x309A:
            // What it can be joined to, and the result, are in its block.
            guard let starter else { return true }
            let joined = String(String.UnicodeScalarView([starter, scalar]))
            let block = scalar.value & ~0xFF...scalar.value | 0xFF
            return block.contains { Unicode.Scalar($0).map { String($0) == joined } ?? false }
        default: return false
        }
    }

    /// The Bidi rule, stricter: a label of right-to-left letters has only those and their marks; any other label of such a name
    /// begins with a letter and ends with a letter or digit.
    private static func hasOneDirection(_ label: [Unicode.Scalar]) -> Bool {
        guard let first = label.first?.properties, let last = label.last?.properties, first.isLetter else {
            return false
        }
        guard label.contains(where: \.isRightToLeft) else { return last.isLetter || last.isDigit }
        return label.allSatisfy { $0.isRightToLeft && ($0.properties.isLetter || $0.properties.isMark) }
    }
}

extension Unicode.Scalar {
    /// Whether it is in a block of right-to-left scripts.
    fileprivate var isRightToLeft: Bool {
        switch value {
        case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x1_0800...0x1_0FFF, 0x1_E800...0x1_EFFF: true
        default: false
        }
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isLetter: Bool {
        switch generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }

    fileprivate var isMark: Bool { generalCategory == .nonspacingMark || generalCategory == .spacingMark }

    fileprivate var isDigit: Bool { generalCategory == .decimalNumber }
}
