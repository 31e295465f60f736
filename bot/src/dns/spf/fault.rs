//! What can be wrong with a term.

/// How a term breaks the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A byte that is no printable ASCII.
    Character,
    /// No mechanism has that name.
    Unknown,
    /// `:` and a domain are missing.
    NeedsDomain,
    /// What follows is no domain.
    Domain,
    /// A `%` that begins no macro, or a macro that does not exist.
    Macro,
    /// What follows `ip4:` is no IPv4 address.
    Ip4,
    /// What follows `ip6:` is no IPv6 address.
    Ip6,
    /// The prefix length is no number, or too large.
    Prefix,
    /// `all` takes nothing.
    All,
    /// `ptr`, `include` and `exists` take no prefix length.
    NoPrefix,
    /// A modifier with a qualifier, or with a name that does not begin with a letter.
    Modifier,
    /// `redirect` or `exp` for the second time.
    Twice,
}

impl Fault {
    /// What is wrong, as the end of "… is wrong: ".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Fault::Character => "it holds a character that is no printable ASCII",
            Fault::Unknown => "there is no mechanism of that name",
            Fault::NeedsDomain => "it needs a colon and a domain",
            Fault::Domain => "what it names is no domain",
            Fault::Macro => "its % begins no macro that exists",
            Fault::Ip4 => "ip4: takes an IPv4 address and nothing else",
            Fault::Ip6 => "ip6: takes an IPv6 address and nothing else",
            Fault::Prefix => "the number behind the slash is no prefix length",
            Fault::All => "all takes nothing",
            Fault::NoPrefix => "it takes no prefix length",
            Fault::Modifier => "a modifier is a name, an equals sign and a value",
            Fault::Twice => "it may stand only once",
        }
    }
}
