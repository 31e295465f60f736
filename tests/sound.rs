//! What a told set-up leaves out "answers properly": mail servers with addresses, included records, report mailboxes that agree.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use bot::dns::zone::{Kind, Record};

use crate::support::book::Book;
use crate::told::{Told, key};

/// The told set-up with everything around it in good order.
pub fn sound(told: &Told, domain: &str) -> Book {
    let mut setup = Setup {
        told,
        book: told.book.clone(),
        records: told.records.clone(),
        addresses: 10,
    };
    setup.domain(domain);
    setup.senders();
    setup.reports(domain);
    setup.hosts();
    setup.book
}

struct Setup<'t> {
    told: &'t Told,
    book: Book,
    records: Vec<(String, Kind, Record)>,
    addresses: u8,
}

impl Setup<'_> {
    fn add(&mut self, owner: &str, kind: Kind, record: Record) {
        self.book.add(owner, kind, record.clone());
        self.records.push((owner.to_string(), kind, record));
    }

    fn text(&mut self, owner: &str, text: &str) {
        let strings = text.as_bytes().chunks(255).map(<[u8]>::to_vec);
        self.add(owner, Kind::Txt, Record::Txt(strings.collect()));
    }

    fn has(&self, owner: &str, kinds: &[Kind]) -> bool {
        self.records
            .iter()
            .any(|(at, kind, _)| at == owner && kinds.contains(kind))
    }

    /// Every text with its owner.
    fn texts(&self) -> Vec<(String, String)> {
        let texts = self.records.iter().filter_map(|(owner, _, record)| {
            let Record::Txt(strings) = record else {
                return None;
            };
            let text = String::from_utf8_lossy(&strings.concat()).into_owned();
            Some((owner.clone(), text))
        });
        texts.collect()
    }

    /// The domain's own records: those of a sender that does everything right.
    fn domain(&mut self, domain: &str) {
        let told_of = |part: &str| self.told.names.iter().any(|name| name.contains(part));
        let (dmarc, dkim) = (told_of("_dmarc."), told_of("_domainkey."));
        let null = self.records.iter().any(|(owner, _, record)| {
            owner == domain && matches!(record, Record::Mx { exchange, .. } if exchange.is_empty())
        });
        if !self.has(domain, &[Kind::Cname]) {
            // A tenant's first domain is Microsoft's own.
            let tenant = domain.strip_suffix(".onmicrosoft.com");
            if !self.has(domain, &[Kind::Mx]) {
                let exchange = match tenant {
                    Some(tenant) => format!("{tenant}.mail.protection.outlook.com"),
                    None => format!("mx.{domain}"),
                };
                let record = Record::Mx {
                    preference: 10,
                    exchange,
                };
                self.add(domain, Kind::Mx, record);
            }
            if !self.has(domain, &[Kind::Txt])
                && !self.told.missing.iter().any(|name| name == domain)
            {
                let record = match tenant {
                    Some(_) => "v=spf1 include:spf.protection.outlook.com -all",
                    None => "v=spf1 mx -all",
                };
                self.text(domain, record);
            }
        }
        if !dmarc {
            let policy = format!("v=DMARC1; p=reject; rua=mailto:dmarc@{domain}");
            self.text(&format!("_dmarc.{domain}"), &policy);
        }
        if !dkim && !null {
            let record = format!("v=DKIM1; k=rsa; p={}", key(2_048));
            let microsoft = self
                .texts()
                .iter()
                .any(|(_, text)| text.contains("spf.protection.outlook.com"));
            let selectors: &[&str] = match microsoft {
                true => &["default", "selector1", "selector2"],
                false => &["default"],
            };
            for selector in selectors {
                self.text(&format!("{selector}._domainkey.{domain}"), &record);
            }
        }
    }

    /// Whatever an SPF record leads to: included records, hosts.
    fn senders(&mut self) {
        let texts = self.texts();
        let terms = texts.iter().filter(|(_, text)| text.starts_with("v=spf1"));
        for term in terms.flat_map(|(_, text)| text.split_whitespace()) {
            let term = term.trim_start_matches(['+', '-', '~', '?']);
            let Some((word, target)) = term.split_once([':', '=']) else {
                continue;
            };
            let target = target.split('/').next().unwrap_or_default();
            // Behind macros something answers for every sender.
            let (target, sender) = match target.rsplit_once('}') {
                Some((_, literal)) if literal.starts_with('.') => {
                    (format!("*{literal}"), self.told.ip)
                }
                Some(_) => continue,
                None => (target.to_string(), None),
            };
            if self.told.speaks_of(&target) || self.has(&target, &[Kind::Txt, Kind::Mx, Kind::A]) {
                continue;
            }
            match word {
                "include" | "redirect" => {
                    let ip = sender.unwrap_or_else(|| self.address().into());
                    let family = if ip.is_ipv4() { 4 } else { 6 };
                    self.text(&target, &format!("v=spf1 ip{family}:{ip} -all"));
                }
                "a" => {
                    let ip = self.address();
                    self.add(&target, Kind::A, Record::A(ip));
                }
                "mx" => {
                    let exchange = format!("mx.{target}");
                    let record = Record::Mx {
                        preference: 10,
                        exchange,
                    };
                    self.add(&target, Kind::Mx, record);
                }
                _ => {}
            }
        }
    }

    /// Report mailboxes: their domains take mail, and have agreed.
    fn reports(&mut self, domain: &str) {
        for (owner, text) in self.texts() {
            let words = text.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '!'));
            let hosts: BTreeSet<String> = words
                .filter_map(|word| word.rsplit_once("mailto:")?.1.split_once('@'))
                .map(|(_, host)| host.to_lowercase())
                .collect();
            for host in hosts {
                let agreement = format!("{domain}._report._dmarc.{host}");
                let spoken_of = self
                    .told
                    .names
                    .iter()
                    .any(|name| name.ends_with(&format!("_report._dmarc.{host}")));
                if owner.starts_with("_dmarc.") && host != domain && !spoken_of {
                    self.text(&agreement, "v=DMARC1;");
                }
                if !self.has(&host, &[Kind::Mx, Kind::Cname]) {
                    let exchange = format!("mx.{host}");
                    let record = Record::Mx {
                        preference: 10,
                        exchange,
                    };
                    self.add(&host, Kind::Mx, record);
                }
            }
        }
    }

    /// Every host that a record names has an address, and that address a name.
    fn hosts(&mut self) {
        let targets: BTreeSet<String> = self
            .records
            .iter()
            .filter_map(|(owner, _, record)| match record {
                Record::Mx { exchange, .. } => Some(exchange.clone()),
                Record::Cname(target) if !owner.contains('_') => Some(target.clone()),
                _ => None,
            })
            .collect();
        for host in &self.told.files {
            self.add(host, Kind::A, Record::A(Ipv4Addr::LOCALHOST));
        }
        for host in targets.iter().filter(|host| !host.is_empty()) {
            if self.has(host, &[Kind::A, Kind::Aaaa, Kind::Cname]) {
                continue;
            }
            let ip = self.address();
            self.add(host, Kind::A, Record::A(ip));
            let [a, b, c, d] = ip.octets();
            let reverse = format!("{d}.{c}.{b}.{a}.in-addr.arpa");
            self.add(&reverse, Kind::Ptr, Record::Ptr(host.clone()));
        }
    }

    fn address(&mut self) -> Ipv4Addr {
        self.addresses += 1;
        Ipv4Addr::new(192, 0, 2, self.addresses)
    }
}
