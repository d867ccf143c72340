import BenchmarkClients

@main
struct Main {
    static func main() async {
        await ClientProgram.run([
            "curl-stack": CurlStackClient.self,
            "curl-stack-callback": CurlStackCallbackClient.self,
            "decode-only": DecodeOnlyClient.self,
        ])
    }
}
