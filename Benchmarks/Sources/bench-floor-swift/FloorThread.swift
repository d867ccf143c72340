import BenchmarkClients
import Floor
import FoundationEssentials

/// Starts the floor's thread with the program's settings.
///
/// - Throws: ``UnexpectedResponse`` if it does not start.
func startFloor(_ ended: floor_ended, turned: floor_turned) throws {
    guard floor_start(CommandLine.argc, CommandLine.unsafeArgv, ended, turned) else {
        throw UnexpectedResponse("The floor's thread did not start.")
    }
}

/// Takes the content of a fetch over.
func take(_ content: UnsafeMutablePointer<CChar>?, _ count: Int, _ isWhole: Bool) -> Result<Data, any Error> {
    let content = content.map { Data(bytesNoCopy: $0, count: count, deallocator: .free) } ?? Data()
    guard isWhole else { return .failure(UnexpectedResponse("A fetch was not whole, after \(count) bytes.")) }
    return .success(content)
}
