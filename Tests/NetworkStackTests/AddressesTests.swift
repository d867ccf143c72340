import Testing

@testable import NetworkStack

@Suite("Addresses")
struct AddressesTests {
    typealias Addresses = Network.Configuration.Addresses

    @Test(
        "of a name can be overridden",
        arguments: [
            ("a.test:80:127.0.0.1", "a.test", 80, ["127.0.0.1"]), ("A.test:80:[::1]", "a.test", 80, ["::1"]),
            ("*:443:::1,127.0.0.1", "*", 443, ["::1", "127.0.0.1"]),
        ]
    )
    func overrides(_ text: String, _ host: String, _ port: Int, _ addresses: [String]) throws {
        let override = try Addresses.HostOverride(text)
        #expect(override.host == host)
        #expect(override.port == port)
        #expect(override.addresses == addresses)
    }

    @Test(
        "for a name must be addresses",
        arguments: [
            "", "a.test", "a.test:80", "a.test:80:", "a.test:x:::1", "a.test:0:::1", "a.test:80:b.test", "a b:80:::1",
            "a.test:80:fe80::1%lo", "-a.test:80:::1",
        ]
    )
    func badOverrides(_ text: String) {
        #expect(throws: HTTP.InvalidValue.self) { try Addresses.HostOverride(text) }
    }

    @Test("are not overridden themselves if libcurl could not read that")
    func overriddenAddress() {
        #expect(throws: HTTP.InvalidValue.self) {
            try Addresses.HostOverride(host: "[::1]", port: 80, addresses: ["::2"])
        }
    }

    @Test(
        "to connect to can be others than the URL's",
        arguments: [
            ("a.test:80:b.test:81", "a.test", 80, "b.test", 81), ("::b.test:", nil, nil, "b.test", nil),
            (":::81", nil, nil, nil, 81), ("[::1]:80:[::2]:81", "[::1]", 80, "[::2]", 81),
            (":443:127.0.0.1:8443", nil, 443, "127.0.0.1", 8443),
        ] as [(String, String?, Int?, String?, Int?)]
    )
    func reroutes(_ text: String, _ host: String?, _ port: Int?, _ toHost: String?, _ toPort: Int?) throws {
        let expected = try Addresses.Reroute(host: host, port: port, toHost: toHost, toPort: toPort)
        #expect(try Addresses.Reroute(text) == expected)
    }

    @Test(
        "to connect to must be valid",
        arguments: [
            "", "a:b", "a.test:80:b.test", "a:x:b:1", "a:1:b:65536", "a:0:b:1", "a:1:b:1:c", "a:+1:b:1",
            "a:1:b:\(UInt.max)",
        ]
    )
    func badReroutes(_ text: String) {
        #expect(throws: HTTP.InvalidValue.self) { try Addresses.Reroute(text) }
    }

    @Test("that are invalid are refused with the configuration")
    func senseless() throws {
        let override = try Addresses.HostOverride("a.test:443:fd00::1")
        let changes: [(inout Addresses) -> Void] = [
            { $0.happyEyeballsDelay = .zero }, { $0.dnsCacheAge = .seconds(-1) }, { $0.unixSocket = .path("") },
            { $0.unixSocket = .path(String(repeating: "x", count: 108)) }, { $0.unixSocket = .path("a\0b") },
            { $0.unixSocket = .abstract(String(repeating: "x", count: 107)) }, { $0.interface = "" },
            { $0.interface = "eth0 up" }, { $0.interface = "a-name-that-is-too-long" },
            { $0.localAddress = "localhost" },
            {
                $0.interface = "lo"
                $0.localAddress = "127.0.0.1"
            },
            { $0.localPorts = 0...1 }, { $0.localPorts = 1...65536 },
            {
                $0.family = .ipv4
                $0.hostOverrides = [override]
            },
        ]
        for (number, change) in changes.enumerated() {
            var configuration = Network.Configuration()
            change(&configuration.addresses)
            #expect(throws: HTTP.InvalidValue.self, "change \(number)") { try configuration.validate() }
        }
        #expect(throws: Never.self) { try Network.Configuration().validate() }
    }

    @Test(
        "are read in every spelling",
        arguments: [
            ("1.2.3.4", [1, 2, 3, 4]), ("::", Array(repeating: 0, count: 16)),
            ("::1", Array(repeating: 0, count: 15) + [1]),
            ("[fe80::1%25lo]", [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1]),
            ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
            ("64:ff9b::1.2.3.4", [0, 0x64, 0xFF, 0x9B] + Array(repeating: 0, count: 8) + [1, 2, 3, 4]),
        ] as [(String, [UInt8])]
    )
    func spellings(_ text: String, _ bytes: [UInt8]) { #expect(IPAddress(text)?.bytes == bytes) }

    @Test(
        "are not read from other texts",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.+4", "a.b.c.d", ":", ":::", "1::2::3", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "12345::", "g::", "::1.2.3", "[1.2.3.4]", "[::1", "1:2:3:4:5:6:7::8",
            "1.2.3.4.x", "x.1.2.3.4", "1.2.3.4.", "00001::1", "+1::1", "1:2:3:4:5:1.2.3.4:8", "1.2.3.4::", "::1:",
        ]
    )
    func nonsense(_ text: String) { #expect(IPAddress(text) == nil) }
}
