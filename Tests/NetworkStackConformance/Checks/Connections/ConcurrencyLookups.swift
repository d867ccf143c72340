import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// One slow DNS lookup delays no other fetch.
    static let lookingUp: [ConformanceCheck] = [
        ConformanceCheck("One hanging name lookup delays no other transfer", needs: [.network, .heldLookups]) {
            subject in
            let lookups = try HeldLookups()
            let peer = try subject.serve { .ok($0.path) }
            let stack = try subject.stack()
            let hanging = try stack.observe("http://\(lookups.name)/")
            try await lookups.began()
            for number in 1...20 {
                let text = try await stack.text(peer.url("/\(number)"), within: .seconds(10))
                try expectEqual(text, "/\(number)", "another transfer")
            }
            try expect(!hanging.isCompleted, "The lookup did not hang: the check proves nothing")
            hanging.cancel()
            try await hanging.onlyOutcome(within: .seconds(10)).expectCancelled()
            try expectEqual(
                try await stack.text(peer.url("/after"), within: .seconds(10)),
                "/after",
                "after the cancel"
            )
        },
        ConformanceCheck("A cancel during a name lookup ends the fetch at once", needs: [.network, .heldLookups]) {
            subject in
            let lookups = try HeldLookups()
            let hanging = try subject.stack().observe("http://\(lookups.name)/")
            try await lookups.began()
            hanging.cancel()
            try await hanging.onlyOutcome(within: .seconds(10)).expectCancelled()
        },
        ConformanceCheck(
            "A connect timeout during a name lookup fires on time",
            needs: [.network, .heldLookups, .connectTimeout]
        ) {
            subject,
            scale in
            let lookups = try HeldLookups()
            let options = HTTP.Options.clocks(connect: .milliseconds(300) * scale)
            let stack = try subject.stack()
            let hanging = try stack.observe("http://\(lookups.name)/", options: options)
            try await hanging.onlyOutcome().expectTimeout(.connect, during: subject.connecting(.resolving))
            try expect(
                hanging.elapsed >= .milliseconds(300) * scale,
                "The timeout fired early, after \(hanging.elapsed)"
            )
            try expect(hanging.elapsed < .seconds(12), "The timeout fired late, after \(hanging.elapsed)")
            let peer = try subject.serve { .ok($0.path) }
            try expectEqual(
                try await stack.text(peer.url("/after"), within: .seconds(10)),
                "/after",
                "after the timeout"
            )
        },
    ]
}
