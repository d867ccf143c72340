import Foundation

/// The clients' programs: where they are, and how they are built. What cannot be built is named, with the reason.
struct Programs {
    /// The folder of this package.
    let package: URL
    /// Where everything that is no Swift package is built, and the run's files lie.
    let scratch: URL
    /// Another build of the curl stack's client, to compare with, under the same names with "-base".
    var base: URL?

    /// Where a client's program is: beside this one, or in its package.
    func path(of product: String, package name: String? = nil) -> String {
        if let name { return package.appending(path: "\(name)/.build/release/\(product)").path }
        let here = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: here ?? CommandLine.arguments[0]).deletingLastPathComponent().appending(path: product).path
    }

    /// Builds what a client needs beyond this package, or says why it cannot be had.
    func missing(for contestant: Contestant) throws -> String? {
        switch contestant.program {
        case .swift(let product, let name):
            if let name, let reason = try build(package: package.appending(path: name), product) { return reason }
            let isThere = FileManager.default.isExecutableFile(atPath: path(of: product, package: name))
            return isThere ? nil : "\(product) was not built: 'make bench' builds it"
        case .whole(let product):
            return try build(package: package, product, ["--static-swift-stdlib", "--scratch-path", wholeScratch.path])
        case .foreign(let command, let needs):
            for need in needs {
                let parts = need.split(separator: ":").map(String.init)
                if parts.count == 2 {
                    let isThere = try Shell.run(["/usr/bin/python3", "-c", "import \(parts[1])"]).status == 0
                    if !isThere { return "the Python module \(parts[1]) is missing (apt: python3-\(parts[1]))" }
                } else if !Shell.has(need) {
                    return "\(need) is not installed"
                }
            }
            if command[0].hasPrefix("go/") { return try buildGo() }
            if command[0].hasPrefix("rust/") { return try buildRust() }
            return nil
        case .wrk: return Shell.has("wrk") ? nil : "wrk is not installed"
        case .curl: return Shell.has("curl") ? nil : "curl is not installed"
        }
    }

    /// How a client is called in a workload, without its settings.
    func command(for contestant: Contestant, _ workload: Workload) -> [String] {
        switch contestant.program {
        case .swift(let product, let name):
            if let base, contestant.name.hasSuffix("-base") { return [base.path] }
            // C does not decode what Swift does: the floor has a form with the Swift clients' decoder behind it.
            if product == "bench-floor", workload.decodes { return [path(of: "bench-floor-decode")] }
            return [path(of: product, package: name)]
        case .whole(let product): return [wholeScratch.appending(path: "release/\(product)").path]
        case .foreign(let command, _):
            if command.count > 1 { return [command[0], package.appending(path: "Peers/python/\(command[1])").path] }
            return [scratch.appending(path: command[0]).path]
        case .wrk: return ["wrk"]
        case .curl: return ["curl"]
        }
    }

    /// Where programs with the Swift runtime in them are built.
    private var wholeScratch: URL { package.appending(path: ".build-static") }

    private func build(package: URL, _ product: String, _ flags: [String] = []) throws -> String? {
        let output = try Shell.run(
            [
                "swift", "build", "-q", "--disable-build-manifest-caching", "-c", "release", "--package-path",
                package.path,
                "--product", product,
            ] + flags
        )
        return output.status == 0 ? nil : "Swift could not build it: \((output.errorText + output.text).suffix(300))"
    }

    private func buildGo() throws -> String? {
        let folder = scratch.appending(path: "go")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let output = try Shell.run([
            "env", "GO111MODULE=off", "GOFLAGS=", "GOCACHE=\(folder.path)/cache", "go", "build", "-o",
            folder.appending(path: "bench-go").path, package.appending(path: "Peers/go/main.go").path,
        ])
        return output.status == 0 ? nil : "Go could not build it: \(output.errorText.prefix(300))"
    }

    /// Builds against the crates that Debian packages, if they are there, and against crates.io elsewhere.
    private func buildRust() throws -> String? {
        let folder = scratch.appending(path: "rust")
        let sources = folder.appending(path: "package")
        try? FileManager.default.removeItem(at: sources)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: package.appending(path: "Peers/rust"), to: sources)
        var command = ["env", "CARGO_TARGET_DIR=\(folder.path)", "cargo", "build", "--release", "--quiet"]
        if FileManager.default.fileExists(atPath: "/usr/share/cargo/registry") {
            command += [
                "--offline", "--config", "source.crates-io.replace-with='debian'", "--config",
                "source.debian.directory='/usr/share/cargo/registry'",
            ]
        }
        let output = try Shell.run(command, in: sources)
        return output.status == 0 ? nil : "cargo could not build it: \(output.errorText.prefix(300))"
    }
}
