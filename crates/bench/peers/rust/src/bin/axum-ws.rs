//! The contract over axum's WebSocket with serde_json, as its examples write a chat: a task and
//! a channel for each connection, a write for each message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use futures_util::{SinkExt as _, StreamExt as _};
use polywire_bench_peers::{answer, arguments};
use tokio::sync::mpsc;

#[derive(Default)]
struct Everyone {
    channels: Mutex<(u64, HashMap<u64, mpsc::UnboundedSender<Utf8Bytes>>)>,
    broadcast: bool,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments = arguments();
    let everyone = Arc::new(Everyone { broadcast: arguments.broadcast, ..Everyone::default() });
    let upgrade = async |upgrade: WebSocketUpgrade, State(everyone): State<Arc<Everyone>>| {
        upgrade.protocols(["text"]).on_upgrade(|socket| converse(socket, everyone))
    };
    let router = Router::new().route("/", any(upgrade)).with_state(everyone);
    let listener = tokio::net::TcpListener::bind(arguments.address).await?;
    println!("ready");
    axum::serve(axum::serve::ListenerExt::tap_io(listener, |tcp| drop(tcp.set_nodelay(true))), router).await
}

async fn converse(socket: WebSocket, everyone: Arc<Everyone>) {
    let (mut sink, mut stream) = socket.split();
    if !everyone.broadcast {
        while let Some(Ok(Message::Text(text))) = stream.next().await {
            let Ok((reply, _)) = answer(&text, false) else { return };
            if sink.send(Message::Text(reply.into())).await.is_err() {
                return;
            }
        }
        return;
    }
    let (sender, mut receiver) = mpsc::unbounded_channel::<Utf8Bytes>();
    let id = {
        let mut channels = everyone.channels.lock().unwrap_or_else(PoisonError::into_inner);
        channels.0 += 1;
        let id = channels.0;
        channels.1.insert(id, sender.clone());
        id
    };
    let writing = tokio::spawn(async move {
        while let Some(text) = receiver.recv().await {
            if sink.send(Message::Text(text)).await.is_err() {
                return;
            }
        }
    });
    while let Some(Ok(Message::Text(text))) = stream.next().await {
        let Ok((reply, chat)) = answer(&text, true) else { break };
        drop(sender.send(reply.into()));
        let chat = Utf8Bytes::from(chat.unwrap_or_default());
        let channels = everyone.channels.lock().unwrap_or_else(PoisonError::into_inner);
        for channel in channels.1.values() {
            drop(channel.send(chat.clone()));
        }
    }
    everyone.channels.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&id);
    writing.abort();
}
