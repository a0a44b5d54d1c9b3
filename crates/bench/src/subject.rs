//! What is compared: ours, the floor, and the peers. One more peer is one more entry.
//!
//! Every subject is a program that takes `--port PORT` and, for broadcasts, `--broadcast`,
//! prints `ready` when it listens on 127.0.0.1, and serves JSON and binary on that port.

use std::env;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::load::Mode;

/// The subject that all others are compared with.
pub(crate) const OURS: &str = "polywire";

/// One server of the contract.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The name in tables and in the JSON.
    pub(crate) name: &'static str,
    /// What it is, for people.
    pub(crate) about: &'static str,
    program: Program,
}

#[derive(Debug)]
enum Program {
    /// `polywire-bench serve NAME`.
    This,
    /// `server.js` in a folder of `peers/`, whose packages npm installs from its lock.
    Node { folder: &'static str },
}

/// All subjects, in the order of the tables.
pub(crate) const SUBJECTS: &[Subject] = &[
    Subject { name: OURS, about: "ours, as an application writes it", program: Program::This },
    Subject {
        name: "floor",
        about: "a minimal server of this crate that frames, parses and answers, nothing else",
        program: Program::This,
    },
    Subject {
        name: "npm-tsrpc",
        about: "the npm package `tsrpc`, plain JavaScript, logging off",
        program: Program::Node { folder: "npm-tsrpc" },
    },
];

impl Subject {
    /// Installs what the subject needs, unless it is there already, and tells its version.
    ///
    /// # Errors
    /// Why the subject has to be skipped, for people.
    pub(crate) fn install(&self) -> Result<String, String> {
        match self.program {
            Program::This => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            Program::Node { folder } => install_node(&peer_folder(folder)),
        }
    }

    /// The command that serves on `address`.
    ///
    /// # Errors
    /// When this program cannot find itself.
    pub(crate) fn command(&self, address: SocketAddr, mode: Mode) -> io::Result<Command> {
        let mut command = match self.program {
            Program::This => {
                let mut command = Command::new(env::current_exe()?);
                command.args(["serve", self.name]);
                command
            }
            Program::Node { folder } => {
                let mut command = Command::new("node");
                command.arg(peer_folder(folder).join("server.js"));
                command
            }
        };
        command.args(["--port", &address.port().to_string()]);
        if mode == Mode::Broadcast {
            command.arg("--broadcast");
        }
        Ok(command)
    }
}

fn peer_folder(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(folder)
}

/// Runs `npm ci` unless the installed packages are those of the lock.
fn install_node(folder: &Path) -> Result<String, String> {
    let node = first_line(Command::new("node").arg("--version"))
        .map_err(|error| format!("`node --version` failed: {error}"))?;
    let lock = folder.join("package-lock.json");
    let installed = folder.join("node_modules/.installed-lock.json");
    let wanted = fs::read(&lock).map_err(|error| format!("no package-lock.json: {error}"))?;
    if fs::read(&installed).ok().as_ref() != Some(&wanted) {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder).stdout(Stdio::null());
        match npm.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("`npm ci` failed: {status}")),
            Err(error) => return Err(format!("`npm ci` failed: {error}")),
        }
        fs::copy(&lock, &installed).map_err(|error| format!("cannot note the lock: {error}"))?;
    }
    let manifest = fs::read(folder.join("package.json")).map_err(|error| error.to_string())?;
    let packages = direct_dependencies(&manifest).ok_or("its package.json has no dependencies")?;
    Ok(format!("{packages} on node {node}"))
}

fn direct_dependencies(manifest: &[u8]) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(manifest).ok()?;
    let packages = manifest["dependencies"].as_object()?.iter();
    let packages: Option<Vec<String>> =
        packages.map(|(name, version)| Some(format!("{name} {}", version.as_str()?))).collect();
    Some(packages?.join(", "))
}

/// The first line that a program prints.
///
/// # Errors
/// When it cannot be run.
pub(crate) fn first_line(command: &mut Command) -> io::Result<String> {
    let output = command.stderr(Stdio::null()).output()?.stdout;
    let text = String::from_utf8_lossy(&output);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_manifest() {
        let manifest = br#"{"dependencies":{"tsrpc":"3.4.21","ws":"7.5.14"}}"#;
        let versions = direct_dependencies(manifest);
        assert_eq!(versions.as_deref(), Some("tsrpc 3.4.21, ws 7.5.14"));
        assert_eq!(direct_dependencies(b"{}"), None);
    }

    #[test]
    fn the_lock_of_every_peer_is_exact() {
        for subject in SUBJECTS {
            let Program::Node { folder } = subject.program else {
                continue;
            };
            let manifest = fs::read(peer_folder(folder).join("package.json")).unwrap();
            let versions = direct_dependencies(&manifest).unwrap();
            assert!(!versions.contains(['^', '~', '*', '>']), "{versions}");
        }
    }
}
