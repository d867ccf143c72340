internal import CCurl
internal import Glibc
internal import NetworkStack

/// Memory that libcurl freed on a loop's thread, kept by size for its next allocations there: some 40 blocks a fetch, of the same
/// sizes each time.
///
/// `malloc` locks as soon as a process has a second thread, and merges and splits blocks. The blocks here are `malloc`'s, so any
/// thread may free any block. A thread without lists frees it at once.
enum FreeLists {
    /// How many bytes a thread keeps at most.
    static var limit: Int { 2 << 20 }

    private static let wasEnabled = Lock(false)

    /// Whether the program has asked for the lists.
    static var isEnabled: Bool { wasEnabled.withLock { $0 } }

    /// Has libcurl allocate here.
    ///
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` if libcurl is initialised already.
    static func enable() throws(Network.ConfigurationError) {
        try wasEnabled.withLock { isEnabled throws(Network.ConfigurationError) in
            if isEnabled { return }
            CurlLibrary.prepareOpenSSL()
            unsafe curl_global_init_mem(
                shim_global_init,
                { unsafe FreeLists.allocate($0) },
                { if let block = unsafe $0 { unsafe FreeLists.free(block) } },
                { unsafe FreeLists.reallocate($0, to: $1) },
                { unsafe FreeLists.duplicate($0) },
                { unsafe FreeLists.allocateZeroed($0, of: $1) }
            )
            // An initialised libcurl reports success, and keeps its allocator: a block that it frees is not kept then.
            begin()
            defer { end() }
            unsafe curl_slist_free_all(curl_slist_append(nil, "probe"))
            guard let listed, listed > 0 else {
                throw .invalid("libcurl is initialised already: call useFastAllocator() before anything uses it.")
            }
            isEnabled = true
        }
    }

    // MARK: A thread's lists

    /// The address of each list's first block, which begins with the address of the next. The first element is no list, but how
    /// many bytes are kept.
    private typealias Lists = UnsafeMutablePointer<Int>

    /// This thread's lists, read some 70 times a fetch: a key of pthread's would take a call each time.
    @inline(__always)
    private static var lists: Lists? {
        unsafe shim_free_lists().pointee?.assumingMemoryBound(to: Int.self)
    }

    /// Has this thread keep what is freed on it.
    @inline(never)  // Inlined into another file, it would find another thread-local variable.
    static func begin() {
        let lists = Lists.allocate(capacity: Size.count)
        unsafe lists.initialize(repeating: 0, count: Size.count)
        unsafe shim_free_lists().pointee = UnsafeMutableRawPointer(lists)
    }

    /// Frees what this thread keeps, and has it keep nothing more.
    @inline(never)
    static func end() {
        guard let lists = unsafe lists else { return }
        unsafe shim_free_lists().pointee = nil
        for list in 1..<Size.count {
            while let block = unsafe UnsafeMutableRawPointer(bitPattern: lists[list]) {
                unsafe lists[list] = block.load(as: Int.self)
                unsafe Glibc.free(block)
            }
        }
        unsafe lists.deallocate()
    }

    /// How many bytes this thread keeps; `nil` without lists.
    static var listed: Int? {
        @inline(never) get { unsafe lists?.pointee }
    }

    /// The size of a list's blocks: 8 bytes (which glibc has besides) more than a multiple of 16 or, beyond a kibibyte, of a
    /// kibibyte. Larger blocks are not kept.
    private struct Size {
        let list: Int
        let bytes: Int

        static var largest: Int { 32 << 10 | 8 }
        static var count: Int { 64 + 32 + 1 }

        /// The smallest that has room for so many bytes, of the largest at most.
        @inline(__always)
        init(for count: Int) {
            if count <= 1 << 10 | 8 {
                list = max((count &+ 7) &>> 4, 1)
                bytes = list &<< 4 | 8
            } else {
                list = 64 &+ (count &+ 1015) &>> 10
                bytes = (list &- 64) &<< 10 | 8
            }
        }
    }

    // MARK: Blocks

    /// At least so many bytes, or nothing if there is no memory.
    @inline(__always)
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        guard 0...Size.largest ~= count, let lists = unsafe lists else { return unsafe malloc(count) }
        let size = Size(for: count)
        guard let block = unsafe UnsafeMutableRawPointer(bitPattern: lists[size.list]) else {
            return unsafe malloc(size.bytes)
        }
        unsafe lists[size.list] = block.load(as: Int.self)
        unsafe lists.pointee &-= size.bytes
        return unsafe block
    }

    /// Keeps a block, if there is a list of its size, and room; otherwise frees it.
    static func free(_ block: UnsafeMutableRawPointer) {
        guard let lists = unsafe lists else { return unsafe Glibc.free(block) }
        let usable = unsafe malloc_usable_size(block)
        guard usable <= Size.largest, unsafe lists.pointee < limit, case let size = Size(for: usable),
            size.bytes == usable
        else { return unsafe Glibc.free(block) }
        unsafe block.storeBytes(of: lists[size.list], as: Int.self)
        unsafe lists[size.list] = Int(bitPattern: block)
        unsafe lists.pointee &+= size.bytes
    }

    /// A block of at least so many bytes that begins with those of another, which it replaces.
    static func reallocate(_ block: UnsafeMutableRawPointer?, to count: Int) -> UnsafeMutableRawPointer? {
        guard let block = unsafe block else { return unsafe allocate(count) }
        let usable = unsafe malloc_usable_size(block)
        if 0...usable ~= count { return unsafe block }
        guard 0...Size.largest ~= count, unsafe lists != nil else { return unsafe realloc(block, count) }
        guard let larger = unsafe allocate(count) else { return nil }
        unsafe larger.copyMemory(from: block, byteCount: usable)
        unsafe free(block)
        return unsafe larger
    }

    /// A copy of a text.
    static func duplicate(_ text: UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? {
        guard let text = unsafe text, case let count = unsafe strlen(text) + 1 else { return nil }
        guard let copy = unsafe allocate(Int(count)) else { return nil }
        unsafe copy.copyMemory(from: text, byteCount: Int(count))
        return unsafe copy.assumingMemoryBound(to: CChar.self)
    }

    /// Room for so many values of a size, filled with zeroes.
    static func allocateZeroed(_ count: Int, of size: Int) -> UnsafeMutableRawPointer? {
        let (bytes, overflows) = UInt(bitPattern: count).multipliedReportingOverflow(by: UInt(bitPattern: size))
        guard !overflows, let bytes = Int(exactly: bytes), let block = unsafe allocate(bytes) else { return nil }
        return unsafe memset(block, 0, bytes)
    }
}
