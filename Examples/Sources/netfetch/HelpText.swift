import Foundation

/// The help text: the options as curl lists them, and what is not an option.
enum HelpText {
    /// Prints a text. Returns the exit code.
    static func show(_ text: String) -> Int32 { LocalFile.write(Data(text.utf8), to: STDOUT_FILENO) ? 0 : 23 }

    static let text = """
        Usage: netfetch [options...] <url>...
               netfetch [options...] --batch < requests.jsonl
        \(options)

        \(differences)

        \(writeOut)

        \(trace)

        \(summary)

        \(batch)

        \(exitCodes)

        \(kinds)

        """

    private static let options = KnownOptions.shared.all.map { option in
        let names = (option.names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name }
        let label = names.joined(separator: ", ") + (option.takesValue ? " <\(option.valueName ?? "value")>" : "")
        let indented = (option.letter == nil ? "     " : " ") + label
        return indented + String(repeating: " ", count: max(34 - indented.count, 2)) + (option.abstract ?? "")
    }
    .joined(separator: "\n")

    private static let differences = """
        Options are curl's: short ones can be joined (-sSo file), long ones shortened while they are unique, flags turned off
        with --no-. Where netfetch differs: it follows redirects, 20 at most, unless --no-location; it does not use the
        environment's proxies; it does not wait for 100 Continue before an upload. A body is requested and delivered as it is
        unless --compressed (the stack urlsession always decompresses, and so asks for "identity"). No cookie is kept without
        -b or -c. --parallel 8 is --parallel --parallel-max 8.
        """

    private static let writeOut = """
        WRITE-OUT
        %{variable}, %header{name}, \\n, \\r, \\t and %% are replaced. %{stderr}, %{stdout}, %output{file} and %output{>>file} select
        where the text goes from there on; what follows %{onerror} is for failures alone. %{json} has all variables, and
        %{header_json} the fields of the last response. Secrets are not left out. The variables:
        \(wrapped(FetchReport.variables.map(\.name)))
        Times are in seconds from the start of the last attempt, redirects included, and 0 for what was not reached or is not
        measured (the stack urlsession shows no steps of a connection); time_total has all attempts. ssl_verify_result is 0 if
        the certificate was verified or there was none, else OpenSSL's verdict, or 1. size_request is the size over HTTP/1.1.
        Refused, as netfetch does not know them:
        \(wrapped(WriteOut.withoutCounterpart.keys.sorted()))
        """

    /// Words with commas, in indented lines.
    private static func wrapped(_ words: [String]) -> String {
        var lines = ["  "]
        for (index, word) in words.enumerated() {
            let piece = index + 1 < words.count ? word + "," : word
            if lines[lines.count - 1].count + piece.count > 118 { lines.append("  ") }
            let isFirst = lines[lines.count - 1].allSatisfy { $0 == " " }
            lines[lines.count - 1] += (isFirst ? "" : " ") + piece
        }
        return lines.joined(separator: "\n")
    }

    private static let trace = """
        TRACE
        --trace prints a timeline of each fetch on standard error when it ends: how long each step took, the slowest one, what
        came of earlier requests, the connection. curl's --trace FILE is another thing: it dumps the bytes. To see heads, use
        -v; bytes are not shown. --har writes the last 10,000 fetches as an HTTP archive, which the developer tools of browsers
        open. Failures are in both, with their times. A fetch that did not begin is in neither: its URL or an option is at
        fault. Both leave out bodies, user info, queries, and the values of secret header fields, as -v does. With -w,
        --summary, -i and -D, secrets are shown.
        """

    private static let summary = """
        SUMMARY
        --summary prints a JSON object on a line for every URL, as soon as it ends:
          url, effective_url (that of the last response), status (null without a head), http_version ("1.1" or "2"), headers
          ([[name, value], ...]), body_bytes, body_sha256, hops (requests sent, redirects and retries included), reused
          (whether the connection was), timings (milliseconds from the start to each: queue, dns, connect, tls, first_byte,
          total), error (null, or kind (see ERRORS), phase, code, message), pins (with --show-pins)
        """

    private static let batch = """
        BATCH
        Each line of standard input is a JSON object:
          id           any value; comes back with the result
          url          the URL, with its scheme (required)
          method       default GET, or POST with a body
          headers      ["Name: value", ...]
          body_b64     the body in base64
          follow       redirects to follow; 0 for none, default 20 (--max-redirs)
          timeout      seconds for the whole fetch, default none (-m; 60 s without a byte end a fetch that has none)
          decompress   true to ask for a compressed body and decompress it; otherwise it is left as it comes
          cacert       a PEM file of authorities to trust instead of the system's
          insecure     true to verify no certificate (for tests)
          proxy        the proxy's URL; none is used otherwise
          pin          "sha256//...;sha256//..." of public keys; the server's own must be one of them
          user         "name:password" for Basic authentication
          http2        true for HTTP/2 (negotiated over https, by prior knowledge over http), false for HTTP/1.1;
                       default: HTTP/2 where https negotiates it
        Options of the command line about the transfer, the connection, cookies and HSTS hold for lines without their own.
        For each, a JSON object is printed on a line as soon as it ends, in any order:
          id, status (null without a head), headers ([[name, value], ...]), body_len, body_sha256,
          error (null, or a kind, see ERRORS), detail (what happened, in words, or null), http (the version, such as
          "1.1" or "2"), url (that of the last response), ms (milliseconds)
        With an error, status, headers and body are what came before it. The result of a line that is not such an object has
        the error "other" ("url" if its URL is at fault) and the line's id, if it has one, else null. Keys that are not listed
        have no effect; they come back as "ignored". --parallel-max is how many fetches run at once, 500 by default. The exit
        code is 0 when every line has its result, 23 when a result could not be written, and 26 when standard input could not
        be read.
        """

    private static let exitCodes = """
        EXIT CODES
        They are curl's, and libcurl's of the failure itself where that is known. The most frequent:
           0  Every response came whole, whatever its status.
           1  The scheme is not http or https.
           2  The command line is wrong, or the library refuses the request or an option.
           3  The URL is malformed.
           4  The stack does not support an option.
           5  The proxy's URL is invalid, or its host was not found.
           6  The host was not found.
           7  The connection could not be opened.
          18  The response ended before it was complete.
          22  The status is 400 or above, with --fail.
          23  The output could not be written, or is binary and would go to a terminal.
          26  A local file could not be read.
          28  A timeout expired.
          33  The server does not resume a download (-C).
          35  TLS could not be negotiated.
          47  More redirects came than are allowed.
          52  The connection ended without a response.
          56  The connection broke before the response was complete.
          58  The client's certificate cannot be used.
          60  The server's certificate is not trusted.
          61  The body could not be decompressed.
          63  The response is longer than allowed.
          77  The file of --cacert cannot be used.
          90  The server's key is not pinned, or the pins are invalid.
          97  The SOCKS proxy failed.
          99  Anything else.
        With several URLs it is that of the first that failed.
        """

    private static let kinds =
        "ERRORS\n" + Failure.Kind.allCases.map { "  \($0.rawValue): \($0.meaning)" }.joined(separator: "\n")
}
