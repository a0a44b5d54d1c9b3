//! What hooks and iterators of an application do while the server sends: the
//! server holds nothing that they need.

use std::{future::Future, pin::Pin};

use polywire::prelude::{DateTime, Message};
use polywire_schema::Value;
use polywire_server::{OutgoingMessage, SendError, Server};
use tokio::sync::oneshot;

use crate::support::{PATIENCE, hear, options, server, start, text};

/// The message of the test service.
#[derive(Message)]
struct Chat {
    content: String,
    time: DateTime,
}

type Work = Box<dyn FnOnce(Server) -> Result<usize, SendError> + Send>;

fn chat(content: &str) -> Value {
    Value::Object([("content", content.into()), ("time", Value::Date(0.0))].into_iter().collect())
}

/// Runs it on a thread of its own: a deadlock would take the test's timer with it.
fn apart(server: &Server, work: Work) -> Pin<Box<dyn Future<Output = Result<usize, SendError>>>> {
    let (done, is_done) = oneshot::channel();
    let (server, runtime) = (server.clone(), tokio::runtime::Handle::current());
    std::thread::spawn(move || {
        let _runtime = runtime.enter();
        // Where the test has given up, nobody listens.
        let _ = done.send(work(server));
    });
    Box::pin(async move {
        let result = tokio::time::timeout(PATIENCE, is_done).await;
        result.expect("no deadlock").expect("the thread answers")
    })
}

#[tokio::test]
async fn a_hook_may_broadcast_and_look_at_the_connections_while_a_broadcast_goes_out() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = text(&address).await;
    server.flows().post_send_msg.push(|sent: OutgoingMessage| async move {
        let server = sent.conn.server();
        if sent.message.get("content").and_then(Value::as_str) == Some("first") {
            assert_eq!(server.connections().len(), 1);
            server.broadcast_named("Chat", &chat("second"))?;
        }
        Ok::<_, SendError>(sent)
    });
    let sent = apart(&server, Box::new(|server| server.broadcast_named("Chat", &chat("first")))).await;
    assert_eq!(sent, Ok(1));
    for content in ["first", "second"] {
        let expected = format!(r#"["Chat",{{"content":"{content}","time":"1970-01-01T00:00:00.000Z"}}]"#);
        assert_eq!(hear(&mut raw).await, expected);
    }
    let wrong = apart(&server, Box::new(|server| server.broadcast_named("Chat", &Value::Null))).await;
    assert!(matches!(wrong, Err(SendError::Invalid(_))), "{wrong:?}");
}

#[tokio::test]
async fn a_hook_does_not_make_an_http_caller_a_receiver_of_messages() {
    let server = server(options());
    let address = start(&server).await;
    server.flows().post_send_msg.push(|sent: OutgoingMessage| async move { sent });
    server.flows().pre_api_call.push(|pending: polywire_server::PendingRequest| async move {
        let refused = pending.call.conn().send_named("Chat", &chat("x"));
        assert_eq!(refused, Err(SendError::ShortConnection));
        let conn = pending.call.conn();
        let line = Chat { content: "x".to_owned(), time: DateTime::now() };
        assert_eq!(conn.server().broadcast_to([conn], &line), Ok(0));
        pending
    });
    let answer = crate::support::post(&address, "/Add", r#"{"a":1,"b":2}"#).await.expect("an answer");
    assert_eq!(String::from_utf8_lossy(&answer.body), r#"{"isSucc":true,"res":{"sum":3}}"#);
}
