import BenchmarkClients

@main
struct Main {
    static func main() {
        ClientProgram.run([
            "curl-stack": CurlStackClient.self,
            "curl-stack-callback": CurlStackCallbackClient.self,
        ])
    }
}
