import Glibc
import NetworkStack
import NetworkStackTesting

/// A capability of the program that runs the checks.
extension HTTP.Capability {
    /// DNS lookups that a check can hold. It depends on the test program, not on the stack: it has to be linked with
    /// `--export-dynamic-symbol=getaddrinfo`, so that C libraries call the function of this library before the system's.
    public static let heldLookups = HTTP.Capability(rawValue: "name lookups under control")
}

/// A host name whose lookup blocks until it is released or this object is freed. The lookup then fails, or returns an address of
/// this machine.
///
/// It needs no server and no privilege: this program's `getaddrinfo` replaces the system's, and passes other names on.
final class HeldLookups: Sendable {
    private static let held = Lock<[String: HeldLookup]>([:])
    private static let count = Lock(0)
    private static let suffix = ".held.test"

    /// The name whose lookup blocks.
    let name: String

    /// Makes a name. Throws if the program is not linked as ``HTTP/Capability/heldLookups`` requires.
    init(findingThisMachine: Bool = false) throws {
        try expect(Self.areInPlace, "The test program does not export getaddrinfo")
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        name = "name\(number)" + Self.suffix
        Self.held.withLock { [name] in $0[name] = HeldLookup(findsThisMachine: findingThisMachine) }
    }

    deinit { Self.held.withLock { [name] in $0.removeValue(forKey: name) }?.mayGoOn.open() }

    /// Releases the lookup.
    func release() { Self.held.withLock { [name] in $0[name] }?.mayGoOn.open() }

    /// Whether a lookup of the name has begun.
    var hasBegun: Bool { Self.held.withLock { [name] in $0[name] }?.began.isOpen ?? false }

    /// How often this program has looked up any name so far.
    static func count(of name: String) -> Int { lookups.withLock { $0[name] ?? 0 } }

    /// A name that resolves to this machine.
    static let nameOfThisMachine = "this-machine.test"

    /// A name with two addresses of this machine: the first refuses connections, and servers listen on the second.
    static let nameOfTwoAddresses = "two-addresses.test"

    /// A name with four addresses of this machine: servers listen on the last one only.
    static let nameOfFourAddresses = "four-addresses.test"

    /// Names on this machine, two each of different customers of a cloud, a city and a bucket store by the public suffix list.
    static let strangers = [
        (one: "attacker.s3.amazonaws.com", other: "bank.s3.amazonaws.com", shared: ["amazonaws.com"]),
        (one: "b.c.kobe.jp", other: "d.e.kobe.jp", shared: ["kobe.jp"]),
        (one: "x.s3.fr-par.scw.cloud", other: "y.s3.fr-par.scw.cloud", shared: ["scw.cloud", "fr-par.scw.cloud"]),
    ]

    /// The A-label of a name on this machine.
    static let beyondASCII = "xn--bcher-kva.test"

    /// The addresses of the names above.
    fileprivate static let addresses =
        [
            nameOfThisMachine: ["127.0.0.1"], beyondASCII: ["127.0.0.1"],
            nameOfTwoAddresses: ["127.0.0.2", "127.0.0.1"],
            nameOfFourAddresses: ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"],
        ].merging(strangers.flatMap { [$0.one, $0.other] }.map { ($0, ["127.0.0.1"]) }) { first, _ in first }

    private static let lookups = Lock<[String: Int]>([:])

    /// Waits until a lookup of the name has begun.
    func began() async throws {
        guard let lookup = Self.held.withLock({ $0[name] }) else { return }
        do { try await lookup.began.opened(within: .seconds(10)) } catch is WaitTimedOut {
            throw ConformanceFailure("\(name) was not looked up")
        }
    }

    /// Whether C libraries of this process call the `getaddrinfo` of this library.
    static let areInPlace: Bool = {
        let here = unsafeBitCast(lookUp as SystemLookup, to: UnsafeMutableRawPointer.self)
        return dlsym(UnsafeMutableRawPointer(bitPattern: 0), "getaddrinfo") == here  // RTLD_DEFAULT
    }()

    /// Holds a lookup, and returns the name to resolve instead; `nil` for none.
    fileprivate static func found(for name: String) -> String? {
        lookups.withLock { $0[name, default: 0] += 1 }
        guard name.hasSuffix(suffix), let lookup = held.withLock({ $0[name] }) else { return name }
        lookup.began.open()
        lookup.mayGoOn.wait(seconds: 30)
        return lookup.findsThisMachine ? nameOfThisMachine : nil
    }
}

private final class HeldLookup: Sendable {
    let findsThisMachine: Bool
    let began = Gate()
    let mayGoOn = Latch()

    init(findsThisMachine: Bool) { self.findsThisMachine = findsThisMachine }
}

private typealias SystemLookup =
    @convention(c) (
        UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<addrinfo>?,
        UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
    ) -> Int32

private let systemLookup: SystemLookup? = {
    let next = UnsafeMutableRawPointer(bitPattern: -1)  // RTLD_NEXT
    return dlsym(next, "getaddrinfo").map { unsafeBitCast($0, to: SystemLookup.self) }
}()

/// Replaces the system's `getaddrinfo` in a program that exports it.
@_cdecl("getaddrinfo")
func lookUp(
    _ name: UnsafePointer<CChar>?,
    _ service: UnsafePointer<CChar>?,
    _ hints: UnsafePointer<addrinfo>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
) -> Int32 {
    if let name {
        guard let found = HeldLookups.found(for: String(cString: name)) else { return EAI_NONAME }
        if let addresses = HeldLookups.addresses[found] {
            var first: UnsafeMutablePointer<addrinfo>?
            for address in addresses.reversed() {
                var found: UnsafeMutablePointer<addrinfo>?
                let code = systemLookup?(address, service, hints, &found) ?? EAI_SYSTEM
                guard code == 0, var last = found else { return code }
                while let next = last.pointee.ai_next { last = next }
                (last.pointee.ai_next, first) = (first, found)
            }
            result?.pointee = first
            return 0
        }
    }
    return systemLookup?(name, service, hints, result) ?? EAI_SYSTEM
}
