//! The peers among themselves: what the programs of `tests/interop` expect is
//! what the npm servers do, and the vectors are what the npm packages say.

use polywire_tests::node::{LineProcess, Need, alone, available, program, run_checks};
use serde_json::Value as Json;

#[test]
fn npm_clients_see_it_of_npm_servers() {
    if !available(Need::Node, "npm clients against npm servers") {
        return;
    }
    let _turn = alone();
    let mut server = LineProcess::start(&mut program("server.mjs"));
    let ready = server.read();
    let urls: Json = serde_json::from_str(ready.trim_start_matches("ready ")).expect("the addresses");
    let url = |transport: &str| urls[transport].as_str().expect("an address").to_owned();
    run_checks(program("client.mjs").args(["--http", &url("http"), "--ws", &url("ws"), "--published", "true"]));
}

#[test]
fn transport_vectors_are_what_npm_servers_and_clients_say() {
    if !available(Need::Node, "transport vectors against npm servers") {
        return;
    }
    let _turn = alone();
    run_checks(&mut program("replay.mjs"));
}

#[test]
fn tsbuffer_vectors_are_what_npm_tsbuffer_says() {
    if !available(Need::Node, "TSBuffer vectors against npm tsbuffer") {
        return;
    }
    let _turn = alone();
    run_checks(&mut program("tsbuffer-vectors.mjs"));
}
