//! One HTTP request: a call, a message, an asset, or the way to a WebSocket
//! (reference §10).
//!
//! Depends on the dispatcher and on hyper's types. Invariant: every request is
//! answered, or its connection closed; a handler goes on when its caller leaves.

use std::{
    convert::Infallible,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, PoisonError},
    task::{Context, Poll},
    time::Instant,
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode,
    header::{CONTENT_TYPE, SEC_WEBSOCKET_PROTOCOL},
    request::Parts,
};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming as IncomingBody;
use polywire_net::{
    http::{Answer, BodyLimits, Switch, collect},
    ws::{Deflate, DeflateConfig, handshake},
};
use polywire_tsrpc::{
    DataType, INVALID_REQUEST_BUFFER, Incoming, InputError, decode_buffer,
    http::{HttpRequest, HttpRoute, JSON_ANSWER, decode_json_body, decode_json_body_slow},
    negotiate, write_bare_error,
};
use tokio::sync::oneshot::error::RecvError;

use crate::{
    Conn, ConnStatus, Server, ServerStatus,
    conn::Kind,
    connection::{post_connect, post_disconnect},
    dispatch,
    flows::{Data, RecvData},
    messages,
    short::{Format, Short, ShortReply},
};

/// A response's body: whole, with its length; or empty and chunked, as Node ends a response without one.
pub(crate) struct Whole {
    bytes: Option<Bytes>,
    chunked: bool,
}

impl Whole {
    fn new(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: Some(bytes.into()).filter(|bytes| !bytes.is_empty()), chunked: false }
    }
}

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        !self.chunked && self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.chunked {
            return SizeHint::default();
        }
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, Bytes::len) as u64)
    }
}

/// Answers one request.
pub(crate) async fn handle(server: Server, ip: Option<IpAddr>, request: Request<IncomingBody>) -> Answer<Whole> {
    let (head, body) = request.into_parts();
    if handshake::is_upgrade(&head.headers) {
        return upgrade(&server, ip, head);
    }
    if let Some(response) = fixed(&server, &head) {
        return Answer::Response(response);
    }
    if server.status() != ServerStatus::Opened {
        return Answer::Response(plain(StatusCode::SERVICE_UNAVAILABLE, ""));
    }
    let options = server.options();
    let rules = &server.shared.http_rules;
    let request = asked(&head);
    if options.cors.is_some() && head.method == Method::OPTIONS {
        let mut response = Response::new(Whole { bytes: None, chunked: true });
        common_headers(&server, response.headers_mut());
        return Answer::Response(response);
    }
    let data_type = rules.data_type(&request);
    let limits = BodyLimits { max_len: options.limits.body, timeout: options.limits.message_time };
    let ip = client_ip(&server, ip, &head.headers);
    let (short, reply) = Short::new(Format::Bytes);
    let conn = Conn::new(server.clone(), ip, Some(Box::new(head)), data_type, Kind::Short(short));
    let _ended = Ended(conn.clone());
    post_connect(&conn);
    let body = match collect(body, &limits).await {
        Ok(body) => body,
        Err(error) => {
            tracing::debug!(conn = conn.id(), %error, "[ReqAborted]");
            return Answer::Response(plain(error.status(), &error.to_string()));
        }
    };
    let input = RecvData { conn: conn.clone(), data: data(data_type, body), service: None };
    let input = if server.flows().receives_active() {
        let service = server.assembled().zip(conn.request()).and_then(|(contract, head)| {
            match rules.route(&asked(head), &contract.services) {
                HttpRoute::Json(service) => Some(service.name.to_string()),
                _ => None,
            }
        });
        RecvData::through_flows(RecvData { service, ..input }).await
    } else {
        Some(input)
    };
    let Some(input) = input else {
        // A hook stopped it. It has answered, or kept the connection to answer later; or nobody will.
        return match Arc::strong_count(&conn.0) {
            0..=2 => reply.now_or_never().map_or(Answer::HangUp, |reply| finish(&conn, reply)),
            _ => finish(&conn, reply.await),
        };
    };
    if let Err(error) = accept(&conn, &input) {
        tracing::debug!(conn = conn.id(), %error, "[InputDataError]");
        if !server.shared.policies.refuses(&conn, &error) {
            return reply.now_or_never().map_or(Answer::Response(bare(&server)), |reply| finish(&conn, reply));
        }
        let mut body = Vec::new();
        write_bare_error(&mut body, data_type, &error.to_api_error());
        let status = status(rules.invalid_input_status(data_type));
        return Answer::Response(answer(&conn, status, body));
    }
    finish(&conn, reply.await)
}

