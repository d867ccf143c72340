import Dispatch
import ExampleSupport
import Foundation
import NetworkStack
import NetworkStackTesting
import Synchronization

/// The server of the example.
enum Server {
    static let scripted = Result {
        try ScriptedServer.responding { request in
            switch request.target {
            case "/users":
                .json(
                    #"[{"id":1,"username":"ada","email":"a@example.com"},{"id":2,"username":"alan","email":"b@example.com"}]"#
                )
            case "/users/10?userId=10": .json(#"{"id":10,"username":"grace","email":"c@example.com"}"#)
            default: .status(404)
            }
        }
    }

    /// Where it is; an app has its server's name here.
    static var host: HTTP.Host {
        guard let server = try? scripted.get() else { return "" }
        return HTTP.Host("127.0.0.1", port: Int(server.port))
    }
}

/// A service with an injected stack, its activity on an indicator, and the same app on JSON files before there is a server.
@main
enum Main {
    static func main() async {
        await example("users") {
            _ = try Server.scripted.get()
            let activity = NetworkActivity()
            let indicator = Indicator()
            activity.observe(on: .main) { indicator.note($0) }

            var configuration = Network.Configuration()
            configuration.interceptors = [activity]
            let stacks = try Backends.both(configuration)
            try await tour(UsersService(stack: stacks.curl))
            try await tour(UsersService(stack: stacks.urlSession))
            try await settled(activity)
            try expect(
                indicator.states.first == .show && indicator.states.last == .hide,
                "the indicator: \(indicator.states)"
            )
            print("  the indicator was shown and hidden \(indicator.states.count / 2) times")

            print("  without a server:")
            try await tour(UsersService(stack: try MockNetworkStack(files: MockFiles(bundle: .module))))
        }
    }

    private static func tour<Stack>(_ service: UsersService<Stack>) async throws {
        let users: [User] = try await withCheckedThrowingContinuation { continuation in
            service.request(.all) { (result: Result<[User], FetchAndDecodeError<Stack.FetchError>>) in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(with: result)
            }
        }
        let user: User = try await service.get(.get(userId: 10))
        try expect(users.count == 2 && user.username == "grace", "\(users), \(user)")
        print("  \(users.map(\.username)), and \(user.username)")
    }

    /// Lets the main queue tell what it still has to tell.
    private static func settled(_ activity: NetworkActivity) async throws {
        try expect(activity.state == .hide, "something is still being fetched")
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
}

/// An activity indicator, as far as this program has one.
final class Indicator: Sendable {
    private let noted = Mutex<[NetworkActivity.State]>([])

    var states: [NetworkActivity.State] { noted.withLock { $0 } }

    func note(_ state: NetworkActivity.State) { noted.withLock { $0.append(state) } }
}
