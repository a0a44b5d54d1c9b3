//! The order of frames on a connection.

use polywire_schema::Value;
use polywire_server::{Call, Dynamic, Server};

use crate::support::{hear, options, proto, say, start, text};

fn chat(content: &str) -> Value {
    Value::Object([("content", content.into()), ("time", Value::Date(0.0))].into_iter().collect())
}

fn sum(sum: f64) -> Dynamic {
    Dynamic(Value::Object([("sum", Value::Number(sum))].into_iter().collect()))
}

/// Answers first, then broadcasts, as the published chat does.
async fn answer_and_broadcast(call: Call<Dynamic>) {
    let number = call.get("a").and_then(Value::as_number).unwrap_or_default();
    call.succeed(sum(number));
    call.server().broadcast_named("Chat", &chat(&number.to_string())).expect("a valid message");
}

#[tokio::test]
async fn reply_k_then_broadcast_k_then_reply_k_plus_1() {
    let server = Server::with_options(options()).proto(proto()).api_named("Add", answer_and_broadcast);
    let address = start(&server).await;
    let (mut caller, mut other) = (text(&address).await, text(&address).await);
    // Both are admitted: they are answered.
    for raw in [&mut caller, &mut other] {
        raw.send_frame(9, b"ready").await;
        assert_eq!(hear(raw).await, "ready");
    }
    // All in one write, so that one read of the server holds them.
    let frames: Vec<u8> = (1..=50)
        .flat_map(|n| polywire_tests::raw::client_frame(1, format!(r#"["Add",{{"a":{n},"b":0}},{n}]"#).as_bytes()))
        .collect();
    caller.write(&frames).await;
    for n in 1..=50 {
        let message = format!(r#"["Chat",{{"content":"{n}","time":"1970-01-01T00:00:00.000Z"}}]"#);
        assert_eq!(hear(&mut caller).await, format!(r#"["Add",{{"isSucc":true,"res":{{"sum":{n}}}}},{n}]"#));
        assert_eq!(hear(&mut caller).await, message);
        assert_eq!(hear(&mut other).await, message);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_handler_that_waits_holds_nobody_up() {
    let (release, wait) = tokio::sync::watch::channel(false);
    let server = Server::with_options(options()).proto(proto()).api_named("Add", move |call: Call<Dynamic>| {
        let mut wait = wait.clone();
        async move {
            let number = call.get("a").and_then(Value::as_number).unwrap_or_default();
            if number < 2.0 {
                wait.wait_for(|released| *released).await.expect("the test lives");
            }
            Ok::<_, polywire_server::ApiError>(sum(number))
        }
    });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
    say(&mut raw, r#"["Add",{"a":2,"b":0},2]"#).await;
    assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":2}},2]"#);
    release.send_replace(true);
    assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":1}},1]"#);
    server.stop().await;
}
