//! Packs the folder `knowledge/` into one JSON file that is embedded: parsing hundreds of TOML files would slow every start.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("..")
        .join("knowledge");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let packed: Vec<serde_json::Value> = files
        .into_iter()
        .map(|(name, text)| match toml::from_str::<serde_json::Value>(&text) {
            Ok(value) => serde_json::json!([name, value]),
            Err(error) => panic!("knowledge/{name}: {error}"),
        })
        .collect();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("knowledge.json");
    fs::write(
        out,
        serde_json::to_vec(&packed).expect("values from TOML are JSON"),
    )
    .expect("OUT_DIR is writable");
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
