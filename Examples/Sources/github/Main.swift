import CurlStack
import Dispatch
import ExampleSupport
import Foundation
import NetworkStack
import NetworkStackTesting
import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client of GitHub's API: endpoints, errors, models, retries and authentication, the same on every stack.
@main
enum Main {
    static func main() async {
        await example("github") {
            _ = try FakeGitHub.server.get()
            let stacks = try Backends.both()
            print("  on CurlStack")
            try await tour(stacks.curl)
            print("  on URLSessionStack")
            try await tour(stacks.urlSession)
            print("  on URLSessionStack, with a session of one's own")
            let network = Network.URLSessionNetworkStack(
                retryQueue: DispatchQueue(label: "example.network.retry-queue")
            )
            network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
            try await tour(network)
            network.finishFetchesAndInvalidateSession()
            print("  with pinned keys")
            try await pinned()
        }
    }

    private static func tour<Stack: HTTPNetworkStack<Data>>(_ network: Stack) async throws {
        // The payload and the response it came with.
        let payload = try await network.fetch(resource: .github(endpoint: .repo(owner: "Mindera", name: "Alicerce")))
        print("    \(payload.value.count) bytes, status \(payload.response.httpResponse?.status ?? 0)")

        // A model, called back.
        let repo: GitHubRepo = try await withCheckedThrowingContinuation { continuation in
            network.fetchAndDecode(
                resource: .github(endpoint: .repo(owner: "Mindera", name: "Alicerce")),
                decoding: .json(GitHubRepo.self)
            ) { result in
                continuation.resume(with: result.map(\.value))
            }
        }
        print("    \(repo.fullName) has \(repo.stars) stars")

        // The API's own error.
        do {
            _ = try await network.fetch(resource: .github(endpoint: .repo(owner: "Mindera", name: "Nothing")))
            throw Surprise("there is a repository called Nothing")
        } catch let error as Stack.FetchError {
            guard case .http(let status, let apiError as GitHubAPIError, _) = error else { throw error }
            print("    \(status): \(apiError)")
        }

        // Retries with a growing delay, until they add up.
        let policy = Stack.Resource.RetryPolicy.backoff(
            .exponential(baseDelay: 0.01, scale: { delay, retry in delay * Double(retry) }, until: .maxDelay(0.04))
        )
        let before = FakeGitHub.count("/repos/Mindera/Flaky")
        let flaky = try await network.fetchAndDecode(
            resource: .github(endpoint: .repo(owner: "Mindera", name: "Flaky"), interceptors: [policy]),
            decoding: .json(GitHubRepo.self)
        )
        let attempts = FakeGitHub.count("/repos/Mindera/Flaky") - before
        try expect(attempts == 3, "it took \(attempts) attempts")
        print("    \(flaky.value.name) came at attempt \(attempts)")

        try await collaborators(network)
    }

    /// What nobody may see who is not authenticated.
    private static func collaborators<Stack: HTTPNetworkStack<Data>>(_ network: Stack) async throws {
        let endpoint = GitHubEndpoint.repoCollaborators(owner: "Mindera", name: "Alicerce", affiliation: .all)
        let client = OAuth2Client()

        // An authenticator that does not react: the stale token is refused.
        do {
            let authenticator = GitHubAuthenticator(client: client)
            _ = try await network.fetch(resource: .github(endpoint: endpoint, interceptors: [authenticator.adapted()]))
            throw Surprise("a stale token was accepted")
        } catch let error as Stack.FetchError {
            try expect(error.statusCode == .unauthorized, "it failed with \(error)")
        }

        // The client itself, which gets a fresh one.
        let collaborators = try await network.fetchAndDecode(
            resource: .github(endpoint: endpoint, interceptors: [client.adapted()]),
            decoding: .json([GitHubRepoCollaborator].self)
        )
        print("    collaborators: \(collaborators.value.map(\.login))")
    }
}
