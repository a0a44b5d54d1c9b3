//! The flows: their order, stopping, changing, answering, failing.

use std::sync::{Arc, Mutex};

use polywire_schema::Value;
use polywire_server::{
    ApiError, ApiReturn, BufferData, CallInfo, Conn, Data, Disconnect, OutgoingMessage, PendingRequest,
    ReceivedMessage, RecvData, SendData, Server,
};

use crate::support::{PATIENCE, hear, options, post, say, server, start, text};

type Log = Arc<Mutex<Vec<&'static str>>>;

/// Hooks that only write down their names, on every flow.
fn record(server: &Server) -> Log {
    let log = Log::default();
    macro_rules! note {
        ($($flow:ident: $input:ty),* $(,)?) => {$(
            let noted = Arc::clone(&log);
            server.flows().$flow.push(move |input: $input| {
                noted.lock().expect("no hook panics").push(stringify!($flow));
                async move { input }
            });
        )*};
    }
    note! {
        post_connect: Conn, post_disconnect: Disconnect, pre_recv_data: RecvData, pre_recv_buffer: BufferData,
        pre_api_call: PendingRequest, post_api_call: CallInfo, pre_api_return: ApiReturn, post_api_return: ApiReturn,
        pre_msg_call: ReceivedMessage, post_msg_call: ReceivedMessage, pre_send_msg: OutgoingMessage,
        post_send_msg: OutgoingMessage, pre_send_data: SendData, pre_send_buffer: BufferData,
    }
    log
}

