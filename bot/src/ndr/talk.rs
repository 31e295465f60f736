//! Is a person talking, and does he or she say that mail failed? It matters only where no report is in the text.

/// Words with which people speak of themselves, in lower case, as whole words.
const PERSON: [&str; 52] = [
    "i",
    "i'm",
    "i've",
    "i'd",
    "my",
    "me",
    "we",
    "we're",
    "we've",
    "our",
    "us",
    "please",
    "anyone",
    "someone",
    "somebody",
    "he",
    "she",
    "hi",
    "hello",
    "thanks",
    "help",
    "ich",
    "mein",
    "meine",
    "meinem",
    "meiner",
    "wir",
    "unser",
    "unsere",
    "bitte",
    "jemand",
    "hallo",
    "danke",
    "je",
    "j'ai",
    "mon",
    "ma",
    "nous",
    "notre",
    "bonjour",
    "merci",
    "quelqu'un",
    "yo",
    "mi",
    "hola",
    "gracias",
    "alguien",
    "io",
    "mio",
    "ciao",
    "ik",
    "mijn",
];

/// Words with which a question starts, in lower case.
const QUESTION: [&str; 36] = [
    "what", "why", "how", "when", "where", "who", "which", "is", "are", "do", "does", "did", "can",
    "could", "should", "would", "will", "has", "have", "was", "wie", "warum", "wieso", "kann",
    "können", "könnte", "sollen", "soll", "comment", "pourquoi", "est-ce", "cómo", "puede", "come",
    "perché", "hoe",
];

/// Words that say that a message failed or came back, in lower case, as parts of words.
const FAILURE: [&str; 76] = [
    "bounce",
    "bouncing",
    "undeliver",
    "not deliver",
    "couldn't be deliver",
    "couldn\u{2019}t be deliver",
    "could not be deliver",
    "wasn't deliver",
    "wasn\u{2019}t deliver",
    "can't be deliver",
    "cannot be deliver",
    "failed to deliver",
    "delivery fail",
    "delivery has failed",
    "delivery status",
    "returned mail",
    "mail returned",
    "returned to",
    "came back",
    "comes back",
    "come back",
    "coming back",
    "sent back",
    "kicked back",
    "rejected",
    "rejects",
    "reject",
    "refused",
    "ndr",
    "mailer-daemon",
    "mailer daemon",
    "postmaster",
    "non-delivery",
    "nondelivery",
    "non delivery",
    "not sent",
    "wasn't sent",
    "failure notice",
    "error when sending",
    "can't send",
    "cannot send",
    "can not send",
    "unable to send",
    "fails to send",
    "sending fail",
    "smtp",
    "diagnostic",
    "kommt zurück",
    "kam zurück",
    "kommen zurück",
    "zurückgewiesen",
    "unzustellbar",
    "nicht zugestellt",
    "nicht zustellbar",
    "abgelehnt",
    "fehlermeldung",
    "retour",
    "rebot",
    "devuelt",
    "rechaz",
    "non remis",
    "rejeté",
    "refusé",
    "respint",
    "rifiutat",
    "torna indietro",
    "mancata consegna",
    "retornou",
    "devolvid",
    "recusad",
    "geweigerd",
    "onbestelbaar",
    "teruggestuurd",
    "не доставлен",
    "вернул",
    "退信",
];

/// Does a person speak here, rather than a machine?
#[must_use]
pub fn is_person(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    if lower.trim_end().ends_with('?') {
        return true;
    }
    let mut words = lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '-')))
        .filter(|w| !w.is_empty());
    let Some(first) = words.next() else {
        return false;
    };
    QUESTION.contains(&first) || PERSON.contains(&first) || words.any(|w| PERSON.contains(&w))
}

/// Does the text say that a message failed?
#[must_use]
pub fn tells_of_failure(text: &str) -> bool {
    let lower = text.to_lowercase();
    FAILURE.iter().any(|words| lower.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_people_from_machines() {
        for chat in [
            "My OneDrive says storage is full, do I get more space?",
            "What is sender policy framework?",
            "bitte kann jemand helfen",
        ] {
            assert!(is_person(chat) && !tells_of_failure(chat), "{chat}");
        }
        for machine in ["Mailbox full", "recipient rejected", "user is over quota"] {
            assert!(!is_person(machine), "{machine}");
        }
        assert!(tells_of_failure("Mail came back: \"Mailbox full\""));
    }
}
