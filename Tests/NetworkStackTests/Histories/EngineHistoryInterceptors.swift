import FoundationEssentials
import NetworkStackTesting

@testable import NetworkStack

/// Takes part in one fetch at random, and counts its attempts.
struct EngineHistoryInterceptor: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    private static let mostAttempts = 4
    let world: EngineHistoryWorld
    let fetch: EngineHistoryFetch

    func interceptMakeRequestResult(
        _ result: Result<HTTP.Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        let refuses = world.chance(12)
        if refuses { fetch.allow("noRequest") }
        world.maybeCancel()
        return world.call { handler(refuses ? .failure(CancellationError()) : result) }
    }

    func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        fetch.change { $0.scheduled.append(identifier) }
        world.maybeCancel()
    }

    func interceptBody(
        _ data: Data,
        response: HTTP.Response,
        request: HTTP.Request,
        handler: @escaping BodyHandler
    ) -> any Cancelable {
        let refuses = world.chance(6)
        if refuses { fetch.allow("interceptor") }
        world.maybeCancel()
        return world.call { handler(refuses ? .failure(CancellationError()) : .success(data)) }
    }

    func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: HTTP.Request,
        data: Data,
        response: HTTP.Response,
        retryState: Retry.State
    ) {
        fetch.change { $0.ended.append(identifier) }
        world.maybeCancel()
    }

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        fetch.change { $0.ended.append(identifier) }
        // An end without a vote is reported by the completion, and is final.
        if (error as? any HTTPError)?.isFinal ?? true || fetch.isEnded { return .none }
        world.maybeCancel()
        guard retryState.attemptCount < Self.mostAttempts else { return .none }
        switch world.number(below: 8) {
        case 0...2: return .none
        case 3, 4: return .retry
        case 5:
            fetch.allow("retry")
            return world.chance(2) ? .noRetry(.retries(1)) : .retryAfter(-1)
        default: return .retryAfter(Double(1 + world.number(below: 100)))
        }
    }
}

/// Runs around the attempts of one fetch, in their tasks.
struct EngineHistoryHTTPInterceptor: HTTPInterceptor {
    let world: EngineHistoryWorld
    let fetch: EngineHistoryFetch

    func intercept(_ request: HTTP.Request, next: HTTP.Next) async throws -> HTTP.Reply {
        let attempt = fetch.attemptNumber
        func note(_ stage: EngineHistoryFetch.Intercepting) { fetch.change { $0.intercepting[attempt] = stage } }
        note(.running)
        defer { note(.ended) }
        switch world.number(below: 12) {
        case 0:
            fetch.allow("noRequest")
            throw CancellationError()
        case 1: return reply(HTTP.Response(status: .ok, url: request.url))
        default: break
        }
        note(.waiting)
        let result = await Result { () async throws in try await next(request) }
        note(.running)
        let answer = try result.get()
        switch world.number(below: 8) {
        case 0:
            fetch.allow("interceptor")
            throw CancellationError()
        case 1: return reply(answer.response)
        default: return answer
        }
    }

    /// A reply whose body is not the server's.
    private func reply(_ response: HTTP.Response) -> HTTP.Reply {
        let body = Data("replaced \(world.number(below: 100))".utf8)
        fetch.allow("success")
        fetch.change { state in
            state.carried.append(body)
            state.replacement = body
        }
        return HTTP.Reply(response, body: body)
    }
}

/// A token authenticator that notes which fetches wait for a token.
struct EngineHistoryAuthenticator: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    let world: EngineHistoryWorld
    let fetch: EngineHistoryFetch
    let base: TokenAuthenticator
    var interceptsBody: Bool { false }

    func interceptMakeRequestResult(
        _ result: Result<HTTP.Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        let wait = world.awaitToken(fetch)
        return base.interceptMakeRequestResult(result) { authenticated in
            world.endWait(wait) { handler(authenticated) }
        }
    }

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        base.interceptFailedTask(
            withIdentifier: identifier,
            request: request,
            data: data,
            response: response,
            error: error,
            retryState: retryState
        )
    }
}
