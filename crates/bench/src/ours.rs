//! Ours: the contract, served by polywire as an application would write it.
//!
//! Depends on the facade `polywire` and on tokio's runtime, on nothing else of this crate but
//! the mode.

use std::error::Error;
use std::net::SocketAddr;

use polywire::prelude::*;

use crate::load::Mode;

/// Says a line to everyone.
#[derive(Api)]
#[api(response = SendReply)]
struct Send {
    content: String,
}

#[derive(Schema)]
struct SendReply {
    time: DateTime,
}

/// A line that someone said.
#[derive(Message)]
struct Chat {
    content: String,
    time: DateTime,
}

async fn reply(_: Call<Send>) -> Reply<SendReply> {
    Ok(SendReply { time: DateTime::now() })
}

async fn reply_and_broadcast(call: Call<Send>) {
    let time = DateTime::now();
    call.succeed(SendReply { time });
    let chat = Chat { content: call.content.clone(), time };
    // A connection that gets no `Chat` is found by the load generator, which counts them.
    drop(call.server().broadcast(&chat));
}

/// Serves the contract until the process is ended.
///
/// # Errors
/// When the address cannot be bound.
pub(crate) fn serve(address: SocketAddr, mode: Mode, ready: impl FnOnce()) -> Result<(), Box<dyn Error>> {
    let options = ServerOptions { json: true, ..ServerOptions::default() };
    let server = Server::with_options(options).message::<Chat>();
    let server = match mode {
        Mode::Calls => server.api(reply),
        Mode::Broadcast => server.api(reply_and_broadcast),
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        server.start(&address.to_string()).await?;
        ready();
        std::future::pending().await
    })
}