/// What is sent for what became of the connection.
fn finish(conn: &Conn, reply: Result<ShortReply, RecvError>) -> Answer<Whole> {
    let server = conn.server();
    match reply {
        Ok(ShortReply::Bytes { body, error }) => {
            let status = status(server.shared.http_rules.status(conn.data_type(), error));
            Answer::Response(answer(conn, status, body))
        }
        Ok(ShortReply::Accepted) => Answer::Response(bare(server)),
        Ok(ShortReply::Custom(response)) => Answer::Response(response.map(Whole::new)),
        Ok(ShortReply::Closed(reason)) if !reason.is_empty() => {
            let mut response = bare(server);
            if let Ok(reason) = HeaderValue::from_str(&reason) {
                response.headers_mut().insert(HeaderName::from_static("x-tsrpc-close-reason"), reason);
            }
            Answer::Response(response)
        }
        Ok(ShortReply::Closed(_) | ShortReply::Native(_)) | Err(_) => Answer::HangUp,
    }
}

/// The end of a request, however it ends.
struct Ended(Conn);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.set_status(ConnStatus::Closed);
        post_disconnect(&self.0, None);
    }
}

fn data(data_type: DataType, body: Bytes) -> Data {
    match data_type {
        // As Node decodes it: what is not UTF-8 becomes U+FFFD.
        DataType::Text => Data::Text(String::from_utf8_lossy(&body).into_owned()),
        DataType::Buffer => Data::Buffer(body.into()),
    }
}

/// What a request says of itself, as far as the protocol's rules go.
fn asked(head: &Parts) -> HttpRequest<'_> {
    HttpRequest {
        method: head.method.as_str(),
        target: head.uri.path_and_query().map_or("/", |target| target.as_str()),
        content_type: head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()),
    }
}

