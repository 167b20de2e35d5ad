//! The framing of server-sent events, the same for every vendor. Pure: text in, data out.

/// The data of each complete event: lines end with LF, CRLF or CR, several data lines are joined, comments and other
/// fields are skipped, an event without a blank line after it does not count.
pub(crate) fn events(body: &str) -> Vec<String> {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let complete = body.rsplit_once("\n\n").map_or("", |(complete, _)| complete);
    complete
        .split("\n\n")
        .filter_map(|event| {
            let lines: Vec<&str> = event
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|value| value.strip_prefix(' ').unwrap_or(value))
                .collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        })
        .collect()
}

/// Whether a body is an event stream, which some proxies send to requests that asked for none.
pub(crate) fn is_stream(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    [&b"data:"[..], b"event:", b": "].iter().any(|field| start.starts_with(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_framed_by_blank_lines() {
        let check = |body: &str, expected: &[&str]| assert_eq!(events(body), expected, "{body:?}");
        check("data: 1\n\ndata:2\r\n\r\ndata: 3\r\r", &["1", "2", "3"]);
        check("event: x\ndata: a\ndata: b\nid: 7\n\n", &["a\nb"]);
        check(": keep-alive\n\ndata: 1\n\n", &["1"]);
        check("data: 1\n\ndata: cut", &["1"]);
        check("data: cut", &[]);
        check("", &[]);
    }

    #[test]
    fn json_is_no_stream() {
        assert!(is_stream(b"data: {}\n\n") && is_stream(b"\nevent: ping\n") && is_stream(b": OPENROUTER\n"));
        assert!(
            !is_stream(b"{\"data\": 1}") && !is_stream(b"[]") && !is_stream(b"") && !is_stream(b"<html>")
        );
    }
}
