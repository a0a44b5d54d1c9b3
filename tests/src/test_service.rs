//! Our server with the service that all peers of the tests speak: the proto of
//! the transport vectors and the handlers that its `note` describes, the orders
//! of `tests/interop/lib/testproto.mjs` included.

use std::time::Duration;

use polywire_net::ws::CloseCode;
use polywire_schema::{Object, Value};
use polywire_server::{ApiError, Call, Dynamic, Msg, Reply, Server, ServerOptions, ServiceProto};

/// A server of the test service that has not been started.
#[must_use]
pub fn server(proto: ServiceProto, options: ServerOptions) -> Server {
    Server::with_options(options)
        .proto(proto)
        .api_named("Add", add)
        .api_named("Echo", async |call: Call<Dynamic>| Reply::Ok(call.into_request()))
        .api_named("Err", err)
        .api_named("Slow", slow)
        .on_message_named("Chat", answer_message)
        .on_message_named("user/Join", answer_message)
}

/// The options of the vectors' servers: the name is what stands in their `server`.
///
/// # Panics
/// Where the name has a part that no server of the known vectors has.
#[must_use]
pub fn options(name: &str) -> ServerOptions {
    let mut options = ServerOptions {
        // What the vectors were captured with.
        api_timeout: Some(Duration::from_millis(300)),
        return_inner_error: true,
        ..ServerOptions::default()
    };
    for part in name.split(", ") {
        match part {
            "json:true" => options.json = true,
            "json:false" => options.json = false,
            "cors:undefined" => options.cors = None,
            other => match other.strip_prefix("jsonHostPath:") {
                Some(path) => options.json_host_path = path.trim_matches('"').to_owned(),
                None => panic!("a vector needs a server option that the runner does not know: {other}"),
            },
        }
    }
    options
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().collect::<Object>())
}

async fn add(call: Call<Dynamic>) -> Reply<Dynamic> {
    let number = |key| call.get(key).and_then(Value::as_number).unwrap_or(f64::NAN);
    Ok(Dynamic(object([("sum", Value::Number(number("a") + number("b")))])))
}

async fn slow(call: Call<Dynamic>) -> Reply<Dynamic> {
    let ms = call.get("ms").and_then(Value::as_number).unwrap_or_default();
    tokio::time::sleep(Duration::from_secs_f64(ms / 1000.0)).await;
    Ok(Dynamic(object([])))
}

async fn err(call: Call<Dynamic>) {
    let ok = |value: Value| Dynamic(object([("ok", value)]));
    match call.get("mode").and_then(Value::as_str).unwrap_or_default() {
        "api" => call.fail("bad thing"),
        "code" => call.fail(ApiError::new("bad thing").code("E_CODE")),
        "intcode" => call.fail(ApiError::new("bad thing").code(-5)),
        // The published text of a thrown error is its message alone.
        "throw" => std::panic::panic_any("boom"),
        "throwTsrpc" => {
            let error = ApiError::new("tboom").code("T").with("foo", object([("x", Value::Number(1.0))]));
            call.fail(error.with("d", Value::Date(0.0)));
        }
        "badres" => call.succeed(ok("notbool".into())),
        "extra" => call.succeed(Dynamic(object([("ok", true.into()), ("zzz", 1.0.into())]))),
        "twice" => {
            call.succeed(ok(true.into()));
            call.succeed(ok(false.into()));
            call.fail("too late");
        }
        _ => {}
    }
}

async fn answer_message(message: Msg<Dynamic>) {
    if let Some(content) = message.get("content").and_then(Value::as_str)
        && obey(&message, content)
    {
        return;
    }
    let text = format!("got {}", message.service().name);
    // Over HTTP nobody can be answered, as published.
    let _ = message.conn().send_named("Chat", &chat(&text));
}

fn chat(content: &str) -> Value {
    object([("content", content.into()), ("time", Value::Date(0.0))])
}

/// Carries out an order; false where the content is none.
fn obey(message: &Msg<Dynamic>, content: &str) -> bool {
    let (order, rest) = content.split_once(' ').unwrap_or((content, ""));
    let server = message.server().clone();
    match order {
        "!broadcast" => drop(server.broadcast_named("Chat", &chat(rest))),
        "!close" => {
            let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            message.conn().close_with(CloseCode(code.parse().unwrap_or(1000)), reason);
        }
        "!stop" => drop(tokio::spawn(async move { server.stop().await })),
        "!graceful-stop" => drop(tokio::spawn(async move { server.graceful_stop(None).await })),
        _ => return false,
    }
    true
}
