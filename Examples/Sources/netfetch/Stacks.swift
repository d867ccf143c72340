import CurlStack
import Foundation
import NetworkStack
import Synchronization
import URLSessionStack

/// What a command keeps from one fetch to the next, on any stack.
struct Memory: Sendable {
    var cookies: HTTP.CookieJar?
    var strictTransport: HTTP.StrictTransportHosts?
}

/// The stacks in use: one per choice, made when first needed and kept.
final class Stacks: Sendable {
    private struct State {
        var carriers: [StackChoice: Carrier] = [:]
        var order: [StackChoice] = []
    }

    /// A batch could need any number of them; the one that was not used for longest is released, once its fetches have ended.
    private static let limit = 64

    private let width: Int
    private let memory: Memory
    private let recording: Recording?
    private let state = Mutex(State())

    /// Makes no stack yet.
    ///
    /// - Parameters:
    ///   - width: How many fetches run at once to one host.
    ///   - memory: What every stack keeps.
    ///   - recording: What observes every fetch.
    init(width: Int, memory: Memory = Memory(), recording: Recording? = nil) {
        self.width = width
        self.memory = memory
        self.recording = recording
    }

    /// The stack of a choice.
    ///
    /// - Throws: A ``Failure`` if it cannot be made.
    func carrier(for choice: StackChoice) throws(Failure) -> Carrier {
        do {
            return try state.withLock { state throws(Failure) in
                state.order.removeAll { $0 == choice }
                let carrier: Carrier
                if let kept = state.carriers[choice] { carrier = kept } else { carrier = try make(choice) }
                state.carriers[choice] = carrier
                state.order.append(choice)
                if state.order.count > Self.limit { state.carriers[state.order.removeFirst()] = nil }
                return carrier
            }
        }
    }

    private func make(_ choice: StackChoice) throws(Failure) -> Carrier {
        var configuration = try choice.configuration()
        configuration.connections.perHost = width
        configuration.cookies = memory.cookies
        configuration.strictTransport = memory.strictTransport
        do {
            return switch choice.backend {
            case .curl:
                Carrier(try Network.CurlNetworkStack(configuration: configuration), configuration, recording)
            case .urlsession:
                Carrier(try Network.URLSessionNetworkStack(configuration: configuration), configuration, recording)
            }
        } catch {
            throw choice.failure(of: error)
        }
    }
}