fn status(code: u16) -> StatusCode {
    // The rules name real codes only.
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Starts what the request asks for.
fn accept(conn: &Conn, input: &RecvData) -> Result<(), InputError> {
    let server = conn.server();
    // A request comes over HTTP, to a server that has been assembled.
    let (Some(contract), Some(head)) = (server.assembled(), conn.request()) else { return Ok(()) };
    let services = &contract.services;
    let Data::Text(text) = &input.data else {
        let Data::Buffer(bytes) = &input.data else { return Ok(()) };
        return start(conn, decode_buffer(bytes, services, server.strictness()));
    };
    let redirected = input.service.as_deref().and_then(|name| services.api(name).or_else(|| services.message(name)));
    let service = match (redirected, server.shared.http_rules.route(&asked(head), services)) {
        (Some(service), _) | (None, HttpRoute::Json(service)) => service,
        (None, HttpRoute::Invalid(error)) => return Err(error),
        (None, HttpRoute::Preflight | HttpRoute::Buffer) => return Err(InputError::UnresolvedName),
    };
    match start(conn, decode_json_body(service, text.as_bytes())) {
        Ok(()) => Ok(()),
        Err(_) => start(conn, decode_json_body_slow(service, text.as_bytes())),
    }
}

fn start(conn: &Conn, incoming: Incoming<'_>) -> Result<(), InputError> {
    let broken = |error| InputError::body(conn.data_type(), error);
    match incoming {
        Incoming::Call { service, sn, body } => dispatch::call(conn, service, sn, body, Instant::now()).map_err(broken),
        Incoming::Message { service, body } => {
            messages::receive(conn, service, body).map_err(broken)?;
            if let Kind::Short(short) = &conn.0.kind {
                short.reply(ShortReply::Accepted);
            }
            Ok(())
        }
        Incoming::Invalid(error) => Err(error),
        Incoming::Heartbeat => Err(InputError::Envelope(INVALID_REQUEST_BUFFER.to_owned())),
    }
}

/// Health and assets.
fn fixed(server: &Server, head: &Parts) -> Option<Response<Whole>> {
    if head.method != Method::GET && head.method != Method::HEAD {
        return None;
    }
    let path = head.uri.path();
    if path == "/healthz" {
        let opened = server.status() == ServerStatus::Opened;
        let (status, text) =
            if opened { (StatusCode::OK, "ok\n") } else { (StatusCode::SERVICE_UNAVAILABLE, "stopping\n") };
        return Some(plain(status, text));
    }
    let asset = server.find_asset(path)?;
    let mut response = Response::new(Whole::new(asset.body));
    if let Ok(content_type) = HeaderValue::from_str(&asset.content_type) {
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    Some(response)
}

fn plain(status: StatusCode, text: &str) -> Response<Whole> {
    let mut response = Response::new(Whole::new(text.to_owned()));
    *response.status_mut() = status;
    if !text.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    }
    response
}

/// The headers of every answer of a service, in the published order.
fn common_headers(server: &Server, headers: &mut HeaderMap) {
    for (name, value) in server.shared.http_rules.headers() {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
}

/// An answer without a body.
fn bare(server: &Server) -> Response<Whole> {
    let mut response = Response::new(Whole::new(Bytes::new()));
    common_headers(server, response.headers_mut());
    response
}

fn answer(conn: &Conn, status: StatusCode, body: Vec<u8>) -> Response<Whole> {
    let mut response = Response::new(Whole::new(body));
    *response.status_mut() = status;
    common_headers(conn.server(), response.headers_mut());
    if conn.data_type() == DataType::Text {
        let json = HeaderValue::from_static(JSON_ANSWER);
        response.headers_mut().insert(CONTENT_TYPE, json);
    }
    if let Kind::Short(short) = &conn.0.kind {
        let added = short.headers.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, value) in added.iter() {
            response.headers_mut().append(name, value.clone());
        }
    }
    response
}

/// The address of the client, from its proxy where the options trust it.
pub(crate) fn client_ip(server: &Server, ip: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
    if !server.options().trust_forwarded_for {
        return ip;
    }
    let forwarded = headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
    let first = forwarded.and_then(|list| list.split(',').next()).map(str::trim);
    first.and_then(|first| first.parse().ok()).map(|ip: IpAddr| ip.to_canonical()).or(ip)
}

/// What the handshake of this request agrees on about compression.
pub(crate) fn agreed_deflate(server: &Server, head: &Parts) -> Option<Deflate> {
    let config = server.options().compression.then(DeflateConfig::default)?;
    handshake::accept(head, None, Some(&config)).ok()?.deflate
}

fn upgrade(server: &Server, ip: Option<IpAddr>, head: Parts) -> Answer<Whole> {
    if server.options().websocket_path.as_deref().is_some_and(|path| path != head.uri.path()) {
        return Answer::Response(plain(StatusCode::NOT_FOUND, "No WebSocket here\n"));
    }
    if !server.shared.policies.admits(&head, client_ip(server, ip, &head.headers)) {
        return Answer::Response(plain(StatusCode::UNAUTHORIZED, "Unauthorized\n"));
    }
    let offered = head.headers.get(SEC_WEBSOCKET_PROTOCOL).and_then(|value| value.to_str().ok());
    let protocol = negotiate(offered, server.options().json).answer.and_then(|name| HeaderValue::from_str(name).ok());
    let deflate = server.options().compression.then(DeflateConfig::default);
    match handshake::accept(&head, protocol.as_ref(), deflate.as_ref()) {
        Ok(accepted) => Answer::Upgrade(Box::new(Switch { head, response: accepted.response })),
        Err(error) => Answer::Response(error.response().map(Whole::new)),
    }
}
