//! Knowledge files in, `Knowledge` out; every fault is collected with its file, none stops the others from being read.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::entry::{Cause, CauseFile, Faq, Meaning, MeaningFile, Party, Provider, Sureness};
use super::phrases::{Builder, Phrases, Role, Use};
use crate::code::{EnhancedCode, SmtpCode};

static EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/knowledge.json"));
static EXAMPLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/examples.json"));

/// `matches` and `not` of one meaning.
type Examples = (Vec<String>, Vec<String>);

/// Largest knowledge file that is read from a folder, in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// Something in the knowledge files that has to be mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub file: String,
    pub text: String,
}

/// Which code an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// One enhanced code.
    Code(EnhancedCode),
    /// Details `lo` to `hi` of one class and subject.
    Range { lo: EnhancedCode, hi: u16 },
    /// Class and subject, as in 5.1.
    Subject(u8, u16),
    /// The first digit.
    Class(u8),
    /// A basic reply code.
    Smtp(SmtpCode),
    /// Wordings only.
    Words,
}

/// A meaning with its place in the folder.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name in answers: `codes/5.7.1#unable-to-relay`.
    pub name: String,
    pub file: String,
    /// Index into `Knowledge::providers`; `None` for what holds for every server.
    pub provider: Option<u32>,
    pub about: About,
    /// Index into `Knowledge::causes`.
    pub cause: u32,
    pub meaning: Meaning,
    pub source: String,
    pub read: String,
}

impl Entry {
    /// The best that this entry may claim.
    #[must_use]
    pub fn sure(&self) -> Sureness {
        self.meaning.sure.unwrap_or(Sureness::Certain)
    }

    /// Is the code one that this entry is about (4.x.x counts as 5.x.x)?
    #[must_use]
    pub fn is_about(&self, code: EnhancedCode) -> bool {
        let same = |a: EnhancedCode, b: EnhancedCode| a == b || a.twin() == Some(b);
        match self.about {
            About::Code(own) => same(own, code),
            About::Range { lo, hi } => {
                same(
                    EnhancedCode {
                        detail: code.detail,
                        ..lo
                    },
                    code,
                ) && (lo.detail..=hi).contains(&code.detail)
            }
            About::Subject(..) | About::Class(_) | About::Smtp(_) | About::Words => false,
        }
    }
}

/// Everything that is known, ready for look-ups.
#[derive(Debug)]
pub struct Knowledge {
    pub causes: Vec<Cause>,
    pub party_names: HashMap<Party, String>,
    pub providers: Vec<Provider>,
    pub entries: Vec<Entry>,
    pub faq: Vec<(String, Faq)>,
    pub phrases: Phrases,
    pub by_code: FxHashMap<EnhancedCode, Vec<u32>>,
    pub ranges: Vec<u32>,
    pub classes: Vec<u32>,
    /// Host names of providers.
    hosts: FxHashMap<String, u32>,
}

impl Knowledge {
    /// The knowledge built into the program.
    #[must_use]
    pub fn embedded() -> Self {
        assemble(Files::embedded(), Vec::new()).0
    }

    /// The same with its faults, for `knowledge check`.
    #[must_use]
    pub fn embedded_with_faults() -> (Self, Vec<Fault>) {
        assemble(Files::embedded_with_examples(), Vec::new())
    }

    /// Reads a folder laid out like `knowledge/`. What cannot be read is among the faults.
    #[must_use]
    pub fn from_folder(folder: &Path) -> (Self, Vec<Fault>) {
        Self::layered(Some(folder), None)
    }

    /// The base (`None`: what is built in) with a folder laid over it: a file of that folder takes the place of the base's file of
    /// the same name, others are added.
    #[must_use]
    pub fn layered(base: Option<&Path>, over: Option<&Path>) -> (Self, Vec<Fault>) {
        let mut faults = Vec::new();
        let mut files = match base {
            Some(folder) => Files::of_folder(folder, &mut faults),
            None => Files::embedded_with_examples(),
        };
        if let Some(folder) = over {
            files.cover(Files::of_folder(folder, &mut faults));
        }
        assemble(files, faults)
    }

    /// The cause with that slug.
    #[must_use]
    pub fn cause(&self, slug: &str) -> Option<&Cause> {
        self.causes.iter().find(|c| c.slug == slug)
    }

    /// The provider that runs `host`: the longest host name of all providers that it equals or stands below.
    #[must_use]
    pub fn provider_of(&self, host: &str) -> Option<u32> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let mut name = host.as_str();
        loop {
            if let Some(&provider) = self.hosts.get(name) {
                return Some(provider);
            }
            name = name.split_once('.')?.1;
        }
    }

    /// A provider by its name.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|p| p.name == name)
    }
}

