//! The message that a report returns says all it tells in its headers: its body is taken out before anything is parsed.

use memchr::memmem;

/// How a part that holds a message begins, by those who write it as the standards print it; others are parsed in full.
const HOLDS_MESSAGE: &[u8] = b"\nContent-Type: message/rfc822";

/// Most bytes of the headers of a part.
const LONGEST_HEAD: usize = 2000;

/// `input` without the body of the first message attached to it; `None` where there is no body to take out.
///
/// What is left has the same parts as the whole, and the attached message its headers.
pub(super) fn without_body(input: &[u8]) -> Option<Vec<u8>> {
    let at = memmem::find(input, HOLDS_MESSAGE)?;
    let head = input.get(at.saturating_sub(LONGEST_HEAD)..=at)?;
    let (above, boundary) = boundary_above(head)?;
    let part = at + past_blank_line(input.get(at..)?)?;
    let head = [above, input.get(at..part)?].concat().to_ascii_lowercase();
    if [&b"base64"[..], b"quoted-printable"]
        .iter()
        .any(|code| memmem::find(&head, code).is_some())
    {
        return None;
    }
    let body = part + past_blank_line(input.get(part..)?)?;
    let end = body.checked_sub(1)? + memmem::find(input.get(body.checked_sub(1)?..)?, boundary)?;
    // A boundary in the headers above would end the part there.
    if end <= body || memmem::find(input.get(part - 1..body)?, boundary).is_some() {
        return None;
    }
    let end = end - usize::from(input.get(end - 1) == Some(&b'\r'));
    Some([input.get(..body)?, input.get(end..)?].concat())
}

/// The headers that end at the end of `head`, and the boundary line above them with the line end before it.
fn boundary_above(head: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut end = head.len().checked_sub(1)?;
    loop {
        let start = memchr::memrchr(b'\n', head.get(..end)?)?;
        let line = head.get(start..end)?.trim_ascii_end();
        match line {
            [b'\n', b'-', b'-', _, ..] => return Some((head.get(end..)?, line)),
            // An empty line: these are no headers of a part.
            [] => return None,
            _ => end = start,
        }
    }
}

/// Where the first empty line ends.
fn past_blank_line(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', text).find_map(|at| match text.get(at + 1..)? {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "From: a@example.org\nContent-Type: multipart/report; boundary=b\n\n--b\n\nno\n--b\n\
        Content-Description: it\nContent-Type: message/rfc822\n\nSubject: Hello\n\nbody\n\nmore\n--b\n\nlast\n--b--\n";

    #[test]
    fn takes_out_what_comes_behind_the_headers() {
        for line_end in ["\n", "\r\n"] {
            let whole = REPORT.replace('\n', line_end);
            let expected = REPORT.replace("body\n\nmore", "").replace('\n', line_end);
            let left = without_body(whole.as_bytes());
            assert_eq!(left.as_deref(), Some(expected.as_bytes()));
        }
    }

    #[test]
    fn leaves_alone_what_it_cannot_tell() {
        for (from, to) in [
            ("message/rfc822", "text/plain"),
            ("body", "--b"),
            (
                "Content-Description: it",
                "Content-Transfer-Encoding: base64",
            ),
            ("Content-Description: it\n", "\n"),
            ("--b\n\nlast\n--b--\n", ""),
        ] {
            let text = REPORT.replace(from, to);
            assert_eq!(without_body(text.as_bytes()), None, "{to}");
        }
    }
}
