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

use crate::contract::Encoding;
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
    /// What it speaks.
    encodings: &'static [Encoding],
    program: Program,
}

#[derive(Debug)]
enum Program {
    /// `polywire-bench serve NAME`.
    This,
    /// A script in a folder of `peers/`, whose packages npm installs from its lock.
    Node { folder: &'static str, script: &'static str, packages: &'static [&'static str] },
    /// A program of `peers/rust`, which is built when it is needed.
    Rust { bin: &'static str, package: &'static str },
}

/// All subjects, in the order of the tables.
pub(crate) const SUBJECTS: &[Subject] = &[
    Subject {
        name: OURS,
        about: "ours, as an application writes it",
        encodings: &Encoding::ALL,
        program: Program::This,
    },
    Subject {
        name: "floor",
        about: "a minimal server of this crate that frames, parses and answers, nothing else",
        encodings: &Encoding::ALL,
        program: Program::This,
    },
    Subject {
        name: "npm-tsrpc",
        about: "the npm package `tsrpc`, plain JavaScript, logging off",
        encodings: &Encoding::ALL,
        program: Program::Node { folder: "npm-tsrpc", script: "server.js", packages: &["tsrpc"] },
    },
    Subject {
        name: "ws-ajv",
        about: "the npm packages `ws` and `ajv`",
        encodings: &[Encoding::Json],
        program: Program::Node { folder: "node", script: "ws-ajv.js", packages: &["ws", "ajv"] },
    },
    Subject {
        name: "fastify-ws",
        about: "fastify's WebSocket plugin with `ajv`",
        encodings: &[Encoding::Json],
        program: Program::Node {
            folder: "node",
            script: "fastify-ws.js",
            packages: &["fastify", "@fastify/websocket", "ajv"],
        },
    },
    Subject {
        name: "axum-ws",
        about: "axum's WebSocket with serde_json, a task and a channel for each connection",
        encodings: &[Encoding::Json],
        program: Program::Rust { bin: "axum-ws", package: "axum" },
    },
];

impl Subject {
    /// Whether it can be measured on this scenario.
    pub(crate) fn takes(&self, encoding: Encoding) -> bool {
        self.encodings.contains(&encoding)
    }

    /// Installs what the subject needs, unless it is there already, and tells its version.
    ///
    /// # Errors
    /// Why the subject has to be skipped, for people.
    pub(crate) fn install(&self) -> Result<String, String> {
        match self.program {
            Program::This => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            Program::Node { folder, packages, .. } => install_node(&peer_folder(folder), packages),
            Program::Rust { package, .. } => install_rust(package),
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
            Program::Node { folder, script, .. } => {
                let mut command = Command::new("node");
                command.arg(peer_folder(folder).join(script));
                command
            }
            Program::Rust { bin, .. } => Command::new(peer_folder("rust").join("target/release").join(bin)),
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
fn install_node(folder: &Path, packages: &[&str]) -> Result<String, String> {
    let node = first_line(Command::new("node").arg("--version"))
        .map_err(|error| format!("`node --version` failed: {error}"))?;
    let lock = folder.join("package-lock.json");
    let installed = folder.join("node_modules/.installed-lock.json");
    let wanted = fs::read(&lock).map_err(|error| format!("no package-lock.json: {error}"))?;
    if fs::read(&installed).ok().as_ref() != Some(&wanted) {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(folder)
            .stdout(Stdio::null());
        match npm.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("`npm ci` failed: {status}")),
            Err(error) => return Err(format!("`npm ci` failed: {error}")),
        }
        fs::copy(&lock, &installed).map_err(|error| format!("cannot note the lock: {error}"))?;
    }
    let manifest = fs::read(folder.join("package.json")).map_err(|error| error.to_string())?;
    let packages = pinned(&manifest, packages).ok_or("its package.json lacks a package that is measured")?;
    Ok(format!("{packages} on node {node}"))
}

/// Builds all Rust peers, unless they are built, and tells the version of the package that one is about.
fn install_rust(package: &str) -> Result<String, String> {
    let folder = peer_folder("rust");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--quiet"]).current_dir(&folder).stdout(Stdio::null());
    match cargo.status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("`cargo build` failed: {status}")),
        Err(error) => return Err(format!("`cargo build` failed: {error}")),
    }
    let lock = fs::read_to_string(folder.join("Cargo.lock")).map_err(|error| error.to_string())?;
    let version = locked_version(&lock, package).ok_or_else(|| format!("{package} is not in the lock"))?;
    Ok(format!("{package} {version}"))
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let named = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != named);
    lines.nth(1)?.strip_prefix("version = ")?.strip_prefix('"')?.strip_suffix('"')
}

/// The versions of these packages in a manifest.
fn pinned(manifest: &[u8], packages: &[&str]) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(manifest).ok()?;
    let version = |name: &&str| Some(format!("{name} {}", manifest["dependencies"][name].as_str()?));
    let packages: Option<Vec<String>> = packages.iter().map(version).collect();
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
        assert_eq!(pinned(manifest, &["tsrpc", "ws"]).as_deref(), Some("tsrpc 3.4.21, ws 7.5.14"));
        assert_eq!(pinned(manifest, &["ajv"]), None);
        assert_eq!(pinned(b"{}", &["ws"]), None);
    }

    #[test]
    fn versions_of_rust_peers_are_those_of_the_lock() {
        let lock = fs::read_to_string(peer_folder("rust").join("Cargo.lock")).unwrap();
        for subject in SUBJECTS {
            if let Program::Rust { package, .. } = subject.program {
                assert!(locked_version(&lock, package).is_some(), "{package}");
            }
        }
        assert_eq!(locked_version("[[package]]\nname = \"a\"\nversion = \"1.2.3\"\n", "a"), Some("1.2.3"));
        assert_eq!(locked_version(&lock, "no-such-package"), None);
    }

    #[test]
    fn the_lock_of_every_peer_is_exact() {
        for subject in SUBJECTS {
            let Program::Node { folder, packages, .. } = subject.program else {
                continue;
            };
            let manifest = fs::read(peer_folder(folder).join("package.json")).unwrap();
            let versions = pinned(&manifest, packages).unwrap();
            assert!(!versions.contains(['^', '~', '*', '>']), "{versions}");
        }
    }
}
