import BenchmarkClients

/// The least that a Swift client on libcurl costs: the floor's transfers on a thread of their own, and callers who wait for
/// them elsewhere. What it has beyond the floor is what any wrapper has; what it lacks is everything a library is for.
@main
struct Main {
    static func main() {
        ClientProgram.run(["libcurl-await": AwaitedFloor.self, "libcurl-callback": CalledBackFloor.self])
    }
}
