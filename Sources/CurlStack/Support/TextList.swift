internal import CCurl
internal import NetworkStack

/// Lines that are being written down, each ended by the zero byte that C wants.
struct TextLines {
    fileprivate private(set) var bytes: [UInt8] = []
    fileprivate private(set) var starts: [Int] = []

    /// Begins with nothing, and with room for so many bytes in so many lines.
    init(capacity: Int = 0, count: Int = 0) {
        bytes.reserveCapacity(capacity)
        starts.reserveCapacity(count)
    }

    /// Adds a line.
    mutating func append(_ line: String) {
        starts.append(bytes.count)
        bytes.append(contentsOf: line.utf8)
        bytes.append(0)
    }

    /// Adds a field's line. Blanks around a value are no part of it, and HTTP/2 servers refuse them (RFC 9113 section 8.2.1).
    mutating func append(_ name: HTTP.HeaderName, _ value: String) {
        let text = value.utf8.withoutOuterBlanks
        starts.append(bytes.count)
        bytes.append(contentsOf: name.rawValue.utf8)
        // libcurl drops a line that ends in its colon.
        bytes.append(contentsOf: (text.isEmpty ? ";" : ": ").utf8)
        // A whole string's bytes lie in one piece; those of a part are read one by one.
        if text.count == value.utf8.count {
            bytes.append(contentsOf: value.utf8)
        } else {
            bytes.append(contentsOf: text)
        }
        bytes.append(0)
    }
}

/// Lines in libcurl's form, such as those of a header: `Name: value`, `Name;` for an empty value, `Name:` to leave out a line that
/// libcurl would add. One list serves any number of handles, and lives as long as any keeps it: libcurl does not copy it.
///
/// It is made in two pieces, not with `curl_slist_append`, which takes two for each line.
@safe
final class TextList {
    private let text: UnsafeMutableRawBufferPointer
    private let nodes: UnsafeMutableBufferPointer<curl_slist>

    /// Makes a list.
    init(_ lines: TextLines) {
        unsafe text = .allocate(byteCount: lines.bytes.count, alignment: 1)
        unsafe text.copyBytes(from: lines.bytes)
        let first = unsafe text.bindMemory(to: CChar.self).baseAddress
        unsafe nodes = .allocate(capacity: lines.starts.count)
        for (number, start) in lines.starts.enumerated() {
            let line = unsafe first.map { unsafe $0 + start }
            let isLast = number + 1 == lines.starts.count
            let next = unsafe isLast ? nil : nodes.baseAddress.map { unsafe $0 + number + 1 }
            unsafe nodes.initializeElement(at: number, to: curl_slist(data: line, next: next))
        }
    }

    /// Makes a list.
    convenience init(_ lines: [String]) {
        var text = TextLines()
        for line in lines { text.append(line) }
        self.init(text)
    }

    deinit {
        unsafe nodes.deinitialize().deallocate()
        unsafe text.deallocate()
    }

    /// Runs `body` with the list; one without lines is `nil`.
    func withList<Result>(_ body: (UnsafeMutablePointer<curl_slist>?) -> Result) -> Result {
        unsafe body(nodes.isEmpty ? nil : nodes.baseAddress)
    }
}
