import Dispatch
import Foundation
import NetworkStack

/// Observes the ends of fetches, for --trace and --har.
final class Recording: EventListener {
    /// Keeps the fetches for --har; `nil` without it.
    private let recorder: FlightRecorder?
    private let file: String?
    private let showsTimelines: Bool
    /// The fetches whose end was not reported yet: a listener may be called after the completion.
    private let unreported = DispatchGroup()

    /// The bounds of what --har writes.
    private static let (fetches, bytes) = (10_000, 256 << 20)

    /// Makes the file, which is empty until the end; `nil` if neither option is given.
    ///
    /// - Throws: A ``LocalFileError``.
    init?(_ output: OutputArguments) throws(LocalFileError) {
        guard output.archive != nil || output.showsTimelines else { return nil }
        (file, showsTimelines) = (output.archive, output.showsTimelines)
        recorder = file == nil ? nil : FlightRecorder(fetches: Self.fetches, bytes: Self.bytes)
        guard let file else { return }
        var archive = BodyFile(file)
        _ = try archive.open()
        archive.close()
    }

    /// A fetch begins.
    func begins() { unreported.enter() }

    /// Waits for the end of what has begun, and writes the file.
    ///
    /// - Throws: A ``LocalFileError``.
    func finish() throws(LocalFileError) {
        // Every fetch ends before; a listener is called soon after.
        _ = unreported.wait(timeout: .now() + 10)
        guard let file, let recorder, let har = try? recorder.har() else { return }
        var archive = BodyFile(file)
        try archive.write(har + Data("\n".utf8))
        archive.close()
    }

    // MARK: Events

    var observesSteps: Bool { false }

    func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) {
        ended { $0.fetchSucceeded(event, response: response) }
    }

    func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {
        ended { $0.fetchFailed(event, error: error, metrics: metrics) }
    }

    func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) {
        ended { $0.fetchCancelled(event, metrics: metrics) }
    }

    private func ended(_ report: (FlightRecorder) -> Void) {
        if let recorder { report(recorder) }
        if showsTimelines {
            let latest = FlightRecorder(fetches: 1)
            report(latest)
            for record in latest.records { Trace.write(record.explain() + "\n") }
        }
        unreported.leave()
    }
}
