//! A chat room: one API, one message, and the page to use them.
//!
//! `cargo run --release -p chat` serves it on <http://127.0.0.1:3000>.
//! `cargo run -p chat -- proto` prints the `serviceProto.ts` of its page.

use polywire::prelude::*;

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

async fn send(call: Call<Send>) {
    if call.content.trim().is_empty() {
        return call.fail("Content is empty");
    }
    let time = DateTime::now();
    // Answered before it is broadcast: whoever says a line gets the answer first.
    call.succeed(SendReply { time });
    let line = Chat { content: call.content.clone(), time };
    if let Err(error) = call.server().broadcast(&line) {
        eprintln!("cannot broadcast: {error}");
    }
}

fn server() -> Server {
    let options = ServerOptions { json: true, ..ServerOptions::default() };
    Server::with_options(options)
        .api(send)
        .message::<Chat>()
        .asset("/", "text/html; charset=utf-8", &include_bytes!("../web/dist/index.html")[..])
        .asset("/chat.css", "text/css; charset=utf-8", &include_bytes!("../web/dist/chat.css")[..])
        .asset("/chat.js", "text/javascript; charset=utf-8", &include_bytes!("../web/dist/chat.js")[..])
}

#[tokio::main]
async fn main() -> polywire::Result<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("proto") => {
            print!("{}", server().service_proto()?.to_standalone_module());
            return Ok(());
        }
        Some(other) if !other.contains(':') => {
            eprintln!("usage: chat [HOST:PORT]   serve, on 127.0.0.1:3000 if nothing else is said");
            eprintln!("       chat proto         print the serviceProto.ts of the page");
            std::process::exit(2);
        }
        address => {
            // Without a subscriber, nothing that the server has to say is printed.
            tracing_subscriber::fmt().with_writer(std::io::stderr).init();
            let address = address.unwrap_or("127.0.0.1:3000");
            let server = server();
            server.start(address).await?;
            println!("Chat is on http://{address} — open it in two tabs. Ctrl-C stops it.");
            tokio::signal::ctrl_c().await?;
            server.stop().await;
        }
    }
    Ok(())
}
