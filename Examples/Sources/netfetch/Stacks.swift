import CurlStack
import Foundation
import NetworkStack
import Synchronization
import URLSessionStack

/// Which stack a fetch goes over. Fetches with equal choices share one, and its connections.
struct StackChoice: Hashable, Sendable {
    /// The backends.
    enum Backend: String, CaseIterable, Sendable {
        case curl
        case urlsession
    }

    var backend = Backend.curl
    /// A PEM file with the authorities to trust instead of the system's.
    var authorities: String?

    fileprivate func configuration(width: Int) -> Network.Configuration {
        var configuration = Network.Configuration()
        // The requests name it themselves, or leave it out.
        configuration.userAgent = nil
        configuration.connections.perHost = width
        if let authorities { configuration.tls.trustRoots = .file(path: authorities) }
        return configuration
    }
}

/// The stacks in use: one per choice, made when first needed and kept.
final class Stacks: Sendable {
    private struct State {
        var carriers: [StackChoice: Carrier] = [:]
        var order: [StackChoice] = []
    }

    /// A batch could ask for any number of them; the one that was not used for longest goes, once its fetches have ended.
    private static let limit = 64

    private let width: Int
    private let state = Mutex(State())

    /// Makes none yet.
    ///
    /// - Parameter width: How many fetches can be under way to one host.
    init(width: Int) { self.width = width }

    /// The stack of a choice.
    ///
    /// - Throws: A ``Failure`` if there can be none.
    func carrier(for choice: StackChoice) throws(Failure) -> Carrier {
        do {
            return try state.withLock { state throws(HTTP.Refusal) in
                state.order.removeAll { $0 == choice }
                let carrier: Carrier
                if let kept = state.carriers[choice] { carrier = kept } else { carrier = try make(choice) }
                state.carriers[choice] = carrier
                state.order.append(choice)
                if state.order.count > Self.limit { state.carriers[state.order.removeFirst()] = nil }
                return carrier
            }
        } catch {
            throw Failure(error)
        }
    }

    private func make(_ choice: StackChoice) throws(HTTP.Refusal) -> Carrier {
        let configuration = choice.configuration(width: width)
        return switch choice.backend {
        case .curl: Carrier(try Network.CurlNetworkStack(configuration: configuration))
        case .urlsession: Carrier(try Network.URLSessionNetworkStack(configuration: configuration))
        }
    }
}
