import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The timeouts before a request is sent.
    static let timeoutsConnecting: [ConformanceCheck] = [
        ConformanceCheck("The connect timeout ends an unanswered attempt", needs: [.network, .connectTimeout]) {
            subject,
            scale in
            let port = try UnresponsivePort()
            let clock = Duration.milliseconds(300) * scale
            let options = HTTP.Options.clocks(connect: clock, idle: .seconds(20), total: .seconds(20))
            let observation = try subject.stack().observe("http://127.0.0.1:\(port.port)/", options: options)
            try await observation.onlyOutcome().expectTimeout(.connect, during: [.connecting])
            try expect(observation.elapsed >= clock, "The timeout fired early, after \(observation.elapsed)")
            try expect(observation.elapsed < .seconds(12), "The timeout fired late, after \(observation.elapsed)")
            guard subject.capabilities.supports(.endedAttempts) else { return }
            try await eventually("the attempt is cancelled", within: .seconds(10)) {
                try SocketTable.attempts(to: port) == 0
            }
        },
        ConformanceCheck(
            "A host's fourth address is reached after three refuse the connection",
            needs: [.network, .heldLookups]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("fourth") }
            let observation = try subject.stack().observe(
                server.url(host: HeldLookups.nameOfFourAddresses),
                options: .clocks(idle: .seconds(10))
            )
            try expectEqual(try await observation.onlyOutcome().text(), "fourth", "the body")
            try expect(observation.elapsed < .seconds(4), "The fetch took \(observation.elapsed)")
        },
        ConformanceCheck(
            "Unreachable addresses are skipped at once, like refusing ones",
            needs: [.network, .hostOverrides]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("last") }
            // TCP connects to no broadcast or multicast address: that fails before anything is sent.
            let nowhere = ["255.255.255.255", "224.0.0.1", "127.0.0.2"]
            func outcome(_ addresses: [String]) async throws -> Outcome {
                let stack = try subject.stack {
                    $0.addresses.hostOverrides = [
                        try .init(host: "a.test", port: Int(server.port), addresses: addresses)
                    ]
                }
                return try await stack.observe(server.url(host: "a.test"), options: .clocks(idle: .seconds(10)))
                    .onlyOutcome()
            }
            for addresses in [nowhere, nowhere.reversed(), nowhere + nowhere] {
                try expectEqual(try await outcome(addresses + ["127.0.0.1"]).text(), "last", "the body")
            }
            try await outcome(nowhere + ["224.0.0.2"]).expectFailure(.connect)
        },
        ConformanceCheck(
            "Timeouts leave time for a second address after an unresponsive first",
            needs: [.network, .connectTimeout, .heldLookups]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("second") }
            let port = try UnresponsivePort(server.port, on: .anotherV4)
            for options in [
                HTTP.Options.clocks(connect: .seconds(4)), .clocks(total: .seconds(4)), .clocks(idle: .seconds(5)),
            ] {
                let observation = try subject.stack().observe(
                    server.url(host: HeldLookups.nameOfTwoAddresses),
                    options: options
                )
                try expectEqual(try await observation.onlyOutcome().text(), "second", "the body")
                try expect(observation.elapsed >= .milliseconds(150), "The fetch did not wait for the first address")
            }
            withExtendedLifetime(port) {}
        },
        ConformanceCheck(
            "The connect timeout ends an unanswered TLS handshake",
            needs: [.network, .connectTimeout, .endedAttempts]
        ) {
            subject,
            scale in
            var serverOptions = ScriptedServer.Options(tls: try TestCertificates.shared().server)
            serverOptions.answersHandshake = false
            let server = try ScriptedServer(serverOptions) { _ in [] }
            let clock = Duration.milliseconds(300) * scale
            let options = HTTP.Options.clocks(connect: clock, idle: .seconds(20), total: .seconds(20))
            try await expectTimeout(
                subject,
                server,
                options,
                .connect,
                during: subject.connecting(.securing),
                after: clock
            )
            try expectEqual(server.connections[0].sentCount, 0, "bytes that the server had sent")
        },
        ConformanceCheck(
            "The connect timeout applies to fetches that await another's handshake",
            needs: [.network, .connectTimeout]
        ) {
            subject,
            scale in
            var serverOptions = ScriptedServer.Options(tls: try TestCertificates.shared().server)
            serverOptions.answersHandshake = false
            let server = try ScriptedServer(serverOptions) { _ in [] }
            let options = HTTP.Options.clocks(connect: .seconds(1) * scale, idle: .seconds(20), total: .seconds(20))
            let stack = try subject.stack()
            let observations = try (1...8).map { try stack.observe(server.url("/\($0)"), options: options) }
            for observation in observations {
                try await observation.onlyOutcome().expectTimeout(.connect, during: [.connecting, .securing])
                try expect(
                    observation.elapsed >= .seconds(1) * scale,
                    "The timeout fired early, after \(observation.elapsed)"
                )
                try expect(
                    observation.elapsed < .seconds(4) * scale,
                    "The timeout fired late, after \(observation.elapsed)"
                )
            }
        },
        ConformanceCheck(
            "A connect timeout is reported as before sending the request",
            needs: [.network, .connectTimeout]
        ) {
            subject in
            let port = try UnresponsivePort()
            let options = HTTP.Options.clocks(connect: .milliseconds(100))
            let outcome = try await subject.stack().observe("http://127.0.0.1:\(port.port)/", options: options)
                .onlyOutcome()
            guard case .failure(let error) = outcome else { throw ConformanceFailure("Saw \(outcome.summary)") }
            try expect(error.isRetryable, "isRetryable is false for \(error)")
        },
        ConformanceCheck(
            "Without a connect timeout, the idle timeout ends an unanswered attempt",
            needs: [.network]
        ) {
            subject,
            scale in
            let port = try UnresponsivePort()
            let options = HTTP.Options.clocks(idle: .milliseconds(400) * scale)
            let observation = try subject.stack().observe("http://127.0.0.1:\(port.port)/", options: options)
            let phases: Set<HTTP.Phase> =
                subject.capabilities.supports(.connectTimeout) ? [.connecting] : [.connecting, .sending, .waiting]
            try await observation.onlyOutcome().expectTimeout(.idle, during: phases)
            try expect(
                observation.elapsed >= .milliseconds(400) * scale,
                "The timeout fired early, after \(observation.elapsed)"
            )
            try expect(observation.elapsed < .seconds(12), "The timeout fired late, after \(observation.elapsed)")
        },
        ConformanceCheck("The connect timeout stops once the connection is open", needs: [.network, .connectTimeout]) {
            subject,
            scale in
            let late = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
            let server = try ScriptedServer.responding { _ in .steps([.pause(.seconds(1) * scale), late]) }
            let options = HTTP.Options.clocks(connect: .milliseconds(500) * scale)
            let observation = try subject.stack().observe(server.url(), options: options)
            try expectEqual(try await observation.onlyOutcome().text(), "slow", "the body")
        },
    ]
}
