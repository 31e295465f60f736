//! Packs the folder `knowledge/` into two JSON files that are embedded: parsing hundreds of TOML files would slow every start.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("..")
        .join("knowledge");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let mut packed = serde_json::Map::new();
    let mut examples = serde_json::Map::new();
    for (name, text) in files {
        let mut value: serde_json::Value = match toml::from_str(&text) {
            Ok(value) => value,
            Err(error) => panic!("knowledge/{name}: {error}"),
        };
        let place = if name == "causes.toml" {
            packed.insert("causes".into(), value);
            continue;
        } else if name.ends_with("/provider.toml") {
            "providers"
        } else if name.starts_with("faq/") {
            "faq"
        } else {
            examples.insert(name.clone(), take_examples(&mut value));
            "meanings"
        };
        let list = packed.entry(place).or_insert_with(|| serde_json::json!([]));
        list.as_array_mut()
            .expect("only lists are made")
            .push(serde_json::json!([name, value]));
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    write(
        &out.join("knowledge.json"),
        &serde_json::Value::Object(packed),
    );
    write(
        &out.join("examples.json"),
        &serde_json::Value::Object(examples),
    );
}

/// Examples are read by `knowledge check` only; without them every start is faster.
fn take_examples(file: &mut serde_json::Value) -> serde_json::Value {
    let meanings = file.get_mut("meaning").and_then(|m| m.as_array_mut());
    let taken = meanings.into_iter().flatten().map(|meaning| {
        let mut take = |key: &str| {
            meaning
                .as_object_mut()
                .and_then(|m| m.remove(key))
                .unwrap_or(serde_json::json!([]))
        };
        serde_json::json!([take("matches"), take("not")])
    });
    taken.collect()
}

fn write(path: &Path, value: &serde_json::Value) {
    let bytes = serde_json::to_vec(value).expect("values from TOML are JSON");
    fs::write(path, bytes).expect("OUT_DIR is writable");
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("knowledge/ stands beside bot/") {
        let path = entry.expect("readable folder").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|e| e == "toml")
            && path.file_name().is_some_and(|n| n != "template.toml")
        {
            println!("cargo::rerun-if-changed={}", path.display());
            let name = path
                .strip_prefix(root)
                .expect("below root")
                .to_string_lossy()
                .replace('\\', "/");
            files.push((name, fs::read_to_string(&path).expect("readable UTF-8")));
        }
    }
}
