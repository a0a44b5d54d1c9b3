//! What a server writes into the log, and what it keeps to itself.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use polywire_server::ServerOptions;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{hear, options, post, say, server, start, text};

/// A log in memory.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The log of a server that was called, was sent a message, and failed once.
async fn log_of(options: ServerOptions) -> String {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(lines.clone())
        .with_ansi(false)
        .finish();
    // For this thread: the runtime of the test has no other.
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = server(options);
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Echo",{"s":"a secret"},7]"#).await;
    hear(&mut raw).await;
    say(&mut raw, r#"["Chat",{"content":"a secret","time":"1970-01-01T00:00:00.000Z"}]"#).await;
    hear(&mut raw).await;
    post(&address, "/Err", r#"{"mode":"throw"}"#).await;
    drop(raw);
    server.stop().await;
    lines.text()
}

fn line<'a>(log: &'a str, word: &str) -> &'a str {
    log.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("no line with {word} in\n{log}"))
}

#[tokio::test]
async fn each_line_says_which_connection_and_which_call_it_is_about() {
    let log = log_of(options()).await;
    for word in ["[ApiReq]", "[ApiRes]"] {
        let line = line(&log, word);
        assert!(line.contains("conn{") && line.contains("call{service=Echo sn=7}"), "{line}");
    }
    for word in ["[RecvMsg]", "[SendMsg]"] {
        let line = line(&log, word);
        assert!(line.contains("conn{") && line.contains("service=Chat"), "{line}");
    }
    let failed = line(&log, "the handler failed");
    assert!(failed.contains("ERROR") && failed.contains("service=Err") && failed.contains("boom"), "{failed}");
    line(&log, "Server started at 127.0.0.1:0.");
    line(&log, "Server stopped");
}

#[tokio::test]
async fn bodies_are_logged_only_where_the_options_say_so() {
    let log = log_of(options()).await;
    assert!(!log.contains("a secret"), "{log}");
    let log = log_of(ServerOptions { log_bodies: true, ..options() }).await;
    for word in ["[ApiReq]", "[ApiRes]", "[RecvMsg]"] {
        assert!(line(&log, word).contains("a secret"), "{log}");
    }
}
