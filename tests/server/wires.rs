//! The same service over TLS and with compression.

use polywire_client::Client;
use polywire_net::tls::{ClientTls, ServerTls};
use polywire_schema::Value;

use crate::support::{options, proto, server, start, text};

fn add(a: f64, b: f64) -> Value {
    Value::Object([("a", Value::Number(a)), ("b", Value::Number(b))].into_iter().collect())
}

#[tokio::test]
async fn one_port_serves_wss_and_https() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let chain = certified.cert.pem();
    let mut options = options();
    options.tls =
        Some(ServerTls::from_pem(chain.as_bytes(), certified.signing_key.serialize_pem().as_bytes()).expect("a key"));
    let server = server(options);
    let address = start(&server).await;
    let port = address.rsplit(':').next().expect("a port");
    let client = |scheme: &str, json: bool| {
        let tls = ClientTls::from_pem(chain.as_bytes()).expect("a root");
        Client::builder(format!("{scheme}://localhost:{port}"))
            .proto(proto())
            .json(json)
            .options(|options| options.tls = Some(tls))
    };
    for json in [true, false] {
        let ws = client("wss", json).websocket().expect("a client");
        ws.connect().await.expect("a connection");
        let response = ws.call_named("Add", add(1.0, 2.0)).await.expect("an answer");
        assert_eq!(response.get("sum"), Some(&Value::Number(3.0)));
        ws.disconnect().await;
        let http = client("https", json).http().expect("a client");
        let response = http.call_named("Add", add(3.0, 4.0)).await.expect("an answer");
        assert_eq!(response.get("sum"), Some(&Value::Number(7.0)));
    }
    server.stop().await;
}

#[tokio::test]
async fn compression_is_agreed_on_only_where_both_sides_want_it() {
    let long = "a text that repeats itself, ".repeat(1000);
    let request = Value::Object([("s", Value::from(long.as_str()))].into_iter().collect());
    for (server_wants, client_wants) in [(false, true), (true, false), (true, true)] {
        let mut options = options();
        options.compression = server_wants;
        let server = server(options);
        let address = start(&server).await;
        let client = Client::builder(format!("ws://{address}"))
            .proto(proto())
            .json(true)
            .options(|options| options.compression = client_wants)
            .websocket()
            .expect("a client");
        client.connect().await.expect("a connection");
        for _ in 0..3 {
            let response = client.call_named("Echo", request.clone()).await.expect("an answer");
            assert_eq!(response.get("s").and_then(Value::as_str), Some(&*long));
        }
        client.disconnect().await;
        server.stop().await;
    }
}

#[tokio::test]
async fn a_client_that_offers_no_compression_gets_none() {
    let mut options = options();
    options.compression = true;
    let server = server(options);
    let address = start(&server).await;
    // The helper checks the answer to the handshake; it offers no extension.
    let mut raw = text(&address).await;
    let long = "x".repeat(5000);
    crate::support::say(&mut raw, &format!(r#"["Echo",{{"s":"{long}"}},1]"#)).await;
    assert_eq!(crate::support::hear(&mut raw).await, format!(r#"["Echo",{{"isSucc":true,"res":{{"s":"{long}"}}}},1]"#));
    server.stop().await;
}
