//! Messages in both directions.

use std::sync::Arc;

use polywire::prelude::*;
use regex::Regex;
use tokio::sync::mpsc;

use crate::service::{Chat, Join, chat, described, start, value};

#[tokio::test]
async fn messages_reach_the_server_from_every_client() {
    let mut service = start(ServerOptions::default()).await;
    for client in service.clients().await {
        client.send(&Join { uid: 7.0 }).await.expect("sent");
        assert_eq!(service.joined.recv().await, Some(7.0), "{client:?}");
        client.send_named("user/Join", &value([("uid", 8.0.into())])).await.expect("sent");
        assert_eq!(service.joined.recv().await, Some(8.0), "{client:?}");
        let wrong = client.send_named("user/Join", &value([("uid", "8".into())])).await;
        let text = "Property `uid`: Expected type to be `number`, actually `string`.";
        assert_eq!(described(wrong), format!("[ClientError] {text} / ENCODE_MSG_ERR"));
        let unknown = client.send_named("Nope", &Value::Null).await;
        assert_eq!(described(unknown), "[ClientError] Invalid msg name: Nope / INVALID_MSG_NAME");
    }
}

#[tokio::test]
async fn handlers_get_what_they_listen_to_in_order() {
    let service = start(ServerOptions::default()).await;
    let [beginning_with_c, of_users] = ["^C", "^user/"].map(|pattern| Regex::new(pattern).expect("a pattern"));
    for json in [false, true] {
        let client = service.websocket(json).websocket().expect("a client");
        let (tell, mut told) = mpsc::unbounded_channel::<String>();
        let on = |who: &'static str| {
            let tell = tell.clone();
            move |name: Arc<str>, message: Value| {
                let content = message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
                tell.send(format!("{who} {name} {content}")).expect("the test listens");
                async {}
            }
        };
        let typed = {
            let tell = tell.clone();
            client.on_message(move |message: Chat| {
                tell.send(format!("typed {}", message.content)).expect("the test listens");
                async {}
            })
        };
        client.on_message_named("Chat", on("named"));
        let pattern = client.on_message_named(beginning_with_c.clone(), on("pattern"));
        client.on_message_named(of_users.clone(), on("never"));
        client.connect().await.expect("the server listens");

        client.send(&chat("one")).await.expect("sent");
        for expected in ["typed one", "named Chat one", "pattern Chat one"] {
            assert_eq!(told.recv().await.as_deref(), Some(expected));
        }
        assert!(client.remove_listener(typed) && client.remove_listener(pattern));
        assert!(!client.remove_listener(pattern));
        client.send(&chat("two")).await.expect("sent");
        assert_eq!(told.recv().await.as_deref(), Some("named Chat two"));
        client.remove_listeners();
        client.on_message_named("Chat", on("last"));
        client.send(&chat("three")).await.expect("sent");
        assert_eq!(told.recv().await.as_deref(), Some("last Chat three"));
        assert!(told.is_empty());
    }
}

#[tokio::test]
async fn a_handler_that_fails_or_panics_harms_nobody() {
    let service = start(ServerOptions::default()).await;
    let client = service.websocket(false).websocket().expect("a client");
    let (tell, mut told) = mpsc::unbounded_channel();
    client.on_message(|_: Chat| async { std::panic::panic_any("boom") as () });
    client.on_message(|_: Chat| async { Err("no") });
    client.on_message(move |message: Chat| {
        tell.send(message.content).expect("the test listens");
        async {}
    });
    client.connect().await.expect("the server listens");
    for content in ["one", "two"] {
        client.send(&chat(content)).await.expect("sent");
        assert_eq!(told.recv().await.as_deref(), Some(content));
    }
    assert!(client.is_connected());
}
