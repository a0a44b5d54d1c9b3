//! What all servers here share: the contract as serde types, and their command line.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::FormatItem;
use time::macros::format_description;

/// A call: service, request, serial number.
#[derive(Debug, Deserialize)]
pub struct Call<'a>(#[serde(borrow)] pub &'a str, #[serde(borrow)] pub Send<'a>, pub u64);

/// The request of `Send`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send<'a> {
    /// What is said.
    #[serde(borrow)]
    pub content: std::borrow::Cow<'a, str>,
}

/// A reply: service, outcome, serial number.
#[derive(Debug, Serialize)]
pub struct Reply<'a>(pub &'a str, pub Outcome<'a>, pub u64);

/// The outcome of a call that succeeded.
#[derive(Debug, Serialize)]
pub struct Outcome<'a> {
    /// Always true.
    #[serde(rename = "isSucc")]
    pub is_succ: bool,
    /// The response.
    pub res: Sent<'a>,
}

/// The response of `Send`.
#[derive(Debug, Serialize)]
pub struct Sent<'a> {
    /// When it was said.
    pub time: &'a str,
}

/// A message: service, content.
#[derive(Debug, Serialize)]
pub struct Message<'a>(pub &'a str, pub Chat<'a>);

/// What `Chat` says.
#[derive(Debug, Serialize)]
pub struct Chat<'a> {
    /// What was said.
    pub content: &'a str,
    /// When.
    pub time: &'a str,
}

/// The texts of the reply to a call and, where it is wanted, of the message that it brings about.
///
/// # Errors
/// Where the call breaks its type.
pub fn answer(text: &str, broadcast: bool) -> Result<(String, Option<String>), serde_json::Error> {
    let Call(_, Send { content }, sn) = serde_json::from_str(text)?;
    let time = now();
    let outcome = Outcome { is_succ: true, res: Sent { time: &time } };
    let reply = serde_json::to_string(&Reply("Send", outcome, sn))?;
    let chat = || serde_json::to_string(&Message("Chat", Chat { content: &content, time: &time }));
    Ok((reply, broadcast.then(chat).transpose()?))
}

const ISO: &[FormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// The time as JavaScript writes it.
fn now() -> String {
    OffsetDateTime::now_utc().format(&ISO).unwrap_or_default()
}

/// What the command line asks for.
#[derive(Debug, Clone, Copy)]
pub struct Arguments {
    /// Where to listen.
    pub address: SocketAddr,
    /// Whether each call brings about a message to everyone.
    pub broadcast: bool,
}

/// Reads `--port PORT [--broadcast]`.
///
/// # Panics
/// Where the port is missing.
pub fn arguments() -> Arguments {
    let arguments: Vec<String> = std::env::args().collect();
    let port = arguments.iter().skip_while(|argument| *argument != "--port").nth(1);
    let port = port.and_then(|port| port.parse().ok()).expect("--port PORT");
    let broadcast = arguments.iter().any(|argument| argument == "--broadcast");
    Arguments { address: (Ipv4Addr::LOCALHOST, port).into(), broadcast }
}
