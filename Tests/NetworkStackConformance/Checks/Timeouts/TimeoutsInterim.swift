import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Timeouts that informational responses do not extend.
    static let interimTimeouts: [ConformanceCheck] = [
        ConformanceCheck("Informational responses do not extend the first-byte timeout", needs: [.network]) {
            subject,
            scale in
            let hint = ScriptedServer.Step.send("HTTP/1.1 103 Early Hints\r\n\r\n")
            let server = try ScriptedServer { _ in [.receiveHead, .repeat([hint, .pause(.milliseconds(100) * scale)])] }
            let options = HTTP.Options.clocks(firstByte: .milliseconds(500) * scale, total: .seconds(5) * scale)
            try await expectTimeout(
                subject,
                server,
                options,
                .firstByte,
                during: [.waiting],
                after: .milliseconds(500) * scale
            )
        },
        ConformanceCheck(
            "Informational responses after an upload do not extend the first-byte timeout",
            needs: [.network, .expectContinue]
        ) { subject, scale in
            let hint = ScriptedServer.Step.send("HTTP/1.1 103 Early Hints\r\n\r\n")
            let goOn = ScriptedServer.Step.send("HTTP/1.1 100 Continue\r\n\r\n")
            let stream = HTTP.Body.stream(.init { AsyncStream([Data("content".utf8)]) })
            for (body, wait) in [(stream, nil), (.bytes(Data("content".utf8)), Duration.seconds(5) * scale)] {
                let first = wait == nil ? [] : [goOn]
                let server = try ScriptedServer { _ in
                    [.receiveHead] + first + [.receiveBody, .repeat([hint, .pause(.milliseconds(100) * scale)])]
                }
                var options = HTTP.Options.clocks(firstByte: .milliseconds(500) * scale, total: .seconds(5) * scale)
                options.expectContinue = wait
                let observation = try subject.stack().observe(
                    server.url(),
                    method: .POST,
                    body: body,
                    options: options
                )
                try await observation.onlyOutcome().expectTimeout(.firstByte, during: [.waiting])
                try expect(
                    observation.elapsed >= .milliseconds(500) * scale,
                    "The timeout fired early, after \(observation.elapsed)"
                )
            }
        },
    ]
}
