// A program that imports one product, NetworkStackConformance: the suite has checks, each with a name that no other has.
import NetworkStackConformance

let names = Set(ConformanceCheck.all.map(\.name))
guard !names.isEmpty, names.count == ConformanceCheck.all.count else { fatalError("Two checks have the same name.") }
print("NetworkStackConformance: \(names.count) checks")