fn read_folder(
    root: &Path,
    folder: &Path,
    depth: usize,
    files: &mut Vec<(String, Value)>,
    faults: &mut Vec<Fault>,
) {
    let name = |path: &Path| {
        path.strip_prefix(root)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/")
    };
    let Ok(listing) = fs::read_dir(folder) else {
        faults.push(Fault {
            file: folder.display().to_string(),
            text: "cannot be opened as a folder".into(),
        });
        return;
    };
    for path in listing.flatten().map(|e| e.path()) {
        let is_toml = path.extension().is_some_and(|e| e == "toml");
        if path.is_dir() && depth < 4 {
            read_folder(root, &path, depth + 1, files, faults);
        } else if is_toml && path.file_name().is_some_and(|n| n != "template.toml") {
            let small = fs::metadata(&path).is_ok_and(|m| m.len() <= LARGEST_FILE);
            let text = if small {
                fs::read_to_string(&path).map_err(|e| e.to_string())
            } else {
                Err("is larger than 1 MiB".into())
            };
            match text.and_then(|t| toml::from_str(&t).map_err(|e| one_line(&e.to_string()))) {
                Ok(value) => files.push((name(&path), value)),
                Err(text) => faults.push(Fault {
                    file: name(&path),
                    text,
                }),
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Knowledge files by what they hold, each with its name.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Files {
    causes: CauseFile,
    providers: Vec<(String, Provider)>,
    faq: Vec<(String, Faq)>,
    meanings: Vec<(String, MeaningFile)>,
}

impl Files {
    fn embedded() -> Self {
        // `knowledge check` and the tests read the same files with their faults; here none is left.
        serde_json::from_slice(EMBEDDED).unwrap_or_default()
    }

    fn embedded_with_examples() -> Self {
        let mut files = Self::embedded();
        let examples: HashMap<String, Vec<Examples>> =
            serde_json::from_slice(EXAMPLES).unwrap_or_default();
        for (name, file) in &mut files.meanings {
            let own = examples.get(name).map_or(&[][..], Vec::as_slice);
            for (meaning, (matches, not)) in file.meaning.iter_mut().zip(own) {
                meaning.matches.clone_from(matches);
                meaning.not.clone_from(not);
            }
        }
        files
    }

    fn of_folder(folder: &Path, faults: &mut Vec<Fault>) -> Self {
        let mut found = Vec::new();
        read_folder(folder, folder, 0, &mut found, faults);
        if found.is_empty() {
            faults.push(Fault {
                file: folder.display().to_string(),
                text: "holds no knowledge files; name a folder like `knowledge/`".into(),
            });
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Self::sort(found, faults)
    }

    /// Lays other files over these.
    fn cover(&mut self, over: Self) {
        fn lay<T>(under: &mut Vec<(String, T)>, over: Vec<(String, T)>) {
            under.retain(|(name, _)| over.iter().all(|(other, _)| other != name));
            under.extend(over);
            under.sort_by(|a, b| a.0.cmp(&b.0));
        }
        if !over.causes.cause.is_empty() {
            self.causes = over.causes;
        }
        lay(&mut self.providers, over.providers);
        lay(&mut self.faq, over.faq);
        lay(&mut self.meanings, over.meanings);
    }

    fn sort(found: Vec<(String, Value)>, faults: &mut Vec<Fault>) -> Self {
        let mut files = Self::default();
        for (file, value) in found {
            if file == "causes.toml" {
                files.causes = parse(&file, value, faults).unwrap_or_default();
            } else if file.ends_with("/provider.toml") {
                files
                    .providers
                    .extend(parse(&file, value, faults).map(|p| (file, p)));
            } else if file.starts_with("faq/") {
                files
                    .faq
                    .extend(parse(&file, value, faults).map(|f| (file, f)));
            } else if ["codes/", "providers/", "phrases/"]
                .iter()
                .any(|p| file.starts_with(p))
            {
                files
                    .meanings
                    .extend(parse(&file, value, faults).map(|m| (file, m)));
            } else {
                faults.push(Fault {
                    file,
                    text: "stands in no known place; see README.md".into(),
                });
            }
        }
        files
    }
}

fn assemble(files: Files, mut faults: Vec<Fault>) -> (Knowledge, Vec<Fault>) {
    let index: HashMap<String, u32> = (0u32..)
        .zip(&files.causes.cause)
        .map(|(i, c)| (c.slug.clone(), i))
        .collect();
    let providers: Vec<Provider> = files.providers.into_iter().map(|(_, p)| p).collect();
    let mut entries = Vec::new();
    for (file, content) in files.meanings {
        add_entries(file, content, &providers, &index, &mut entries, &mut faults);
    }
    let faq = files
        .faq
        .into_iter()
        .map(|(file, f)| (stem(&file), f))
        .collect();
    (index_all(files.causes, providers, entries, faq), faults)
}

fn parse<T: DeserializeOwned>(file: &str, value: Value, faults: &mut Vec<Fault>) -> Option<T> {
    match serde_json::from_value(value) {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            faults.push(Fault {
                file: file.into(),
                text: one_line(&error.to_string()),
            });
            None
        }
    }
}

fn stem(file: &str) -> String {
    file.strip_suffix(".toml").unwrap_or(file).to_string()
}

fn add_entries(
    file: String,
    content: MeaningFile,
    providers: &[Provider],
    causes: &HashMap<String, u32>,
    entries: &mut Vec<Entry>,
    faults: &mut Vec<Fault>,
) {
    let base = stem(&file);
    let mut fault = |text: String| {
        faults.push(Fault {
            file: file.clone(),
            text,
        });
    };
    let mut parts = base.split('/');
    let (folder, second, third) = (parts.next(), parts.next(), parts.next());
    let (provider, name) = match (folder, second, third) {
        (Some("providers"), Some(provider), Some(name)) => {
            let Some(index) = (0u32..)
                .zip(providers)
                .find(|(_, p)| p.name == provider)
                .map(|(i, _)| i)
            else {
                fault(format!("providers/{provider}/provider.toml is missing"));
                return;
            };
            (Some(index), name)
        }
        (_, Some(name), None) => (None, name),
        _ => (None, ""),
    };
    let about = if folder == Some("phrases") || name == "codes" {
        Some(About::Words)
    } else {
        about(name)
    };
    let Some(about) = about else {
        fault("is not named as a code (5.7.1, 5.7.500-599, 5.7, 5, 550)".into());
        return;
    };
    let single = content.meaning.len() == 1;
    for meaning in content.meaning {
        let Some(&cause) = causes.get(&meaning.cause) else {
            fault(format!("cause \"{}\" is not in causes.toml", meaning.cause));
            continue;
        };
        let label = match (&meaning.id, single) {
            (Some(id), _) => format!("{base}#{id}"),
            (None, true) => base.clone(),
            (None, false) if meaning.words.is_empty() && meaning.all.is_empty() => base.clone(),
            (None, false) => {
                fault("a meaning with words needs an id where the file has several".into());
                continue;
            }
        };
        let source = meaning.source.clone().or_else(|| content.source.clone());
        let read = meaning.read.clone().or_else(|| content.read.clone());
        entries.push(Entry {
            name: label,
            file: file.clone(),
            provider,
            about,
            cause,
            meaning,
            source: source.unwrap_or_default(),
            read: read.unwrap_or_default(),
        });
    }
}

/// Which code a file's name names.
fn about(name: &str) -> Option<About> {
    if let Some(code) = EnhancedCode::parse(name) {
        return Some(About::Code(code));
    }
    if let Some((low, high)) = name.split_once('-') {
        let lo = EnhancedCode::parse(low)?;
        let hi = high.rsplit('.').next()?.parse().ok()?;
        return (hi >= lo.detail).then_some(About::Range { lo, hi });
    }
    if let Some(code) = SmtpCode::parse(name) {
        return Some(About::Smtp(code));
    }
    if let Some((class, subject)) = name.split_once('.') {
        return Some(About::Subject(class.parse().ok()?, subject.parse().ok()?));
    }
    match name {
        "2" => Some(About::Class(2)),
        "4" => Some(About::Class(4)),
        "5" => Some(About::Class(5)),
        _ => None,
    }
}

fn index_all(
    causes: CauseFile,
    providers: Vec<Provider>,
    entries: Vec<Entry>,
    faq: Vec<(String, Faq)>,
) -> Knowledge {
    let mut builder = Builder::default();
    let mut add = |role: Role, owner: usize, wordings: &[String]| {
        for (nth, wording) in (0u16..).zip(wordings) {
            let owner = u32::try_from(owner).unwrap_or(u32::MAX);
            builder.add(wording, Use { role, owner, nth });
        }
    };
    let mut by_code: FxHashMap<EnhancedCode, Vec<u32>> = FxHashMap::default();
    let (mut ranges, mut classes) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        add(Role::Words, index, &entry.meaning.words);
        add(Role::All, index, &entry.meaning.all);
        add(Role::Unless, index, &entry.meaning.unless);
        let id = u32::try_from(index).unwrap_or(u32::MAX);
        match entry.about {
            About::Code(code) => by_code.entry(code).or_default().push(id),
            About::Range { .. } => ranges.push(id),
            About::Subject(..) | About::Class(_) | About::Smtp(_) => classes.push(id),
            About::Words => {}
        }
    }
    for (index, (_, question)) in faq.iter().enumerate() {
        add(Role::Ask, index, &question.ask);
        add(Role::NotAsk, index, &question.unless);
    }
    for (index, provider) in providers.iter().enumerate() {
        add(Role::Mark, index, &provider.marks);
    }
    // A name to include in SPF records names its provider too; host names come last, so that they win.
    let named = |names: fn(&Provider) -> &Vec<String>| {
        (0u32..)
            .zip(&providers)
            .flat_map(move |(i, p)| names(p).iter().map(move |n| (n.to_ascii_lowercase(), i)))
    };
    let hosts = named(|p| &p.spf).chain(named(|p| &p.hosts)).collect();
    Knowledge {
        hosts,
        causes: causes.cause,
        party_names: causes.party.into_iter().map(|p| (p.slug, p.name)).collect(),
        providers,
        entries,
        faq,
        phrases: builder.build(),
        by_code,
        ranges,
        classes,
    }
}
