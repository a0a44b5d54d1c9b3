//! npm `tsrpc` and `tsrpc-browser` clients against our server, on one port.

use std::time::Duration;

use polywire_net::Addr;
use polywire_server::{Server, ServerOptions, ServiceProto};
use polywire_tests::{
    node::{Need, alone, available, program, run_checks},
    test_service, vectors,
};
use tokio::runtime::Runtime;

/// A server of the test service on a runtime of its own, stopped at the end.
struct Running {
    runtime: Runtime,
    server: Server,
    url: String,
}

impl Running {
    fn start(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let proto = vectors::load_own("tsrpc-transport-vectors.json")["serviceProto"].to_string();
        let proto = ServiceProto::from_json(&proto).expect("the proto of the vectors");
        let mut options = test_service::options("json:true");
        change(&mut options);
        let server = test_service::server(proto, options);
        let addresses = runtime.block_on(server.start("127.0.0.1:0")).expect("a free port");
        let Some(Addr::Tcp(address)) = addresses.first() else { panic!("no TCP address: {addresses:?}") };
        let url = format!("http://{address}");
        Self { runtime, server, url }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The suites that stop the server have done so already.
        self.runtime.block_on(self.server.stop());
    }
}

fn run_suite(suite: &str, change: impl FnOnce(&mut ServerOptions)) {
    if !available(Need::Node, &format!("npm tsrpc clients, suite {suite}")) {
        return;
    }
    let _turn = alone();
    let running = Running::start(change);
    run_checks(program("client.mjs").args(["--suite", suite, "--url", &running.url]));
}

#[test]
fn npm_clients_see_what_they_see_of_npm_servers() {
    run_suite("main", |_| {});
}

#[test]
fn npm_clients_are_watched_for_heartbeats() {
    run_suite("watchdog", |options| options.heartbeat_wait = Some(Duration::from_millis(150)));
}

#[test]
fn npm_clients_are_told_of_a_stop() {
    run_suite("stop", |_| {});
}

#[test]
fn npm_clients_get_their_answers_before_a_graceful_stop() {
    run_suite("graceful", |options| options.api_timeout = Some(Duration::from_secs(10)));
}

#[test]
fn browser_clients_see_what_they_see_of_npm_servers() {
    if !available(Need::Browser, "npm tsrpc-browser clients in Chromium") {
        return;
    }
    let _turn = alone();
    let running = Running::start(|_| {});
    run_checks(program("browser.mjs").args(["--url", &running.url]));
}
