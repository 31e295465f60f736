//! Addresses taken out of a text that others are to see: of each the domain stays, which an answer needs, and nothing else.

use super::row::Row;

/// What stands in the place of a person.
const SOMEBODY: &str = "\u{2022}\u{2022}\u{2022}";

/// What must not be seen.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// What stands in front of an `@`, and names beside addresses, folded, the longest first.
    words: Vec<Vec<char>>,
}

impl Mask {
    /// Everybody in these rows.
    #[must_use]
    pub fn of(rows: &[Row]) -> Self {
        let mut words: Vec<Vec<char>> = Vec::new();
        for row in rows {
            for side in [&row.sender, &row.recipient] {
                let (name, address) = named(side);
                let local = address.rsplit_once('@').map_or(address, |(local, _)| local);
                // Of a name each part is telling; so is what an address quotes.
                let parts = name.split([' ', ',', '(', ')', '"', '\'']);
                let whole = [name, local, local.trim_matches('"')];
                for word in parts.chain(whole) {
                    let word = folded(word.trim());
                    if !word.is_empty() && !words.contains(&word) {
                        words.push(word);
                    }
                }
            }
        }
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        Self { words }
    }

    /// An address without its owner: `•••@example.org`.
    #[must_use]
    pub fn address(address: &str) -> String {
        let (_, address) = named(address);
        // What stands behind a lone `@` may be a name.
        let split = address
            .rsplit_once('@')
            .filter(|(local, _)| !local.is_empty());
        let domain = split.map(|(_, domain)| domain);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        match domain {
            Some(domain) if domain.contains('.') && domain.chars().all(plain) => {
                format!("{SOMEBODY}@{domain}")
            }
            _ => SOMEBODY.into(),
        }
    }

    /// A text without anybody's address or name.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let around = |c: char| {
            c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | ',' | ';' | '\'' | '"')
        };
        for piece in text.split_inclusive(around) {
            let bare = piece.trim_end_matches(around);
            let end = piece.get(bare.len()..).unwrap_or_default();
            if bare.contains('@') {
                let stop = bare.trim_end_matches(['.', ':', '!', '?']);
                out.push_str(&Self::address(stop));
                out.push_str(bare.get(stop.len()..).unwrap_or_default());
            } else {
                out.push_str(bare);
            }
            out.push_str(end);
        }
        self.words
            .iter()
            .fold(out, |text, word| without(&text, word))
    }
}

/// `Anna B <anna@example.com>`, taken apart.
fn named(text: &str) -> (&str, &str) {
    match text.rsplit_once('<') {
        Some((name, address)) => (name.trim(), address.trim_end_matches('>').trim()),
        None => ("", text.trim()),
    }
}

/// Small letters, one for one, so that places in both texts are the same.
fn folded(text: &str) -> Vec<char> {
    let small = |c: char| c.to_lowercase().next().unwrap_or(c);
    text.chars().map(small).collect()
}

/// A text without a word that stands by itself, in capitals or not. Domains keep theirs: they stand behind an `@` that is ours.
fn without(text: &str, word: &[char]) -> String {
    let (letters, small) = (text.chars().collect::<Vec<_>>(), folded(text));
    let part = |at: Option<&char>| at.is_some_and(|c| c.is_alphanumeric());
    let mut out = String::with_capacity(text.len());
    let (mut at, mut in_domain) = (0, false);
    while let Some(letter) = letters.get(at) {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let end = at + word.len();
        let whole = !part(before) && !part(letters.get(end));
        if !in_domain && whole && small.get(at..end) == Some(word) {
            out.push_str(SOMEBODY);
            at = end;
            continue;
        }
        in_domain = *letter == '@'
            || in_domain && (letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_'));
        out.push(*letter);
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sender: &str, recipient: &str) -> Row {
        Row {
            sender: sender.into(),
            recipient: recipient.into(),
            ..Row::default()
        }
    }

    #[test]
    fn of_an_address_the_domain_stays() {
        for (address, masked) in [
            ("anna@example.com", "•••@example.com"),
            ("Anna B <anna@example.com>", "•••@example.com"),
            (
                "SRS0=ab=cd=example.org=bob@list.example",
                "•••@list.example",
            ),
            ("\"a b\"@example.com", "•••@example.com"),
            ("<>", "•••"),
            ("", "•••"),
            ("IMCEAEX-_O=X_CN=anna", "•••"),
            ("a@b c", "•••"),
            ("@anna.berg", "•••"),
        ] {
            assert_eq!(Mask::address(address), masked, "{address}");
        }
        let mask = Mask::of(&[row("Anna Berg <anna.berg@example.com>", "bob@example.org")]);
        for (text, masked) in [
            (
                "to BOB@example.org, bob: no.",
                "to •••@example.org, •••: no.",
            ),
            (
                "Write to else@other.example.",
                "Write to •••@other.example.",
            ),
            (
                "Berg, Anna and anna.berg; bobby stays",
                "•••, ••• and •••; bobby stays",
            ),
            ("bob.example.org", "•••.example.org"),
        ] {
            assert_eq!(mask.text(text), masked, "{text}");
        }
    }

    #[test]
    fn nobody_survives_whatever_stands_around_him() {
        let mut seed = 5_u64;
        let mut roll = |sides: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap_or(0) % sides
        };
        let around = [
            " ", "<", ">", ",", "; ", ": ", "'", "\"", "(", ")", "\n", "=", "/", "", ".", "-",
            " mailto:", " x ",
        ];
        let letters: Vec<char> = "abzäßİжñ09._+'=-&".chars().collect();
        for _ in 0..3_000 {
            // Local parts that no domain and no sentence of the test holds.
            let mut local = || {
                let inner: String = (0..roll(9))
                    .filter_map(|_| letters.get(roll(letters.len())))
                    .collect();
                format!("q{inner}k")
            };
            let (one, two, name) = (local(), local(), local());
            let rows = [row(
                &format!("{name} Surqame <{one}@example.com>"),
                &format!("{two}@example.org"),
            )];
            let mask = Mask::of(&rows);
            let mut text = String::new();
            for _ in 0..12 {
                let what = match roll(6) {
                    0 => format!("{one}@example.com"),
                    1 => format!("{}@EXAMPLE.org", two.to_uppercase()),
                    2 => one.clone(),
                    3 => two.clone(),
                    4 => "Surqame".to_string(),
                    _ => name.clone(),
                };
                let (before, after) = (
                    around.get(roll(around.len())),
                    around.get(roll(around.len())),
                );
                text.push_str(before.unwrap_or(&" "));
                text.push_str(&what);
                text.push_str(after.unwrap_or(&" "));
                text.push(' ');
            }
            let masked: String = folded(&mask.text(&text)).into_iter().collect();
            for secret in [&one, &two, &name, "Surqame"] {
                let secret: String = folded(secret).into_iter().collect();
                assert!(
                    !masked.contains(&secret),
                    "{secret} in {masked:?} of {text:?}"
                );
            }
        }
    }
}
