//! Handlers of messages that come and go, of the server and of one connection;
//! what a connection carries along; to whom a message is sent.

use std::sync::{Arc, Mutex};

use polywire_schema::Value;
use polywire_server::{Call, Conn, Dynamic, Msg, Reply, SendError, Server};
use polywire_tests::raw::Raw;
use regex::Regex;

use crate::support::{PATIENCE, hear, options, post, proto, say, start, text};

type Heard = Arc<Mutex<Vec<String>>>;

/// A handler that writes down who heard what.
fn note(heard: &Heard, who: &str) -> impl Fn(Msg<Dynamic>) -> std::future::Ready<()> + Send + Sync + 'static {
    let (heard, who) = (Arc::clone(heard), who.to_owned());
    move |message| {
        heard.lock().expect("no handler panics").push(format!("{who}: {}", message.service().name));
        std::future::ready(())
    }
}

const CHAT: &str = r#"["Chat",{"content":"x","time":"1970-01-01T00:00:00.000Z"}]"#;
const JOIN: &str = r#"["user/Join",{"uid":1}]"#;

/// Says something and waits until the server has heard it.
async fn said(raw: &mut Raw, frames: &[&str]) {
    for frame in frames {
        say(raw, frame).await;
    }
    raw.send_frame(9, b"heard").await;
    assert_eq!(hear(raw).await, "heard");
}

fn take(heard: &Heard) -> Vec<String> {
    std::mem::take(&mut *heard.lock().expect("no handler panics"))
}

/// The only connection of a server.
async fn only(server: &Server) -> Conn {
    tokio::time::timeout(PATIENCE, async {
        loop {
            match &server.connections()[..] {
                [conn] => return conn.clone(),
                _ => tokio::task::yield_now().await,
            }
        }
    })
    .await
    .expect("one connection")
}

#[tokio::test]
async fn handlers_are_called_in_the_order_in_which_they_came_the_connections_own_first() {
    let heard = Heard::default();
    let server = Server::with_options(options())
        .proto(proto())
        .on_message_named("Chat", note(&heard, "first"))
        .on_message_named("Chat", note(&heard, "second"));
    let address = start(&server).await;
    let mut raw = text(&address).await;
    only(&server).await.on_message_named("Chat", note(&heard, "own"));
    said(&mut raw, &[CHAT, JOIN]).await;
    assert_eq!(take(&heard), ["own: Chat", "first: Chat", "second: Chat"]);
    server.stop().await;
}

#[tokio::test]
async fn handlers_come_and_go_while_the_server_runs() {
    let heard = Heard::default();
    let server = Server::with_options(options()).proto(proto());
    let address = start(&server).await;
    let mut raw = text(&address).await;
    let conn = only(&server).await;

    let of_server = server.listen_message("Chat", note(&heard, "server"));
    let by_pattern = server.listen_message(Regex::new("^user/").expect("a pattern"), note(&heard, "pattern"));
    let own = conn.on_message_named("Chat", note(&heard, "own"));
    said(&mut raw, &[CHAT, JOIN]).await;
    assert_eq!(take(&heard), ["own: Chat", "server: Chat", "pattern: user/Join"]);

    assert!(server.remove_listener(of_server) && !server.remove_listener(of_server));
    said(&mut raw, &[CHAT, JOIN]).await;
    assert_eq!(take(&heard), ["own: Chat", "pattern: user/Join"]);

    assert!(conn.remove_listener(own) && !conn.remove_listener(own));
    assert!(server.remove_listener(by_pattern));
    conn.on_message_named("Chat", note(&heard, "again"));
    conn.remove_listeners();
    said(&mut raw, &[CHAT, JOIN]).await;
    assert!(take(&heard).is_empty());
    server.stop().await;
}

#[tokio::test]
async fn an_api_that_was_removed_is_unhandled() {
    let server = polywire_tests::test_service::server(proto(), options());
    let address = start(&server).await;
    assert!(server.remove_api("Add") && !server.remove_api("Add") && !server.remove_api("Nope"));
    let answer = post(&address, "/Add", r#"{"a":1,"b":2}"#).await.expect("an answer");
    assert_eq!(
        String::from_utf8_lossy(&answer.body),
        r#"{"isSucc":false,"err":{"message":"Unhandled API: Add","type":"ServerError","code":"UNHANDLED_API"}}"#
    );
    server.stop().await;
}

#[tokio::test]
async fn a_connection_carries_what_the_application_gave_it() {
    #[derive(Debug, PartialEq)]
    struct User(String);

    let server = Server::with_options(options()).proto(proto()).api_named("Echo", async |call: Call<Dynamic>| {
        let name = call.get("s").and_then(Value::as_str).unwrap_or_default().to_owned();
        let before = call.conn().set(User(name));
        let before = before.map_or("nobody".to_owned(), |user| user.0.clone());
        Reply::Ok(Dynamic(Value::Object([("s", Value::from(before.as_str()))].into_iter().collect())))
    });
    let address = start(&server).await;
    let (mut one, mut other) = (text(&address).await, text(&address).await);
    let call = |name: &str| format!(r#"["Echo",{{"s":"{name}"}},1]"#);
    let answer = |name: &str| format!(r#"["Echo",{{"isSucc":true,"res":{{"s":"{name}"}}}},1]"#);
    for (raw, name, before) in [(&mut one, "Ann", "nobody"), (&mut other, "Bob", "nobody")] {
        say(raw, &call(name)).await;
        assert_eq!(hear(raw).await, answer(before));
    }
    say(&mut one, &call("Eve")).await;
    assert_eq!(hear(&mut one).await, answer("Ann"));
    let users: Vec<_> = server.connections().iter().filter_map(|conn| conn.remove::<User>()).collect();
    assert_eq!(users.len(), 2);
    assert!(server.connections().iter().all(|conn| conn.get::<User>().is_none()));
    server.stop().await;
}

#[tokio::test]
async fn a_message_goes_to_those_it_is_sent_to() {
    use polywire::{DateTime, Message, Schema as _};

    #[derive(Message)]
    struct Chat {
        content: String,
        time: DateTime,
    }
    let time = DateTime::from_value(Value::Date(0.0)).expect("a date");
    let chat = |content: &str| Chat { content: content.to_owned(), time };
    let frame = |content: &str| format!(r#"["Chat",{{"content":"{content}","time":"1970-01-01T00:00:00.000Z"}}]"#);

    let server = Server::with_options(options()).proto(proto()).message::<Chat>();
    assert!(matches!(server.broadcast(&chat("too early")), Err(SendError::NotStarted)));
    let address = start(&server).await;
    let mut peers = [text(&address).await, text(&address).await, text(&address).await];
    for raw in &mut peers {
        said(raw, &[]).await;
    }
    let mut conns = server.connections();
    conns.sort_by_key(Conn::id);
    assert_eq!(server.broadcast(&chat("all")).expect("a valid message"), 3);
    assert_eq!(server.broadcast_to(&conns[1..], &chat("some")).expect("a valid message"), 2);
    conns[2].send(&chat("one")).expect("a valid message");
    for (raw, heard) in peers.iter_mut().zip([&["all"][..], &["all", "some"], &["all", "some", "one"]]) {
        for content in heard {
            assert_eq!(hear(raw).await, frame(content));
        }
        said(raw, &[]).await;
    }
    server.stop().await;
    assert!(matches!(conns[2].send(&chat("too late")), Err(SendError::Closed)));
}
