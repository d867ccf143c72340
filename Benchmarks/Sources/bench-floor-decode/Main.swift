import BenchmarkClients
import Floor
import FoundationEssentials

/// The floor of the JSON workload: C on libcurl, and the decoder of every other Swift client on what it fetched.
@main
struct Main {
    static func main() {
        let status = floor_run(CommandLine.argc, CommandLine.unsafeArgv) { content, count in
            guard let content = UnsafeMutableRawPointer(mutating: content) else { return -1 }
            let data = Data(bytesNoCopy: content, count: count, deallocator: .none)
            return (try? JSONDecoder().decode([Article].self, from: data).count) ?? -1
        }
        precondition(status == 0, "The floor ended with \(status).")
    }
}
