public import NetworkStack

/// One promise of every HTTP stack: a sentence, the capabilities that it needs, and a test.
///
/// A check imports no test framework. It throws its failure, so that it runs in any test harness.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    /// The promise, in a sentence. It is the check's name.
    public let name: String
    /// The capabilities that a stack needs for the promise to apply.
    public let needs: Set<HTTP.Capability>
    /// The specifications that the promise rests on, if any.
    public let rests: [Specification]
    /// Tests the promise. Throws the failure, or ``UnclaimedPromise``.
    public let run: @Sendable (ConformanceSubject) async throws -> Void

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - name: The promise, in a sentence.
    ///   - needs: The capabilities that a stack needs for the promise to apply.
    ///   - rests: The specifications that the promise rests on, if any.
    ///   - run: Tests the promise, and throws the failure.
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

    /// Returns the check with another needed capability.
    func needing(_ capability: HTTP.Capability) -> ConformanceCheck {
        ConformanceCheck(name, needs: needs.union([capability]), rests: rests, run: run)
    }

    /// The promise, and the specifications that it rests on.
    public var description: String {
        rests.isEmpty ? name : "\(name) (\(rests.map(\.description).joined(separator: ", ")))"
    }
}

extension [ConformanceCheck] {
    /// Returns the checks with a specification that all of them rest on.
    func resting(on specification: Specification) -> [ConformanceCheck] {
        map { ConformanceCheck($0.name, needs: $0.needs, rests: [specification] + $0.rests, run: $0.run) }
    }
}

/// A stack does not claim a promise, which only the check itself could find out. The check neither passed nor failed.
public struct UnclaimedPromise: Error, CustomStringConvertible {
    /// The reason, in a sentence.
    public let description: String

    /// Makes the error.
    ///
    /// - Parameter reason: The reason, in a sentence.
    public init(_ reason: String) { description = reason }
}

/// A check failed.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The expected and the actual result, with the place of the expectation.
    public let description: String
    /// Whether a timeout ended a fetch before the phase that the check is about, which on a busy machine is no failure.
    let isTooEarly: Bool

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - message: The expected and the actual result.
    ///   - file: The file of the expectation.
    ///   - line: The line of the expectation.
    public init(_ message: String, file: StaticString = #fileID, line: UInt = #line) {
        self.init(description: "\(message) (\(file):\(line))", isTooEarly: false)
    }

    private init(description: String, isTooEarly: Bool) {
        self.description = description
        self.isTooEarly = isTooEarly
    }

    /// Returns the failure, marked as that of a fetch that timed out in an earlier phase than expected.
    var tooEarly: ConformanceFailure { ConformanceFailure(description: description, isTooEarly: true) }

    /// Returns the failure with more text.
    func adding(_ more: String) -> ConformanceFailure {
        ConformanceFailure(description: "\(description). \(more)", isTooEarly: isTooEarly)
    }
}

/// Expects a condition.
///
/// - Throws: ``ConformanceFailure`` if it is false.
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
