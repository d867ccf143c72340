import NetworkStack
import Testing

@testable import CurlStack

@Suite("The age of resolved addresses")
struct AddressAgeTests {
    private func instant(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: UInt64(seconds) * 1_000_000_000)
    }

    @Test("one transfer in fifteen seconds drops old names; others use the cache")
    func rest() {
        let age = AddressAge(.seconds(60), mayRest: true)
        #expect(age.next(at: instant(100)) == 45)
        // It has not ended, so no address was dropped.
        #expect(age.next(at: instant(101)) == 45)
        // It shared its connection, or never had one: libcurl dropped no address.
        age.ended(with: 45, aloneOnConnection: false, at: instant(120))
        #expect(age.next(at: instant(121)) == 45)
        age.ended(with: 45, aloneOnConnection: true, at: instant(130))
        #expect(age.next(at: instant(144)) == AddressAge.any)
        age.ended(with: AddressAge.any, aloneOnConnection: true, at: instant(144))
        #expect(age.next(at: instant(145)) == 45)
    }

    @Test("every transfer gets a short age", arguments: [0, 1, 59])
    func short(seconds: Int) {
        let age = AddressAge(.seconds(seconds), mayRest: true)
        age.ended(with: seconds, aloneOnConnection: true, at: instant(100))
        #expect(age.next(at: instant(101)) == seconds)
    }

    @Test("every transfer gets the age if libcurl would otherwise drop all names")
    func restless() {
        let age = AddressAge(.seconds(60), mayRest: false)
        age.ended(with: 60, aloneOnConnection: true, at: instant(100))
        #expect(age.next(at: instant(101)) == 60)
    }
}