async fn wait_for(log: &Log, last: &str) -> Vec<&'static str> {
    tokio::time::timeout(PATIENCE, async {
        loop {
            let seen = log.lock().expect("no hook panics").clone();
            if seen.last() == Some(&last) {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap_or_else(|_| panic!("{last} did not run: {log:?}"))
}

#[tokio::test]
async fn flows_run_in_the_published_order() {
    let server = server(options());
    let log = record(&server);
    let address = start(&server).await;

    // Over HTTP (reference §12.6, without the buffer flows: this is text).
    assert!(post(&address, "/Add", r#"{"a":1,"b":2}"#).await.is_some());
    let http = wait_for(&log, "post_disconnect").await;
    #[rustfmt::skip]
    assert_eq!(http, [
        "post_connect", "pre_recv_data", "pre_api_call", "pre_api_return", "pre_send_data", "post_api_return",
        "post_api_call", "post_disconnect",
    ]);

    // A message on a WebSocket, which the handler answers by a message.
    log.lock().unwrap().clear();
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Chat",{"content":"x","time":"1970-01-01T00:00:00.000Z"}]"#).await;
    assert!(hear(&mut raw).await.starts_with(r#"["Chat""#));
    let message = wait_for(&log, "post_msg_call").await;
    #[rustfmt::skip]
    assert_eq!(message, [
        "post_connect", "pre_recv_data", "pre_msg_call", "pre_send_msg", "pre_send_data", "post_send_msg",
        "post_msg_call",
    ]);
    server.stop().await;
}

#[tokio::test]
async fn hooks_change_stop_and_answer() {
    let server = server(options());
    server.flows().pre_api_call.push(|mut pending: PendingRequest| async move {
        let Value::Object(request) = &mut pending.request else { return Some(pending) };
        match request.get("a").and_then(Value::as_number) {
            Some(403.0) => {
                pending.call.fail(ApiError::new("not you").code("FORBIDDEN"));
                None
            }
            Some(1.0) => {
                request.set("b", Value::Number(100.0));
                Some(pending)
            }
            Some(500.0) => panic!("a hook panics"),
            _ => Some(pending),
        }
    });
    server.flows().pre_api_return.push(|mut returned: ApiReturn| async move {
        if let Ok(Value::Object(response)) = &mut returned.result
            && response.get("sum").and_then(Value::as_number) == Some(42.0)
        {
            response.set("sum", Value::Number(43.0));
        }
        returned
    });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    #[rustfmt::skip]
    let cases = [
        (r#"["Add",{"a":1,"b":2},1]"#,   r#"["Add",{"isSucc":true,"res":{"sum":101}},1]"#),
        (r#"["Add",{"a":403,"b":2},2]"#, r#"["Add",{"isSucc":false,"err":{"message":"not you","type":"ApiError","code":"FORBIDDEN"}},2]"#),
        (r#"["Add",{"a":40,"b":2},3]"#,  r#"["Add",{"isSucc":true,"res":{"sum":43}},3]"#),
        (r#"["Add",{"a":500,"b":2},4]"#, r#"["Add",{"isSucc":false,"err":{"message":"Internal Server Error","type":"ServerError","code":"INTERNAL_ERR","innerErr":"a hook panics"}},4]"#),
    ];
    for (call, answer) in cases {
        say(&mut raw, call).await;
        assert_eq!(hear(&mut raw).await, answer);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_return_hook_that_fails_is_answered_for_once() {
    let server = server(options());
    server.flows().pre_api_return.push(|_: ApiReturn| async { Err::<ApiReturn, _>(std::io::Error::other("no")) });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":2},1]"#).await;
    let error = r#"{"message":"Internal Server Error","type":"ServerError","code":"INTERNAL_ERR","innerErr":"no"}"#;
    assert_eq!(hear(&mut raw).await, format!(r#"["Add",{{"isSucc":false,"err":{error}}},1]"#));
    server.stop().await;
}

#[tokio::test]
async fn each_connection_of_a_broadcast_gets_its_own_bytes_and_its_own_message() {
    let server = server(options());
    server.flows().pre_send_msg.push(|mut message: OutgoingMessage| async move {
        if let Value::Object(chat) = &mut message.message {
            let content = format!("for {}", message.conn.id());
            chat.set("content", Value::from(content));
        }
        message
    });
    // A cipher that changes its input in place.
    server.flows().pre_send_data.push(|mut data: SendData| async move {
        if let Data::Text(text) = &mut data.data {
            *text = text.to_uppercase();
        }
        data
    });
    let address = start(&server).await;
    let mut raws = [text(&address).await, text(&address).await];
    for (raw, id) in raws.iter_mut().zip(1..) {
        raw.send_frame(9, b"ready").await;
        assert_eq!(hear(raw).await, "ready", "connection {id}");
    }
    let chat = [("content", Value::from("x")), ("time", Value::Date(0.0))];
    let sent = server.broadcast_named("Chat", &Value::Object(chat.into_iter().collect()));
    assert_eq!(sent, Ok(2));
    for raw in &mut raws {
        let heard = hear(raw).await;
        assert!(heard.starts_with(r#"["CHAT",{"CONTENT":"FOR "#), "{heard}");
    }
    server.stop().await;
}

#[tokio::test]
async fn received_data_can_be_changed_or_dropped_before_it_is_read() {
    let server = server(options());
    server.flows().pre_recv_data.push(|mut received: RecvData| async move {
        match &mut received.data {
            Data::Text(text) if text.contains("drop me") => None,
            Data::Text(text) => {
                *text = text.replace("\"one\"", "1");
                Some(received)
            }
            Data::Buffer(_) => Some(received),
        }
    });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, "drop me: this is no JSON").await;
    say(&mut raw, r#"["Add",{"a":"one","b":2},1]"#).await;
    assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#);
    server.stop().await;
}

#[tokio::test]
async fn a_hook_answers_http_requests_that_are_no_services() {
    let server = server(options());
    server.flows().pre_recv_data.push(|received: RecvData| async move {
        if received.conn.request().is_some_and(|head| head.uri.path() == "/hello") {
            received.conn.respond(http::Response::new(bytes::Bytes::from_static(b"hello")));
            return None;
        }
        Some(received)
    });
    let address = start(&server).await;
    let response = post(&address, "/hello", "").await.expect("an answer");
    assert_eq!((response.status, response.body), (200, b"hello".to_vec()));
    server.stop().await;
}
