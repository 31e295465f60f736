//! The program `bouncedesk`.
use bot::knowledge::{check::check, load::Knowledge};
use bot::classify::{classify, Side};
use std::io::{Read, BufRead};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let a: Vec<&str> = args.iter().map(|s| s.as_str()).collect();
    let with = a.iter().position(|x| *x == "--with").and_then(|i| a.get(i+1));
    let (k, mut faults) = match with { Some(f) => Knowledge::from_folder((*f).as_ref()), None => Knowledge::embedded_with_faults() };
    match a.as_slice() {
        ["knowledge", "check", ..] => {
            faults.extend(check(&k));
            faults.sort_by(|a, b| a.file.cmp(&b.file));
            for f in &faults { println!("{}: {}", f.file, f.text); }
            println!("{} entries, {} wordings, {} faults", k.entries.len(), k.phrases.len(), faults.len());
        }
        ["knowledge", "try", ..] => {
            let mut t = Vec::new(); std::io::stdin().read_to_end(&mut t).unwrap();
            for n in bot::ndr::read(&t) {
                let d = classify(&n, &k, &Side::default());
                println!("{}", serde_json::to_string_pretty(&bot::compose::report::report(&[d])).unwrap());
            }
        }
        ["jsonl", ..] => {
            for line in std::io::stdin().lock().lines() {
                let v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
                let bytes = match v.get("path") { Some(p) => std::fs::read(p.as_str().unwrap()).unwrap(), None => v["text"].as_str().unwrap().as_bytes().to_vec() };
                let n = bot::ndr::read(&bytes);
                let d: Vec<_> = n.iter().map(|n| classify(n, &k, &Side::default())).collect();
                println!("{}", serde_json::to_string(&bot::compose::report::report(&d)).unwrap());
            }
        }
        _ => {}
    }
}
