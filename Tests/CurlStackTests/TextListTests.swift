import CCurl
import NetworkStack
import Testing

@testable import CurlStack

@Suite("Lines for libcurl")
struct TextListTests {
    /// The lines that libcurl reads.
    private func read(_ list: TextList) -> [String] {
        list.withList { first in
            var (read, node) = unsafe ([String](), first)
            while let line = unsafe node?.pointee {
                unsafe read.append(String(cString: line.data))
                unsafe node = line.next
            }
            return read
        }
    }

    @Test("are read in order, whatever their number", arguments: [0, 1, 2, 60_000])
    func many(_ count: Int) {
        let lines = (0..<count).map { "X-\($0): " + String(repeating: "v", count: $0 % 40) }
        #expect(read(TextList(lines)) == lines)
    }

    @Test("have names and values without surrounding blanks, and mark empty values")
    func fields() {
        var lines = TextLines()
        for value in ["a", " a\t", "a b", "", " ", "é"] { lines.append("X-Field", value) }
        #expect(
            read(TextList(lines)) == ["X-Field: a", "X-Field: a", "X-Field: a b", "X-Field;", "X-Field;", "X-Field: é"]
        )
    }
}
