import Foundation

/// What is served and sent, and the certificates of the run: made anew in a folder of the benchmark's own.
struct BenchmarkFiles {
    let folder: URL

    static let articleCount = 160

    /// The certificate authorities every client is given: the system's, as a real program has them, and the run's own.
    var authorities: URL { folder.appending(path: "authorities.pem") }
    var served: URL { folder.appending(path: "files") }
    var gibibyte: URL { served.appending(path: "1g") }

    /// The pins of the run's server, and one that is kept in reserve.
    var pins: [String] {
        let command = """
            openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der \
                | openssl dgst -sha256 -binary | openssl base64
            """
        let pin = (try? Shell.run(["sh", "-c", command], in: folder).text) ?? ""
        return [pin.trimmingCharacters(in: .whitespacesAndNewlines), String(repeating: "A", count: 43) + "="]
    }

    init(in folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: true)
        for (name, count) in [("1k", 1024), ("64k", 65536), ("256m", 256 << 20)] {
            let file = served.appending(path: name)
            if (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) == count { continue }
            try Data(repeating: UInt8(ascii: "x"), count: count).write(to: file)
        }
        try Data(Self.articles.utf8).write(to: served.appending(path: "articles.json"))
        // Sparse: the file system answers with zeroes and no disk is read.
        try Shell.check(["truncate", "-s", "1G", gibibyte.path])
        try makeCertificates()
    }

    /// About 20 KiB.
    private static var articles: String {
        let items = (0..<articleCount).map { index in
            """
            {"id":\(index),"title":"An article, number \(index), with a line of text","price":\(Double(index) * 1.25),\
            "isAvailable":\(index % 3 == 0),"tags":["paper","ink","size-\(index % 7)"]}
            """
        }
        return "[\(items.joined(separator: ","))]"
    }

    private func makeCertificates() throws {
        try Shell.check(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days", "30", "-subj", "/CN=Benchmark Authority", "-keyout", "ca.key", "-out", "ca.pem",
            ],
            in: folder
        )
        try Shell.check(
            [
                "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr",
            ],
            in: folder
        )
        try Data("subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n".utf8)
            .write(to: folder.appending(path: "server.ext"))
        try Shell.check(
            [
                "openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "30", "-extfile", "server.ext", "-out", "server.pem",
            ],
            in: folder
        )
        let system = (try? Data(contentsOf: URL(fileURLWithPath: "/etc/ssl/certs/ca-certificates.crt"))) ?? Data()
        try (system + Data(contentsOf: folder.appending(path: "ca.pem"))).write(to: authorities)
    }
}
