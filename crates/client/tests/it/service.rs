//! The service of these tests, its server, and clients of every kind.

use polywire::prelude::*;
use polywire::tsbuffer::typed::Codec;
use polywire_client::{Builder, CallOptions, Flows, Running};
use tokio::sync::mpsc;

/// Adds two numbers.
#[derive(Debug, Clone, PartialEq, Api)]
#[api(response = Sum)]
pub(crate) struct Add {
    pub(crate) a: f64,
    pub(crate) b: f64,
}

#[derive(Debug, Clone, PartialEq, Schema)]
pub(crate) struct Sum {
    pub(crate) sum: f64,
}

/// Fails as it is told.
#[derive(Debug, Clone, Api)]
#[api(name = "deep/Fail", response = Sum)]
pub(crate) struct Fail {
    pub(crate) how: String,
}

/// Never answers.
#[derive(Debug, Clone, Api)]
#[api(response = Sum)]
pub(crate) struct Never {}

/// What a client says. The server says it back to all.
#[derive(Debug, PartialEq, Message)]
pub(crate) struct Chat {
    pub(crate) content: String,
    pub(crate) time: DateTime,
}

/// What the server only takes.
#[derive(Debug, PartialEq, Message)]
#[message(name = "user/Join")]
pub(crate) struct Join {
    pub(crate) uid: f64,
}

pub(crate) fn chat(content: &str) -> Chat {
    Chat { content: content.to_owned(), time: DateTime::from_unix_millis(0).expect("the epoch") }
}

pub(crate) fn value<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().collect())
}

/// A server that runs, with what it got to hear.
pub(crate) struct Service {
    pub(crate) server: Server,
    pub(crate) address: String,
    pub(crate) joined: mpsc::UnboundedReceiver<f64>,
}

pub(crate) async fn start(options: ServerOptions) -> Service {
    start_at("127.0.0.1:0", options).await
}

pub(crate) async fn start_at(address: &str, options: ServerOptions) -> Service {
    let (join, joined) = mpsc::unbounded_channel();
    let server = Server::with_options(ServerOptions { json: true, ..options })
        .api(async |call: Call<Add>| Reply::Ok(Sum { sum: call.a + call.b }))
        .api(fail)
        .api(async |_: Call<Never>| std::future::pending::<Reply<Sum>>().await)
        .on_message(async |msg: Msg<Chat>| {
            msg.server().broadcast(&chat(&msg.content)).expect("a message");
        })
        .on_message(move |msg: Msg<Join>| {
            join.send(msg.uid).expect("the test listens");
            async {}
        });
    let bound = server.start(address).await.expect("a free port");
    let address = bound.first().expect("an address").to_string();
    Service { server, address, joined }
}

async fn fail(call: Call<Fail>) -> Reply<Sum> {
    match &*call.how {
        "business" => Err(ApiError::new("Not enough credit").code("CREDIT").with("missing", 12.0)),
        "panic" => std::panic::panic_any("boom"),
        _ => {
            call.conn().close("As you say");
            std::future::pending().await
        }
    }
}

fn builder(url: String, json: bool) -> Builder {
    let services = Client::builder(url).api::<Add>().api::<Fail>().api::<Never>();
    services.message::<Chat>().message::<Join>().json(json)
}

impl Service {
    pub(crate) fn websocket(&self, json: bool) -> Builder {
        builder(format!("ws://{}", self.address), json)
    }

    pub(crate) fn http(&self, json: bool) -> Builder {
        builder(format!("http://{}", self.address), json)
    }

    /// Stops the server; nobody listens at its address then.
    pub(crate) async fn stop(&self) {
        self.server.stop().await;
        // The port is free once the task that accepts has seen it.
        while std::net::TcpListener::bind(&self.address).is_err() {
            tokio::task::yield_now().await;
        }
    }

    /// A client of every kind, ready to call.
    pub(crate) async fn clients(&self) -> Vec<AnyClient> {
        let mut clients = Vec::new();
        for json in [false, true] {
            let websocket = self.websocket(json).websocket().expect("a client");
            websocket.connect().await.expect("the server listens");
            clients.push(AnyClient::WebSocket(websocket));
            clients.push(AnyClient::Http(self.http(json).http().expect("a client")));
        }
        clients
    }
}

/// Either client, where they do the same.
#[derive(Debug)]
pub(crate) enum AnyClient {
    WebSocket(WsClient),
    Http(HttpClient),
}

impl AnyClient {
    pub(crate) fn flows(&self) -> &Flows {
        match self {
            Self::WebSocket(client) => client.flows(),
            Self::Http(client) => client.flows(),
        }
    }

    pub(crate) fn call<A: Api + Codec>(&self, request: A) -> Running<A::Response>
    where
        A::Response: Codec,
    {
        self.call_with(request, CallOptions::default())
    }

    pub(crate) fn call_with<A: Api + Codec>(&self, request: A, options: CallOptions) -> Running<A::Response>
    where
        A::Response: Codec,
    {
        match self {
            Self::WebSocket(client) => client.call_with(request, options),
            Self::Http(client) => client.call_with(request, options),
        }
    }

    pub(crate) fn call_named(&self, name: &str, request: Value) -> Running<Value> {
        match self {
            Self::WebSocket(client) => client.call_named(name, request),
            Self::Http(client) => client.call_named(name, request),
        }
    }

    pub(crate) async fn send<M: Message + Codec>(&self, message: &M) -> Result<(), ApiError> {
        match self {
            Self::WebSocket(client) => client.send(message).await,
            Self::Http(client) => client.send(message).await,
        }
    }

    pub(crate) async fn send_named(&self, name: &str, message: &Value) -> Result<(), ApiError> {
        match self {
            Self::WebSocket(client) => client.send_named(name, message).await,
            Self::Http(client) => client.send_named(name, message).await,
        }
    }

    pub(crate) fn abort_all(&self) -> usize {
        match self {
            Self::WebSocket(client) => client.abort_all(),
            Self::Http(client) => client.abort_all(),
        }
    }
}

/// `[kind] message / code` of an error.
pub(crate) fn described<T: std::fmt::Debug>(result: Result<T, ApiError>) -> String {
    let error = result.expect_err("a failure");
    let code = error.code.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    format!("[{}] {} / {code}", error.kind, error.message)
}
