import CCurl
import Glibc
import NetworkStack
import NetworkStackTesting
import Testing

@testable import CurlStack

@Suite("The lists of blocks that libcurl frees on a loop's thread")
struct FreeListsTests {
    init() throws { try CurlLibrary.shared.validate() }

    /// Runs a closure on a thread that lists freed blocks.
    private func listing(_ body: () throws -> Void) rethrows {
        FreeLists.begin()
        defer { FreeLists.end() }
        try body()
    }

    /// A block of one of the lists' sizes. malloc returns a larger block if the rest would be too small for a block.
    private func block(_ size: Int) throws -> UnsafeMutableRawPointer {
        var larger: [UnsafeMutableRawPointer] = []
        defer { for block in larger { free(block) } }
        while true {
            let block = try #require(FreeLists.allocate(size))
            if malloc_usable_size(block) == size { return block }
            larger.append(block)
        }
    }

    @Test("serve the next allocation of the same size")
    func recycles() throws {
        try listing {
            let block = try block(104)
            FreeLists.free(block)
            #expect(FreeLists.listed == 104)
            let other = try #require(FreeLists.allocate(200))
            #expect(other != block)
            try #require(FreeLists.allocate(90) == block)
            #expect(FreeLists.listed == 0)
            FreeLists.free(block)
            FreeLists.free(other)
        }
    }

    @Test("return blocks of at least the requested size")
    func room() throws {
        try listing {
            for count in Array(0...5000) + [16_384, 16_385, 32_768, 32_776, 32_777, 131_073, 1 << 20] {
                let fresh = try #require(FreeLists.allocate(count))
                #expect(malloc_usable_size(fresh) >= count)
                FreeLists.free(fresh)
                let again = try #require(FreeLists.allocate(count))
                #expect(malloc_usable_size(again) >= count, "\(count)")
                FreeLists.free(again)
            }
        }
    }

    @Test("leave blocks of other sizes to malloc")
    func foreignSizes() throws {
        try listing {
            for count in [1100, 1500, 3000, 20_000, 200_000] {
                FreeLists.free(try #require(malloc(count)))
                #expect(FreeLists.listed == 0, "\(count)")
            }
        }
    }

    @Test("keep blocks up to a limit, and none when the thread has ended its use")
    func limit() throws {
        try listing {
            let blocks = (0..<400).map { _ in FreeLists.allocate(16_385) }
            for case let block? in blocks { FreeLists.free(block) }
            let listed = try #require(FreeLists.listed)
            #expect(listed >= FreeLists.limit && listed < FreeLists.limit + 20_000)
        }
        #expect(FreeLists.listed == nil)
        let block = try #require(FreeLists.allocate(100))
        FreeLists.free(block)
        #expect(FreeLists.listed == nil)
    }

    @Test("return zeroed blocks on request")
    func zeroes() throws {
        try listing {
            let block = try block(312)
            memset(block, 0xFF, 300)
            FreeLists.free(block)
            let zeroed = try #require(FreeLists.allocateZeroed(30, of: 10))
            #expect(zeroed == block)
            #expect(UnsafeRawBufferPointer(start: zeroed, count: 300).allSatisfy { $0 == 0 })
            FreeLists.free(zeroed)
            #expect(FreeLists.allocateZeroed(.max, of: 3) == nil)
            #expect(FreeLists.allocateZeroed(-1, of: 1) == nil)
        }
    }

    @Test("copy the content of a block that grows, and of a duplicated text", arguments: [true, false])
    func copies(lists: Bool) throws {
        if lists { FreeLists.begin() }
        defer { FreeLists.end() }
        var block = try #require(FreeLists.reallocate(nil, to: 10))
        for index in 0..<10 { block.storeBytes(of: UInt8(index), toByteOffset: index, as: UInt8.self) }
        for count in [20, 24, 25, 1000, 2000, 100_000, 1_000_000, 5] {
            block = try #require(FreeLists.reallocate(block, to: count))
            #expect(
                (0..<min(count, 10)).allSatisfy { block.load(fromByteOffset: $0, as: UInt8.self) == $0 },
                "\(count)"
            )
        }
        FreeLists.free(block)
        let copy = try #require(FreeLists.duplicate("a text of thirty-three characters"))
        #expect(String(cString: copy) == "a text of thirty-three characters")
        FreeLists.free(copy)
        #expect(FreeLists.duplicate(nil) == nil)
    }

    @Test("serve libcurl only at the request of the program")
    func unasked() {
        listing {
            curl_slist_free_all(curl_slist_append(nil, "a text"))
            #expect(FreeLists.listed == 0)
        }
        #expect(!FreeLists.isEnabled)
    }

    @Test("are refused once libcurl is initialised")
    func late() {
        #expect(throws: Network.ConfigurationError.self) { try Network.CurlNetworkStack.useFastAllocator() }
        #expect(!FreeLists.isEnabled)
    }

    @Test("serve libcurl if the program requests them before its first stack", .timeLimit(.minutes(1)))
    func asked() async {
        await #expect(processExitsWith: .exitCode(7)) {
            for _ in 0..<2 { try Network.CurlNetworkStack.useFastAllocator() }
            let server = try ScriptedServer.responding { _ in .ok("x") }
            let stack = try Network.CurlNetworkStack()
            let request = try HTTP.Request(url: server.url())
            let value = try await stack.fetch(resource: .init(baseRequestMaking: .request(request))).value
            FreeLists.begin()
            defer { FreeLists.end() }
            curl_slist_free_all(curl_slist_append(nil, "a text"))
            exit(value.count == 1 && FreeLists.listed ?? 0 > 0 ? 7 : 1)
        }
    }
}
