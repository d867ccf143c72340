import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// nginx with one worker, and the peer for what nginx has not, both on the servers' core.
final class Servers {
    private let files: BenchmarkFiles
    private var processes: [Process] = []
    private var ports: [UInt16] = []
    private var peerPort: UInt16 = 0

    init(files: BenchmarkFiles, programs: Programs) throws {
        self.files = files
        ports = try (0..<3).map { _ in try Self.freePort() }
        try startPeer(programs.path(of: "bench-peer"))
        try startNginx()
    }

    deinit { stop() }

    func stop() {
        for process in processes where process.isRunning { process.terminate() }
        for process in processes { process.waitUntilExit() }
        processes = []
    }

    func url(_ server: Workload.Server, _ path: String) -> String {
        switch server {
        case .plain: "http://127.0.0.1:\(ports[0])\(path)"
        case .tls: "https://localhost:\(ports[1])\(path)"
        case .tlsHTTP2: "https://localhost:\(ports[2])\(path)"
        case .peer: "http://127.0.0.1:\(peerPort)\(path)"
        }
    }

    /// How many connections the server has taken so far, this question's own included (nginx's `stub_status`).
    func connectionCount(_ server: Workload.Server) -> Int? {
        let status = url(server == .peer ? .peer : .plain, "/status")
        let answer = try? Shell.run(["curl", "-s", "--max-time", "5", status]).text
        return answer?.split(separator: "\n").dropFirst(2).first?.split(separator: " ").first.flatMap { Int($0) }
    }

    private func startPeer(_ program: String) throws {
        let pipe = Pipe()
        try start([program], output: pipe)
        let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Shell.Failure(description: "The peer did not start.")
        }
        peerPort = port
    }

    private func startNginx() throws {
        let configuration = files.folder.appending(path: "nginx.conf")
        try Data(nginxConfiguration.utf8).write(to: configuration)
        let command = ["nginx", "-p", files.folder.path, "-c", configuration.path]
        try start(command, output: nil)
        for _ in 0..<100 {
            if connectionCount(.plain) != nil { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw Shell.Failure(description: "nginx did not start: see \(files.folder.path)/error.log")
    }

    private func start(_ command: [String], output: Pipe?) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // They end with this program, whatever ends it.
        process.arguments =
            ["PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? ""):/usr/sbin:/sbin"]
            + ["setpriv", "--pdeathsig", "TERM", "taskset", "-c", "\(Cores.shared.server)"] + command
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        processes.append(process)
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard result == 0 else { throw Shell.Failure(description: "The system has no free port.") }
        return UInt16(bigEndian: address.sin_port)
    }

    private var nginxConfiguration: String {
        let folder = files.folder.path
        return """
            daemon off;
            master_process off;
            pid "\(folder)/nginx.pid";
            error_log "\(folder)/error.log" warn;
            worker_rlimit_nofile 65536;
            events { worker_connections 16384; multi_accept on; }
            http {
              access_log off;
              client_body_temp_path "\(folder)/body";
              proxy_temp_path "\(folder)/proxy";
              fastcgi_temp_path "\(folder)/fastcgi";
              uwsgi_temp_path "\(folder)/uwsgi";
              scgi_temp_path "\(folder)/scgi";
              keepalive_requests 1000000000;
              keepalive_timeout 300;
              http2_max_concurrent_streams 1024;
              sendfile on;
              tcp_nodelay on;
              open_file_cache max=100;
              default_type application/octet-stream;
              types { application/json json; }
              ssl_certificate "\(folder)/server.pem";
              ssl_certificate_key "\(folder)/server.key";
              ssl_session_cache off;
              ssl_session_tickets off;
              root "\(files.served.path)";
              server {
                listen 127.0.0.1:\(ports[0]) backlog=8192;
                location = /status { stub_status; }
              }
              server {
                listen 127.0.0.1:\(ports[1]) ssl backlog=8192;
                location /close/ { alias "\(files.served.path)/"; keepalive_timeout 0; }
              }
              server { listen 127.0.0.1:\(ports[2]) ssl http2 backlog=8192; }
            }

            """
    }
}
