//! The program, its page in two tabs of a browser, and what of it is made by tools.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use polywire_tests::node::{Need, alone, available, program, root, run_checks};

const CHAT: &str = env!("CARGO_BIN_EXE_chat");

/// The running example, ended with the test.
struct Chat {
    child: Child,
    url: String,
}

impl Chat {
    fn start() -> Self {
        // The example takes an address, not "any": one that was free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
        let mut child =
            Command::new(CHAT).arg(port.to_string()).stdout(Stdio::piped()).spawn().expect("the example starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line when it listens");
        assert!(line.contains(&format!("http://{port}")), "the example said: {line}");
        Self { child, url: format!("http://{port}") }
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        // It may have ended by itself; then the test has failed already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn two_tabs_chat() {
    if !available(Need::Browser, "the chat page in Chromium") {
        return;
    }
    let _turn = alone();
    let chat = Chat::start();
    let mut command = program("browser.mjs");
    command.args(["--chat", &chat.url]);
    if let Some(folder) = env::var_os("POLYWIRE_SCREENSHOTS") {
        command.arg("--screenshots").arg(folder);
    }
    run_checks(&mut command);
}

#[test]
fn the_service_proto_of_the_page_is_written_by_the_example() {
    let output = Command::new(CHAT).arg("proto").output().expect("the example starts");
    let committed = fs::read(root().join("examples/chat/web/serviceProto.ts")).expect("the committed file");
    assert!(
        output.stdout == committed,
        "run: cargo run -p chat -- proto > examples/chat/web/serviceProto.ts\n{}",
        String::from_utf8_lossy(&output.stdout),
    );
}

#[test]
fn the_committed_page_is_what_its_sources_give() {
    if !available(Need::Node, "the build of the chat page") {
        return;
    }
    let _turn = alone();
    let web = root().join("examples/chat/web");
    let status = Command::new("npm").args(["run", "--silent", "check"]).current_dir(web).status().expect("npm starts");
    assert!(status.success(), "run: npm run build, in examples/chat/web");
}
