import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The limit of the decompression ratio.
    static let compressionRatios: [ConformanceCheck] = [
        ConformanceCheck(
            "A body that exceeds the decompression ratio is refused",
            needs: [.network, .decompressionRatio]
        ) {
            subject in
            let bomb = Compressed.bomb
            let peer = try ScriptedServer.responding { _ in .ok(bytes: bomb, headers: [("Content-Encoding", "gzip")]) }
            let request = try HTTP.Request(url: peer.url())
            var options = HTTP.Options()
            options.limits.decompressionRatio = 100
            guard
                case .decompressionRatio(limit: 100, _) = try await subject.client().refusal(request, options: options)
            else {
                throw ConformanceFailure("expected a refusal for the ratio")
            }
            options.limits.decompressionRatio = 2000
            try expectEqual(
                try await subject.client().success(request, options: options).value.count,
                Compressed.bombSize,
                "bytes"
            )
        },
        ConformanceCheck("A decompression ratio below one is refused") { subject in
            do {
                _ = try subject.stack { $0.options.limits.decompressionRatio = 0 }
                throw ConformanceFailure("The configuration was accepted")
            } catch Network.ConfigurationError.invalid {}
        },
    ]
}
