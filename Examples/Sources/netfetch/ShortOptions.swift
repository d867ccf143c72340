/// Takes apart short options that are written together, as curl does: `-sSXPOST` is `-s -S -X POST`.
enum ShortOptions {
    private static let flags = "GILkOifsSvh"
    private static let valued = "XHdFTAeumExUbcoD"

    /// The arguments with every option on its own. What names no option stays as it is, for the parser to complain about.
    static func apart(_ arguments: [String]) -> [String] {
        var apart: [String] = []
        var isValue = false
        for (index, argument) in arguments.enumerated() {
            if argument == "--", !isValue { return apart + arguments[index...] }
            guard !isValue, argument.hasPrefix("-"), !argument.hasPrefix("--"), let words = words(of: argument) else {
                apart.append(argument)
                isValue = false
                continue
            }
            apart += words.options
            isValue = words.lacksValue
        }
        return apart
    }

    private static func words(of argument: String) -> (options: [String], lacksValue: Bool)? {
        var options: [String] = []
        var rest = argument.dropFirst()
        while let letter = rest.popFirst() {
            if flags.contains(letter) {
                options.append("-\(letter)")
            } else if valued.contains(letter) {
                return (options + ["-\(letter)"] + (rest.isEmpty ? [] : [String(rest)]), rest.isEmpty)
            } else {
                return nil
            }
        }
        return (options, false)
    }
}
