//! The flows: which hooks run, in which order, and what they can do.

use std::sync::{Arc, Mutex};

use polywire::prelude::*;
use polywire_client::{
    ApiReturn, BufferData, Calling, Connecting, Data, Flow, Flows, IncomingMessage, OutgoingMessage, SocketData,
};
use tokio::sync::mpsc;

use crate::service::{Add, Chat, Sum, chat, described, start, value};

/// Notes the names of the hooks that ran.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<&'static str>>>);

impl Notes {
    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics"))
    }

    fn watch<T: Send + 'static>(&self, flow: &Flow<T>, name: &'static str) {
        let notes = Arc::clone(&self.0);
        flow.push(move |input: T| {
            notes.lock().expect("nobody panics").push(name);
            async move { Some(input) }
        });
    }

    fn watch_all(&self, flows: &Flows) {
        self.watch(&flows.pre_call_api, "pre_call_api");
        self.watch(&flows.pre_api_return, "pre_api_return");
        self.watch(&flows.post_api_return, "post_api_return");
        self.watch(&flows.pre_send_msg, "pre_send_msg");
        self.watch(&flows.post_send_msg, "post_send_msg");
        self.watch(&flows.pre_recv_msg, "pre_recv_msg");
        self.watch(&flows.post_recv_msg, "post_recv_msg");
        self.watch(&flows.pre_send_data, "pre_send_data");
        self.watch(&flows.pre_send_buffer, "pre_send_buffer");
        self.watch(&flows.pre_recv_data, "pre_recv_data");
        self.watch(&flows.pre_recv_buffer, "pre_recv_buffer");
        self.watch(&flows.pre_connect, "pre_connect");
        self.watch(&flows.post_connect, "post_connect");
        self.watch(&flows.post_disconnect, "post_disconnect");
    }
}

#[tokio::test]
async fn all_hooks_run_in_the_published_order() {
    let service = start(ServerOptions::default()).await;
    for json in [false, true] {
        // The buffer hooks see no text.
        let expected = |names: &[&'static str]| -> Vec<_> {
            names.iter().copied().filter(|name| !(json && name.ends_with("_buffer"))).collect()
        };
        let call = [
            "pre_call_api",
            "pre_send_data",
            "pre_send_buffer",
            "pre_recv_data",
            "pre_recv_buffer",
            "pre_api_return",
            "post_api_return",
        ];
        let notes = Notes::default();
        let client = service.websocket(json).websocket().expect("a client");
        notes.watch_all(client.flows());
        let (tell, mut told) = mpsc::unbounded_channel();
        client.flows().post_recv_msg.push(move |message: IncomingMessage| {
            tell.send(()).expect("the test listens");
            async { message }
        });
        client.on_message(|_: Chat| async {});
        client.connect().await.expect("connected");
        assert_eq!(notes.take(), ["pre_connect", "post_connect"]);
        assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));
        assert_eq!(notes.take(), expected(&call));
        client.send(&chat("hello")).await.expect("sent");
        assert_eq!(notes.take(), expected(&["pre_send_msg", "pre_send_data", "pre_send_buffer", "post_send_msg"]));
        told.recv().await.expect("the message comes back");
        assert_eq!(notes.take(), expected(&["pre_recv_data", "pre_recv_buffer", "pre_recv_msg", "post_recv_msg"]));
        client.disconnect().await;
        tokio::task::yield_now().await;
        assert_eq!(notes.take(), ["post_disconnect"]);

        let client = service.http(json).http().expect("a client");
        notes.watch_all(client.flows());
        assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));
        assert_eq!(notes.take(), expected(&call));
    }
}

