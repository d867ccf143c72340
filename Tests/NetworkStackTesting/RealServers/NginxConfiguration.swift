/// The text of nginx.conf for `NginxServer`.
struct NginxConfiguration {
    let options: NginxServer.Options
    let identity: TLSIdentity
    let folder: String
    let ports: [UInt16]

    static let statusCodes = [
        200, 201, 202, 204, 205, 400, 401, 403, 404, 405, 408, 409, 410, 412, 418, 421, 422, 425, 429, 500, 501, 502,
        503, 504,
    ]

    private var locations: String {
        let redirects = [301, 302, 303, 307, 308].map { "location = /redirect/\($0) { return \($0) /json; }" }
        let statuses = Self.statusCodes.map { code in
            // With a text, nginx sends no error page, so that every body is known.
            "location = /status/\(code) { \(code == 204 ? "return 204;" : "return \(code) \"status \(code)\\n\";") }"
        }
        return (redirects + statuses).joined(separator: "\n    ")
    }

    // One process in the foreground, so that killing it is enough. Ports and files are all below `folder`.
    var text: String {
        """
        daemon off;
        master_process off;
        pid \(folder)/nginx.pid;
        error_log stderr notice;
        events { worker_connections 4096; }
        http {
          log_format tests escape=json '{"method":"$request_method","uri":"$request_uri","status":"$status",'
            '"serverProtocol":"$server_protocol","requestBytes":"$request_length","bodyBytes":"$body_bytes_sent",'
            '"connection":"$connection","connectionRequests":"$connection_requests","completion":"$request_completion",'
            '"serverName":"$ssl_server_name","identifier":"$http_x_id"}';
          access_log \(folder)/access.log tests;
          client_body_temp_path \(folder)/body;
          proxy_temp_path \(folder)/proxy;
          fastcgi_temp_path \(folder)/fastcgi;
          uwsgi_temp_path \(folder)/uwsgi;
          scgi_temp_path \(folder)/scgi;
          keepalive_requests \(options.keepaliveRequests);
          keepalive_timeout \(options.keepaliveTimeout);
          http2_max_concurrent_streams \(options.maxConcurrentStreams);
          client_max_body_size 0;
          default_type text/plain;
          types { }
          server {
            listen 127.0.0.1:\(ports[0]) backlog=1024;
            listen 127.0.0.1:\(ports[1]) ssl http2 backlog=1024;
            listen 127.0.0.1:\(ports[2]) http2 backlog=1024;
            listen unix:\(folder)/http.sock;
            ssl_certificate \(identity.certificateChainFile);
            ssl_certificate_key \(identity.keyFile);
            ssl_session_cache shared:tests:1m;
            root \(folder)/files;
            absolute_redirect off;
            location = /json { default_type application/json; }
            location /bytes/ { default_type application/octet-stream; }
            location /gzip/ {
              alias \(folder)/files/;
              gzip on;
              gzip_min_length 1;
              gzip_types *;
              location = /gzip/json { alias \(folder)/files/json; default_type application/json; }
            }
            location /basic/ {
              alias \(folder)/files/;
              auth_basic "tests";
              auth_basic_user_file \(folder)/users;
            }
            location /slow/ { alias \(folder)/files/; limit_rate 16k; }
            location /echo { return 200 "$request_method $request_uri $server_protocol $http_x_echo\\n"; }
            location /upload/ { root \(folder)/uploads; dav_methods PUT DELETE; create_full_put_path on; }
            \(locations)
            \(options.directives)
          }
        }

        """
    }
}
