import NetworkStack

extension ConformanceCheck {
    /// Makes a check whose outcome depends on short timeouts: it multiplies them by the scale of its run.
    ///
    /// A fetch with 300 ms rightly fails if the machine stops the process for 400 ms, and a timeout of 300 ms may expire before a
    /// busy machine has opened the connection. A failure counts if the machine did not stall meanwhile, and the fetch had reached
    /// the phase that the check is about: the response, if a success is expected. Otherwise the check runs again with timeouts three
    /// times as long. The third failure counts in any case; of a phase that was not reached, the fourth.
    ///
    /// - Parameters:
    ///   - name: The promise, in a sentence.
    ///   - needs: The capabilities that a stack needs for the promise to apply.
    ///   - rests: The specifications that the promise rests on, if any.
    ///   - keepsProcessorsBusy: Whether the check makes its own threads wait for a processor, as a flood does. Then the longest
    ///     delay counts, and not the sum of all threads' waits, which the fault that the check looks for would add to.
    ///   - run: Tests the promise with timeouts times the scale, and throws the failure. At scale 1, no timeout is shorter than
    ///     200 ms.
    init(
        _ name: String,
        needs: Set<HTTP.Capability> = [],
        rests: [Specification] = [],
        keepsProcessorsBusy: Bool = false,
        scaled run: @escaping @Sendable (_ subject: ConformanceSubject, _ scale: Int) async throws -> Void
    ) {
        self.init(name, needs: needs, rests: rests) { subject in
            var scale = 1
            while true {
                let stall = Stall()
                do { return try await run(subject, scale) } catch let unclaimed as UnclaimedPromise {
                    throw unclaimed
                } catch {
                    let failure = error as? ConformanceFailure
                    let delay = keepsProcessorsBusy ? stall.fullAllowance : stall.chainAllowance
                    let mayRepeat = scale < 9 && delay > .milliseconds(100) * scale
                    guard mayRepeat || failure?.isTooEarly == true && scale < 27 else {
                        let clocks = "Its timeouts were \(scale) times the usual; the machine's delay was \(delay)"
                        throw failure?.adding(clocks) ?? error
                    }
                    scale *= 3
                }
            }
        }
    }
}