#[tokio::test]
async fn hooks_change_answer_and_stop_calls() {
    let service = start(ServerOptions::default()).await;
    for client in service.clients().await {
        let flows = client.flows();
        let add = || client.call(Add { a: 1.0, b: 2.0 });

        let changes = flows.pre_call_api.push(|calling: Calling| async {
            Calling { request: value([("a", 10.0.into()), ("b", 5.0.into())]), ..calling }
        });
        assert_eq!(add().await, Ok(Sum { sum: 15.0 }), "{client:?}");
        flows.pre_call_api.remove(changes);

        let mocks = flows
            .pre_call_api
            .push(|calling: Calling| async { Calling { reply: Some(Ok(value([("sum", 99.0.into())]))), ..calling } });
        assert_eq!(add().await, Ok(Sum { sum: 99.0 }));
        flows.pre_call_api.remove(mocks);

        let stops = flows.pre_call_api.push(|_: Calling| async { None::<Calling> });
        assert_eq!(described(add().await), "[ClientError] Request cancelled / CANCELLED");
        flows.pre_call_api.remove(stops);

        let fails = flows.pre_call_api.push(|_: Calling| async { Err::<Calling, _>("a reason") });
        assert_eq!(described(add().await), "[ClientError] a reason / -");
        flows.pre_call_api.remove(fails);

        let panics = flows.pre_call_api.push(|calling: Calling| {
            assert!(calling.api.is_empty(), "a hook that panics");
            async { calling }
        });
        assert_eq!(described(add().await), "[ClientError] a hook that panics / -");
        flows.pre_call_api.remove(panics);

        let replaces = flows
            .pre_api_return
            .push(|returned: ApiReturn| async { ApiReturn { result: Err(ApiError::new("replaced")), ..returned } });
        assert_eq!(described(add().await), "[ApiError] replaced / -");
        flows.pre_api_return.remove(replaces);

        let stops = flows.pre_api_return.push(|_: ApiReturn| async { None::<ApiReturn> });
        assert_eq!(described(add().await), "[ClientError] Request cancelled / CANCELLED");
        flows.pre_api_return.remove(stops);

        let drops = flows.pre_send_data.push(|_: SocketData| async { None::<SocketData> });
        assert_eq!(described(add().await), "[ClientError] Request cancelled / CANCELLED");
        flows.pre_send_data.remove(drops);

        assert_eq!(add().await, Ok(Sum { sum: 3.0 }), "without hooks all is as before");
    }
}

#[tokio::test]
async fn hooks_change_and_stop_messages() {
    let service = start(ServerOptions::default()).await;
    let client = service.websocket(false).websocket().expect("a client");
    let (tell, mut told) = mpsc::unbounded_channel();
    client.on_message(move |message: Chat| {
        tell.send(message.content).expect("the test listens");
        async {}
    });
    client.connect().await.expect("connected");
    client.flows().pre_send_msg.push(|message: OutgoingMessage| async move {
        if message.message.get("content").and_then(Value::as_str) == Some("secret") {
            return None;
        }
        let content = value([("content", "changed".into()), ("time", Value::Date(0.0))]);
        Some(OutgoingMessage { message: content, ..message })
    });
    let stopped = client.send(&chat("secret")).await;
    assert_eq!(described(stopped), "[ClientError] Request cancelled / CANCELLED");
    client.flows().pre_recv_msg.push(|message: IncomingMessage| async move {
        let content = message.message.get("content").and_then(Value::as_str).unwrap_or_default();
        let content = value([("content", format!("{content} twice").into()), ("time", Value::Date(0.0))]);
        IncomingMessage { message: content, ..message }
    });
    client.send(&chat("hello")).await.expect("sent");
    assert_eq!(told.recv().await.as_deref(), Some("changed twice"));
}

#[tokio::test]
async fn data_can_be_encrypted_on_its_way() {
    let service = start(ServerOptions::default()).await;
    let server = service.server.flows();
    server.pre_recv_data.push(|mut received: polywire_server::RecvData| async {
        if let polywire_server::Data::Buffer(bytes) = &mut received.data {
            bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
        }
        received
    });
    server.pre_send_data.push(|mut sent: polywire_server::SendData| async {
        if let polywire_server::Data::Buffer(bytes) = &mut sent.data {
            bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
        }
        sent
    });
    let flip = |mut data: SocketData| async {
        if let Data::Buffer(bytes) = &mut data.data {
            bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
        }
        data
    };
    for client in service.clients().await.into_iter().take(2) {
        client.flows().pre_send_data.push(flip);
        client.flows().pre_recv_buffer.push(|mut data: BufferData| async {
            data.bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
            data
        });
        assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }), "{client:?}");
    }
}

#[tokio::test]
async fn the_end_of_a_connection_that_was_never_open_is_no_end() {
    let service = start(ServerOptions::default()).await;
    let client = service.websocket(false).websocket().expect("a client");
    let notes = Notes::default();
    notes.watch(&client.flows().post_disconnect, "post_disconnect");
    client.flows().pre_connect.push(|_: Connecting| async { Err::<Connecting, _>("no") });
    client.connect().await.expect_err("a hook fails");
    assert!(notes.take().is_empty());
}
