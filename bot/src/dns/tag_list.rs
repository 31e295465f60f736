//! Lists of `tag=value;` as DKIM keys, DMARC, BIMI and TLS-RPT records write them (RFC 6376 section 3.2).

/// Tags read of one record; a sound one has about ten.
const MOST_TAGS: usize = 100;

/// A record as tags. Reading never fails: what is no tag stands apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagList<'a> {
    /// Names and values without the blanks around them, in their order.
    pub tags: Vec<(&'a str, &'a str)>,
    /// Pieces between semicolons that hold no `=`, or no name before it.
    pub junk: Vec<&'a str>,
    /// A tag that stands more than once.
    pub repeated: Option<&'a str>,
    /// Blanks stand around an equals sign.
    pub spaced: bool,
}

impl<'a> TagList<'a> {
    /// Reads a record.
    #[must_use]
    pub fn read(text: &'a str) -> Self {
        let mut list = Self::default();
        for piece in text.split(';').take(MOST_TAGS) {
            let bare = piece.trim();
            if bare.is_empty() {
                continue;
            }
            let Some((name, value)) = piece.split_once('=') else {
                list.junk.push(bare);
                continue;
            };
            list.spaced |= name.ends_with(is_blank) || value.starts_with(is_blank);
            let (name, value) = (name.trim(), value.trim());
            let sound = name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !sound {
                list.junk.push(bare);
                continue;
            }
            if list.tags.iter().any(|(n, _)| n.eq_ignore_ascii_case(name)) {
                list.repeated.get_or_insert(name);
            }
            list.tags.push((name, value));
        }
        list
    }

    /// The value of a tag, the first where it stands more than once. Capitals in its name do not count.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let own = |(n, _): &&(&str, &str)| n.eq_ignore_ascii_case(name);
        self.tags.iter().find(own).map(|(_, value)| *value)
    }

    /// The first tag, where nothing stands before it.
    #[must_use]
    pub fn first(&self) -> Option<(&'a str, &'a str)> {
        self.tags.first().copied()
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
}

/// Does the text open with the version tag, exactly as RFC 9989, 8460 and the BIMI draft want it: nothing before it, the
/// value to the letter, a semicolon or nothing behind it?
#[must_use]
pub fn opens_with(text: &str, version: &str) -> bool {
    let wsp = [' ', '\t'];
    let Some(rest) = text.strip_prefix(['v', 'V']) else {
        return false;
    };
    let Some(rest) = rest.trim_start_matches(wsp).strip_prefix('=') else {
        return false;
    };
    let Some(rest) = rest.trim_start_matches(wsp).strip_prefix(version) else {
        return false;
    };
    let rest = rest.trim_start_matches(wsp);
    rest.is_empty() || rest.starts_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_blanks_junk_and_repetitions() {
        let list = TagList::read(" v = X1 ;a=b=c;; a = 2; stray; =x; p=\t");
        assert_eq!(
            list.tags,
            [("v", "X1"), ("a", "b=c"), ("a", "2"), ("p", "")]
        );
        assert_eq!(list.junk, ["stray", "=x"]);
        assert_eq!(list.repeated, Some("a"));
        assert!(list.spaced);
        assert_eq!(list.get("A"), Some("b=c"));
        assert!(!TagList::read("v=DMARC1 ; p=none ").spaced);
        let many = "a=b;".repeat(100_000);
        assert_eq!(TagList::read(&many).tags.len(), MOST_TAGS);
    }

    #[test]
    fn the_version_comes_first_and_exact() {
        for good in ["v=DMARC1", "v=DMARC1;p=none", "v = DMARC1 ; x", "V=DMARC1;"] {
            assert!(opens_with(good, "DMARC1"), "{good}");
        }
        for bad in [
            "",
            " v=DMARC1;",
            "v=DMARC1 p=none",
            "v=dmarc1;",
            "v=DMARC10;",
            "p=none; v=DMARC1",
            "\"v=DMARC1;",
        ] {
            assert!(!opens_with(bad, "DMARC1"), "{bad}");
        }
    }
}
