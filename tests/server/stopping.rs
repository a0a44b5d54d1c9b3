//! Stops that meet: each other, a start, calls that never end, connections that
//! are just being made. Whatever comes together, every one of them ends.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use polywire_server::{Call, Dynamic, Server, ServerStatus, StartError, Stopped};
use polywire_tests::raw::Raw;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

use crate::support::{PATIENCE, hear, options, proto, say, server, start, text};

const NOTHING_CUT: (usize, usize) = (0, 0);

fn cut(stopped: Stopped) -> (usize, usize) {
    (stopped.calls_cut, stopped.connections_cut)
}

async fn soon<T>(what: &str, wait: impl Future<Output = T>) -> T {
    timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

/// Polls once; whether it has to wait.
async fn waits<F: Future>(future: &mut Pin<Box<F>>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

/// Begins a stop and lets it come some way.
async fn begin<F>(stop: F, turns: usize) -> JoinHandle<Stopped>
where
    F: Future<Output = Stopped> + Send + 'static,
{
    let stopping = tokio::spawn(stop);
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    stopping
}

fn stop(server: &Server) -> impl Future<Output = Stopped> + Send + use<> {
    let server = server.clone();
    async move { server.stop().await }
}

fn graceful_stop(server: &Server) -> impl Future<Output = Stopped> + Send + use<> {
    let server = server.clone();
    async move { server.graceful_stop(None).await }
}

/// A server whose `Add` never ends, and what tells that it has begun.
fn endless() -> (Server, mpsc::UnboundedReceiver<()>) {
    let (begun, begins) = mpsc::unbounded_channel();
    let server = Server::with_options(options()).proto(proto()).api_named("Add", move |_: Call<Dynamic>| {
        begun.send(()).expect("the test lives");
        std::future::pending::<()>()
    });
    (server, begins)
}

#[tokio::test]
async fn when_any_of_several_stops_returns_the_address_is_free() {
    let server = server(options());
    let address = start(&server).await;
    for turns in 0..10 {
        let first = begin(stop(&server), turns).await;
        assert_eq!(cut(server.stop().await), NOTHING_CUT);
        server.start(&address).await.expect("the address is free");
        soon("the first stop", first).await.expect("it ends");
        assert_eq!(server.status(), ServerStatus::Opened);
    }
    server.stop().await;
}

#[test]
fn a_start_that_is_dropped_or_stopped_leaves_the_server_closed() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(drop_and_stop_a_start());
}

async fn drop_and_stop_a_start() {
    // Names are looked up by the thread that this keeps busy: every start has to wait.
    let (release, released) = std::sync::mpsc::channel::<()>();
    let busy = tokio::task::spawn_blocking(move || released.recv());
    let server = server(options());
    {
        let mut starting = Box::pin(server.start("localhost:0"));
        assert!(waits(&mut starting).await);
        assert_eq!(server.status(), ServerStatus::Opening);
    }
    assert_eq!(server.status(), ServerStatus::Closed);
    let mut starting = Box::pin(server.start("localhost:0"));
    assert!(waits(&mut starting).await);
    assert_eq!(cut(soon("the stop", server.stop()).await), NOTHING_CUT);
    drop(release);
    assert!(busy.await.is_ok());
    assert!(matches!(soon("the start", starting).await, Err(StartError::Stopped)));
    assert_eq!(server.status(), ServerStatus::Closed);
    start(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn a_stop_ends_a_graceful_one_that_waits_for_a_call_that_never_ends() {
    let (server, mut begins) = endless();
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
    begins.recv().await.expect("the call runs");
    let graceful = begin(graceful_stop(&server), 3).await;
    let again = begin(graceful_stop(&server), 3).await;
    assert_eq!(server.status(), ServerStatus::Closing, "both wait");
    let stopping = begin(stop(&server), 3).await;
    assert_eq!(hear(&mut raw).await, "close 1000 Server stopped");
    raw.send_frame(8, &1000u16.to_be_bytes()).await;
    assert_eq!(cut(soon("the stop", stopping).await.expect("it ends")), (1, 0));
    for graceful in [graceful, again] {
        assert_eq!(cut(soon("a graceful stop", graceful).await.expect("it ends")), NOTHING_CUT);
    }
}

#[tokio::test]
async fn a_stop_whose_future_is_dropped_goes_on() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = text(&address).await;
    raw.send_frame(9, b"ready").await;
    assert_eq!(hear(&mut raw).await, "ready");
    assert!(waits(&mut Box::pin(server.stop())).await);
    assert_eq!(hear(&mut raw).await, "close 1000 Server stopped");
    raw.send_frame(8, &1000u16.to_be_bytes()).await;
    let closed = async {
        while server.status() != ServerStatus::Closed {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the server is closed", closed).await;
}

#[tokio::test]
async fn a_handler_may_stop_its_server() {
    let server = Server::with_options(options()).proto(proto()).api_named("Add", |call: Call<Dynamic>| async move {
        call.server().stop().await;
    });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
    assert_eq!(hear(&mut raw).await, "close 1000 Server stopped");
    raw.send_frame(8, &1000u16.to_be_bytes()).await;
    assert_eq!(hear(&mut raw).await, "end");
    assert_eq!(cut(soon("the stop", server.stop()).await), NOTHING_CUT);
}

/// Opens a WebSocket and answers the close frame, if it comes that far.
async fn come_and_go(address: String) {
    let Ok(stream) = tokio::net::TcpStream::connect(&address).await else { return };
    let mut raw = Raw::from(stream);
    raw.write(polywire_tests::raw::UPGRADE).await;
    if raw.response(PATIENCE).await.is_none_or(|response| response.status != 101) {
        return;
    }
    if let Some((8, payload)) = raw.frame(PATIENCE).await {
        raw.send_frame(8, &payload).await;
        assert_eq!(raw.frame(PATIENCE).await, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn connections_made_during_a_stop_are_told_and_none_is_left() {
    let server = server(options());
    for round in 0..20u64 {
        let address = start(&server).await;
        let peers: Vec<_> = (0..16).map(|_| tokio::spawn(come_and_go(address.clone()))).collect();
        tokio::time::sleep(Duration::from_micros(round * 150)).await;
        let stopped = soon("the stop", server.stop()).await;
        assert_eq!(cut(stopped), NOTHING_CUT, "round {round}");
        assert_eq!(server.connection_count(), 0, "round {round}");
        for peer in peers {
            soon("the peer's end", peer).await.expect("it is told");
        }
    }
}
