import CCurl
import Glibc
import NetworkStack
import Testing

@testable import CurlStack

@Suite("Mailbox, Poller and QueueDeadlines")
struct MailboxTests {
    @Test("a command posted before the wait keeps the loop from waiting")
    func noLostCommand() {
        let mailbox = Mailbox()
        #expect(mailbox.prepareToWait())
        var commands: [Mailbox.Command] = []
        mailbox.takeAll(into: &commands)
        mailbox.post(.stop)
        #expect(!mailbox.prepareToWait())
        mailbox.takeAll(into: &commands)
        #expect(commands.count == 1)
    }

    @Test("posting wakes a loop that waits, once")
    func wakes() {
        let mailbox = Mailbox()
        let poller = Poller(waker: mailbox.waker)
        #expect(mailbox.prepareToWait())
        mailbox.post(.stop)
        mailbox.post(.stop)
        var events: [Poller.Event] = []
        let began = MonotonicTime.now.milliseconds
        poller.wait(milliseconds: 20_000, into: &events)
        #expect(MonotonicTime.now.milliseconds - began < 10_000)
        poller.wait(milliseconds: 0, into: &events)
        #expect(events.isEmpty)
    }

    @Test("commands for a running loop do not wake it, and prevent its next wait")
    func comesBack() {
        let mailbox = Mailbox()
        let poller = Poller(waker: mailbox.waker)
        var events: [Poller.Event] = []
        #expect(mailbox.prepareToWait())
        poller.wait(milliseconds: 0, into: &events)
        mailbox.endWaiting()
        mailbox.post(.stop)
        var woken = pollfd(fd: mailbox.waker.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&woken, 1, 0) == 0)
        #expect(!mailbox.prepareToWait())
    }

    @Test("a request of libcurl for a connection without a socket is ignored")
    func noSocket() throws {
        let multi = try #require(MultiHandle(poller: Poller(waker: Waker()), connections: ConnectionTable()))
        for what in [CURL_POLL_OUT, CURL_POLL_REMOVE] {
            let context = Unmanaged.passUnretained(multi).toOpaque()
            #expect(Callbacks.socket(nil, -1, what, context, nil) == 0)
        }
        withExtendedLifetime(multi) {}
    }

    @Test("events of a closed socket do not reach its successor")
    func successors() {
        let waker = Waker()
        let poller = Poller(waker: Waker())
        poller.opened(waker.descriptor)
        poller.watch(waker.descriptor, for: 0, reads: true, writes: false)
        waker.wake()
        var events: [Poller.Event] = []
        poller.wait(milliseconds: 20_000, into: &events)
        #expect(events.map(\.descriptor) == [waker.descriptor])
        #expect(events.allSatisfy { poller.isCurrent($0) })
        poller.closed(waker.descriptor)
        #expect(!events.contains { poller.isCurrent($0) })
        poller.opened(waker.descriptor)
        poller.watch(waker.descriptor, for: 0, reads: true, writes: false)
        #expect(!events.contains { poller.isCurrent($0) })
    }

    @Test("a paused socket reports no input until it is resumed, but reports output")
    func heldBack() {
        let waker = Waker()
        let poller = Poller(waker: Waker())
        var events: [Poller.Event] = []
        func ready() -> [Bool] {
            events = []
            poller.wait(milliseconds: 0, into: &events)
            return events.map(\.canRead)
        }
        poller.opened(waker.descriptor)
        poller.watch(waker.descriptor, for: 0, reads: true, writes: false)
        waker.wake()
        #expect(ready() == [true])
        poller.holdBack(waker.descriptor, true, for: 0)
        // Earlier events no longer count.
        #expect(!events.contains { poller.isCurrent($0) })
        #expect(ready().isEmpty)
        poller.watch(waker.descriptor, for: 0, reads: true, writes: true)
        #expect(ready() == [false])
        poller.holdBack(waker.descriptor, false, for: 0)
        #expect(ready() == [true])
        // The next socket with the same number is not paused.
        poller.holdBack(waker.descriptor, true, for: 0)
        poller.opened(waker.descriptor)
        poller.watch(waker.descriptor, for: 0, reads: true, writes: false)
        #expect(ready() == [true])
    }

    @Test(
        "a connection is silent after a look until something arrives, and not beside active ones"
    )
    func silence() throws {
        let poller = Poller(waker: Waker())
        var events: [Poller.Event] = []
        let pairs = try (0..<3).map { _ in
            var pair: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            return (own: pair[0], peer: pair[1])
        }
        func send(_ index: Int) { #expect(write(pairs[index].peer, "x", 1) == 1) }
        func silent() -> [Bool] { pairs.map { poller.isSilent($0.own) } }
        func reads(_ index: Int, _ reads: Bool) { poller.watch(pairs[index].own, for: 0, reads: reads, writes: false) }
        for (index, pair) in pairs.enumerated() {
            poller.opened(pair.own)
            poller.connected(pair.own)
            reads(index, true)
        }
        #expect(silent() == [false, false, false], "no connection is idle")
        send(0)
        for index in pairs.indices { reads(index, false) }
        #expect(silent() == [false, true, true], "the first look covers all connections")
        send(1)
        poller.wait(milliseconds: 0, into: &events)
        #expect(events.isEmpty)
        #expect(silent() == [false, false, true], "the wait reports what has arrived since")
        // A connection whose bytes were read is silent again after its next use.
        var byte: UInt8 = 0
        for index in 0...1 {
            #expect(read(pairs[index].own, &byte, 1) == 1)
            reads(index, true)
            reads(index, false)
        }
        poller.wait(milliseconds: 0, into: &events)
        #expect(silent() == [true, true, true])
        // A connection that was used since must be looked at again.
        reads(2, true)
        reads(2, false)
        send(2)
        #expect(silent() == [true, true, false])
        // Nor of a socket that the kernel does not watch, such as one that has only connected.
        poller.opened(pairs[0].own)
        poller.watch(pairs[0].own, for: 0, reads: false, writes: true)
        poller.connected(pairs[0].own)
        reads(0, false)
        #expect(silent() == [false, true, false])
        for pair in pairs {
            close(pair.own)
            close(pair.peer)
        }
    }

    @Test("more idle connections than the batch size are looked at one by one")
    func crowd() throws {
        let waker = Waker()
        let poller = Poller(waker: Waker())
        poller.opened(waker.descriptor)
        poller.connected(waker.descriptor)
        for _ in 0...256 {
            poller.watch(waker.descriptor, for: 0, reads: true, writes: false)
            poller.watch(waker.descriptor, for: 0, reads: false, writes: false)
        }
        #expect(!poller.isSilent(waker.descriptor))
        poller.watch(waker.descriptor, for: 0, reads: true, writes: false)
        poller.watch(waker.descriptor, for: 0, reads: false, writes: false)
        #expect(poller.isSilent(waker.descriptor))
    }

    @Test("a name lookup on a reused descriptor of an unconnected socket is reported")
    func lookupsNumber() throws {
        let (poller, connections) = (Poller(waker: Waker()), ConnectionTable())
        let multi = try #require(MultiHandle(poller: poller, connections: connections))
        let transfer = ObjectIdentifier(connections)
        let number = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        multi.opened(number, for: transfer)
        multi.changed(number, reads: false, writes: true)
        multi.changed(number, reads: false, writes: false)
        for round in 1...3 {
            var pair: [Int32] = [0, 0]
            try #require(pipe(&pair) == 0)
            // libcurl closes it without a callback, and the number is reused: in one step, so that no other thread takes it.
            #expect(dup2(pair[0], number) == number)
            close(pair[0])
            multi.changed(number, reads: true, writes: false)
            if round == 2 { multi.forget([number], of: transfer) }
            var events: [Poller.Event] = []
            #expect(write(pair[1], "x", 1) == 1)
            poller.wait(milliseconds: 0, into: &events)
            #expect(events.count { poller.isCurrent($0) } == 1, "lookup \(round)")
            multi.changed(number, reads: false, writes: false)
            close(pair[1])
        }
        close(number)
        withExtendedLifetime(multi) {}
    }

    @Test("a closed mailbox accepts nothing and returns the commands left in it")
    func closed() {
        let mailbox = Mailbox()
        mailbox.post(.stop)
        #expect(mailbox.close().count == 1)
        #expect(!mailbox.post(.stop))
    }

    @Test("an ended wait is removed")
    func forgottenDeadlines() {
        let (stays, goes) = (Mailbox(), Mailbox())
        var deadlines = QueueDeadlines()
        for time in 1...10 { deadlines.insert(ObjectIdentifier(goes), at: .init(nanoseconds: UInt64(time))) }
        deadlines.insert(ObjectIdentifier(stays), at: .init(nanoseconds: 5))
        let gone = deadlines.popExpired(.init(nanoseconds: 1))
        #expect(gone?.id == ObjectIdentifier(goes))
        deadlines.keep { $0.id == ObjectIdentifier(stays) }
        #expect(deadlines.count == 1)
        #expect(deadlines.next == .init(nanoseconds: 5))
    }

    @Test("expired deadlines are removed although a wait is always pending")
    func passedDeadlines() throws {
        let waits = Mailbox()
        var deadlines = QueueDeadlines()
        for time in 0..<10_000 {
            deadlines.insert(ObjectIdentifier(waits), at: .init(nanoseconds: UInt64(time)))
            if time > 10 { _ = deadlines.popExpired(.init(nanoseconds: UInt64(time - 10))) }
        }
        let kept = try #require(
            Mirror(reflecting: deadlines).descendant("entries", "slots") as? [QueueDeadlines.Entry?]
        )
        #expect(kept.count < 200)
        #expect(deadlines.count == 11)
        #expect(deadlines.next == .init(nanoseconds: 9989))
    }

    @Test("deadlines expire in order, whatever the order they were added in")
    func deadlines() {
        final class Token {}
        let tokens = (0..<3).map { _ in Token() }
        let ids = tokens.map { ObjectIdentifier($0) }
        var deadlines = QueueDeadlines()
        for (id, time) in zip(ids, [30, 10, 20]) { deadlines.insert(id, at: .init(nanoseconds: UInt64(time))) }
        #expect(deadlines.next == .init(nanoseconds: 10))
        let step1 = deadlines.popExpired(.init(nanoseconds: 9))
        #expect(step1?.id == nil)
        let step2 = deadlines.popExpired(.init(nanoseconds: 25))
        #expect(step2?.id == ids[1])
        let step3 = deadlines.popExpired(.init(nanoseconds: 25))
        #expect(step3?.id == ids[2])
        let step4 = deadlines.popExpired(.init(nanoseconds: 25))
        #expect(step4?.id == nil)
        let step5 = deadlines.popExpired(.init(nanoseconds: 30))
        #expect(step5?.id == ids[0])
        #expect(deadlines.next == nil)
        withExtendedLifetime(tokens) {}
    }
}
