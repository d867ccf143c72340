public import NetworkStack

/// One promise that every HTTP stack keeps, as a value: a sentence, what it needs, and how it is proved.
///
/// A check imports no test framework: it throws its failure, so that any stack can be proved in any harness.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    /// The promise, in a sentence. It names the check.
    public let name: String
    /// What a stack must be able to do for the promise to apply.
    public let needs: Set<HTTP.Capability>
    /// The specifications that the promise rests on, if any.
    public let rests: [Specification]
    /// Proves the promise, or throws what speaks against it, or ``UnclaimedPromise``.
    public let run: @Sendable (ConformanceSubject) async throws -> Void

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - name: The promise, in a sentence.
    ///   - needs: What a stack must be able to do for the promise to apply.
    ///   - rests: The specifications that the promise rests on, if any.
    ///   - run: Proves the promise, or throws.
    public init(
        _ name: String,
        needs: Set<HTTP.Capability> = [],
        rests: [Specification] = [],
        run: @escaping @Sendable (ConformanceSubject) async throws -> Void
    ) {
        self.name = name
        self.needs = needs
        self.rests = rests
        self.run = run
    }

    /// The same check for stacks that can do this, too.
    func needing(_ capability: HTTP.Capability) -> ConformanceCheck {
        ConformanceCheck(name, needs: needs.union([capability]), rests: rests, run: run)
    }

    /// The promise, and the specifications that it rests on.
    public var description: String {
        rests.isEmpty ? name : "\(name) (\(rests.map(\.description).joined(separator: ", ")))"
    }
}

extension [ConformanceCheck] {
    /// The same checks, which all rest on a specification.
    func resting(on specification: Specification) -> [ConformanceCheck] {
        map { ConformanceCheck($0.name, needs: $0.needs, rests: [specification] + $0.rests, run: $0.run) }
    }
}

/// Says that a stack does not claim a promise, where only asking it can tell: nothing was proved, and nothing speaks against it.
public struct UnclaimedPromise: Error, CustomStringConvertible {
    /// Why, in a sentence.
    public let description: String

    /// Says why.
    ///
    /// - Parameter reason: Why, in a sentence.
    public init(_ reason: String) { description = reason }
}

/// Speaks against a stack.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// What was expected and what was seen, with the place of the expectation.
    public let description: String
    /// Whether a clock ran out before the phase that the check is about. On a busy machine that proves nothing.
    let isTooEarly: Bool

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - message: What was expected and what was seen.
    ///   - file: Where the expectation stands.
    ///   - line: Where the expectation stands.
    public init(_ message: String, file: StaticString = #fileID, line: UInt = #line) {
        self.init(description: "\(message) (\(file):\(line))", isTooEarly: false)
    }

    private init(description: String, isTooEarly: Bool) {
        self.description = description
        self.isTooEarly = isTooEarly
    }

    /// The same failure of a fetch that one of its clocks ended in an earlier phase than expected.
    var tooEarly: ConformanceFailure { ConformanceFailure(description: description, isTooEarly: true) }

    /// The same failure, and what is known besides.
    func adding(_ more: String) -> ConformanceFailure {
        ConformanceFailure(description: "\(description). \(more)", isTooEarly: isTooEarly)
    }
}

/// Expects something to be true.
///
/// - Throws: ``ConformanceFailure`` if it is not.
func expect(
    _ condition: Bool,
    _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
) throws {
    if !condition { throw ConformanceFailure(message(), file: file, line: line) }
}

/// Expects two values to be equal.
///
/// - Throws: ``ConformanceFailure`` with both if they are not.
func expectEqual<Value: Equatable>(
    _ seen: Value,
    _ expected: Value,
    _ what: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
) throws {
    if seen != expected {
        throw ConformanceFailure("\(what()): expected \(expected), saw \(seen)", file: file, line: line)
    }
}
