//! The published packages as processes: what is installed, how a program of
//! `tests/interop` is started, how its answer is read.
//!
//! A machine without Node or the packages is told so, once and whether or not
//! the test's output is captured; with `POLYWIRE_REQUIRE_PEERS=1` it fails.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// What a test needs of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Node and the npm packages.
    Node,
    /// Node, the npm packages and Chromium.
    Browser,
}

/// Whether the machine has what `test` needs.
///
/// # Panics
/// If it has not and `POLYWIRE_REQUIRE_PEERS` is set to anything but `0`.
#[must_use]
pub fn available(need: Need, test: &str) -> bool {
    let Some(lack) = lack(need) else { return true };
    let required = env::var_os("POLYWIRE_REQUIRE_PEERS").is_some_and(|value| value != "0");
    assert!(!required, "{test} needs what this machine lacks: {lack}");
    // Not by `eprintln!`, which the test harness keeps to itself.
    writeln!(io::stderr(), "skipped {test}: {lack}").expect("standard error takes a line");
    false
}

fn lack(need: Need) -> Option<String> {
    let runs = |program: &str| {
        let output = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        output.is_ok_and(|status| status.success())
    };
    if !runs("node") {
        return Some("no Node (Debian: apt-get install nodejs npm)".to_owned());
    }
    for package in ["tests/interop", "examples/chat/web"] {
        let installed = root().join(package).join("node_modules/.package-lock.json");
        if !installed.exists() {
            return Some(format!("no npm packages in {package} (run scripts/install-peers)"));
        }
    }
    let chromium = env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    if need == Need::Browser && !runs(&chromium) {
        return Some("no Chromium (Debian: apt-get install chromium, or name one in CHROMIUM)".to_owned());
    }
    None
}

/// Waits until no other test of this program runs a peer: checks with deadlines
/// should not share the machine with each other.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // A test that failed leaves nothing behind that the next one could be hurt by.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The root of the repository.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the root")
}

/// A program of `tests/interop`, not yet started.
#[must_use]
pub fn program(name: &str) -> Command {
    let path: PathBuf = root().join("tests/interop").join(name);
    assert!(fs::exists(&path).unwrap_or(false), "no such program: {}", path.display());
    let mut command = Command::new("node");
    command.arg(path);
    command
}

/// Runs a program that reports checks to its end.
///
/// # Panics
/// If a check failed; the message holds what the program said about each.
pub fn run_checks(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("node starts");
    let report = String::from_utf8_lossy(&output.stdout);
    let failed: Vec<&str> = report.lines().filter(|line| !line.contains("\"ok\":true")).collect();
    let closing = report.lines().last().unwrap_or_default();
    assert!(
        output.status.success() && closing.ends_with(", 0 failed"),
        "{command:?}\n{}\n{}",
        failed.join("\n"),
        String::from_utf8_lossy(&output.stderr),
    );
    writeln!(io::stdout(), "{closing}").expect("standard output takes a line");
}

/// A running program that takes lines and answers each with a line.
#[derive(Debug)]
pub struct LineProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl LineProcess {
    /// Starts it.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output }
    }

    /// Sends a line.
    ///
    /// # Panics
    /// If the process is gone.
    pub fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).expect("the process takes a line");
    }

    /// The next line that it says, without the line end.
    ///
    /// # Panics
    /// If the process is gone.
    pub fn read(&mut self) -> String {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).expect("the process says a line");
        assert!(length > 0, "the process ended");
        line.truncate(line.trim_end_matches('\n').len());
        line
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        // Ends by itself when its input ends; this is for one that hangs.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
