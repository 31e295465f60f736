//! The program `bouncedesk serve` as people run it: a folder with its config, its process, its log.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{PROGRAM, figures};

/// A program that serves, and its folder.
pub struct Serving {
    folder: TempDir,
    program: Option<Beside>,
}

impl Serving {
    /// A folder with a config and files of secrets. Nothing is started.
    pub fn lay(config: &str, secrets: &[(&str, &str)]) -> Self {
        let serving = Self {
            folder: tempfile::tempdir().expect("a folder can be made"),
            program: None,
        };
        for (name, text) in secrets.iter().chain(&[("bouncedesk.toml", config)]) {
            serving.write(name, text);
        }
        serving
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).expect("a file can be written");
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A log in the folder that goes on where it ended.
    pub fn log(&self, name: &str) -> File {
        let file = File::options()
            .create(true)
            .append(true)
            .open(self.path().join(name));
        file.expect("a log can be written")
    }

    pub fn start(&mut self) {
        let program = Command::new(PROGRAM)
            .arg("serve")
            .arg("--config")
            .arg(self.path().join("bouncedesk.toml"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(self.log("log"))
            .spawn();
        self.program = Some(Beside(program.expect("the program starts")));
    }

    /// As a power cut or the out-of-memory killer ends it.
    pub fn kill(&mut self) {
        assert!(self.program.take().is_some(), "it runs");
    }

    /// What stands in a log.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    /// What the program holds of the memory, in MB.
    pub fn resident(&self) -> f64 {
        figures::resident(&self.program.as_ref().expect("it runs").0)
    }

    /// Waits until it is so, and else shows the end of the log.
    pub fn until(&self, what: &str, patience: Duration, so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !so() {
            if begun.elapsed() > patience {
                let log = self.read("log");
                let lines: Vec<&str> = log.lines().collect();
                let end = lines.get(lines.len().saturating_sub(20)..);
                panic!(
                    "not within {patience:?}: {what}\n{}",
                    end.unwrap_or_default().join("\n")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A program beside it that ends with this.
pub struct Beside(pub Child);

impl Drop for Beside {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.0.kill();
        let _waited = self.0.wait();
    }
}
