import ArgumentParser
import Foundation

/// The help text: the options as curl lists them, and what is not an option.
enum HelpText {
    /// Prints it. Answers with the exit code.
    static func show() -> Int32 { LocalFile.write(Data(text.utf8), to: STDOUT_FILENO) ? 0 : 23 }

    private static let text = """
        Usage: netfetch [options...] <url>...
               netfetch [options...] --batch < requests.jsonl
        \(options)

        \(discussion)

        """

    /// The options, from what the parser knows of them: a label and its help, on one line or two.
    private static let options: String = {
        var lines: [(label: String, help: String)] = []
        for line in Netfetch.helpMessage(columns: 1000).split(separator: "\n") where line.hasPrefix("  ") {
            let text = line.trimmingPrefix { $0 == " " }
            if text.hasPrefix("-") {
                let words = text.split(separator: " ")
                let label = words.prefix { $0.hasPrefix("-") || $0.hasPrefix("<") }
                lines.append((label.joined(separator: " "), words.dropFirst(label.count).joined(separator: " ")))
            } else if let last = lines.indices.last, lines[last].help.isEmpty {
                lines[last].help = String(text)
            }
        }
        return lines.map { label, help in
            let indented = (label.hasPrefix("--") ? "     " : " ") + label
            let padding = String(repeating: " ", count: max(34 - indented.count, 2))
            return indented + padding + help
        }.joined(separator: "\n")
    }()

    private static let discussion = """
        Redirects are followed, 20 at most. Content is asked for and delivered as it is, unless --compressed (with the stack
        urlsession, which always decompresses, identity is asked for instead). The environment's
        proxies are not used. No cookie is kept without -b or -c.

        \(json)

        \(batch)

        \(exitCodes)
        """

    private static let json = """
        JSON
        --json prints a JSON object on a line for every URL, as soon as it ends:
          url, effective_url (the one that answered last), status (null without a head), http_version ("1.1" or "2"), headers
          ([[name, value], ...]), body_bytes, body_sha256, hops (requests sent, redirects and retries included), reused
          (whether the connection was), timings (milliseconds from the start to each: queue, dns, connect, tls, first_byte,
          total), error (null, or kind (one of the words below), phase, code, message), pins (with --show-pins)
        """

    private static let batch = """
        BATCH
        Each line of standard input is a JSON object:
          id           any value; comes back with the answer
          url          the URL, with its scheme (required)
          method       default GET, or POST with a body
          headers      ["Name: value", ...]
          body_b64     the content in base64
          follow       redirects to follow; 0 for none, default 20 (--max-redirs)
          timeout      seconds for the whole fetch, default none (-m; 60 s of silence end a fetch that has none)
          decompress   true to ask for compressed content and decompress it; otherwise it is left as it comes
          cacert       a PEM file of authorities to trust instead of the system's
          insecure     true to verify no certificate (for tests)
          proxy        the proxy's URL; none is used otherwise
          pin          "sha256//...;sha256//..." of public keys; the server's own must be one of them
          user         "name:password" for Basic authentication
          http2        true for HTTP/2 (negotiated over https, by prior knowledge over http), false for HTTP/1.1;
                       default: HTTP/2 where https negotiates it
        What a line does not say is as the command line says: the options of how a fetch is carried out, of the connection
        and of what is remembered.
        Each is answered with a JSON object on a line, as soon as it ends, in whatever order:
          id, status (null without a head), headers ([[name, value], ...]), body_len, body_sha256,
          error (null, or one of the words below), detail (what happened, in words, or null), http (the version, such as
          "1.1" or "2"), url (the one that answered last), ms (milliseconds)
        With an error, status, headers and body tell what had come. A line that is no such object is answered with the error
        "other" ("url" if its URL is at fault) and its id, if it has one, else null. Keys that are not listed have no effect;
        they come back as "ignored". --parallel is how many are under way at once, 500 unless given. The exit code is 0 when
        every line was answered, 23 when an answer could not be written, and 26 when standard input could not be read.
        """

    private static let exitCodes =
        """
        EXIT CODES
        """ + "\n"
        + ([
            (0, "", "Every response came whole, whatever its status."),
            (2, "", "The command line makes no sense."),
            (22, "", "A status of 400 or above, with --fail."),
            (23, "", "The output could not be written."),
            (26, "", "A local file could not be read."),
        ] + Failure.Kind.allCases.map { ($0.exitCode, $0.rawValue, $0.meaning) })
        .sorted { $0.0 < $1.0 }
        .map { code, word, meaning in
            let number = String(repeating: " ", count: code < 10 ? 1 : 0) + "\(code)"
            return "  \(number)  \(word.isEmpty ? "" : word + ": ")\(meaning)"
        }
        .joined(separator: "\n")
        + "\nWith several URLs it is that of the first that failed."
}
