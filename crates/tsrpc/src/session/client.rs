//! The client's end of an open connection, put together.
//!
//! Depends on the table of calls, the heartbeat and the reading of frames. A
//! driver feeds it frames and moments, and writes what it drafts.

use std::time::Instant;

use crate::{
    CallError, CallOptions, DataType, Draft, Frame, Heartbeat, HeartbeatAction, HeartbeatOptions, Pending,
    PendingCalls, Received, Sender, Service, ServiceMap, decode_output,
};

/// What a client's session is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// What the client writes. Frames that come in are read by their own kind.
    pub data_type: DataType,
    /// How many calls may be in flight.
    pub calls_in_flight: usize,
    /// Whether and how the connection is kept under watch.
    pub heartbeat: Option<HeartbeatOptions>,
}

/// What is due at a moment.
#[derive(Debug)]
pub struct Due<W> {
    /// Calls whose time is up: each fails with [`ApiError::request_timeout`](crate::ApiError::request_timeout).
    pub expired: Vec<Pending<W>>,
    /// What to do about the heartbeat.
    pub heartbeat: HeartbeatAction,
}

/// The state of one open connection. `W` is what wakes the caller of a call.
///
/// ```
/// use std::time::Instant;
///
/// use polywire_schema::Program;
/// use polywire_tsrpc::{Body, CallOptions, ClientOptions, ClientSession, DataType, Frame, Received, ServiceMap, ServiceProto};
///
/// let proto = ServiceProto::from_json(
///     "{services: [{id: 1, name: 'Add', type: 'api'}],
///       types: {'PtlAdd/ReqAdd': {type: 'Interface'}, 'PtlAdd/ResAdd': {type: 'Interface'}}}",
/// )?;
/// let services = ServiceMap::new(&proto, &Program::compile(&proto.types, &Default::default()))?;
/// let add = services.api("Add").expect("an API of the proto");
/// let options = ClientOptions { data_type: DataType::Text, calls_in_flight: 100, heartbeat: None };
/// let mut session = ClientSession::new(&options, Instant::now());
///
/// let sn = session.start(Instant::now(), CallOptions::default(), "whoever waits")?;
/// let mut out = Vec::new();
/// let mut request = session.request(&mut out, add, sn);
/// request.body().extend_from_slice(b"{}");
/// request.finish();
/// assert_eq!(out, br#"["Add",{},1]"#);
///
/// let answer = Frame::Text(br#"["Add",{"isSucc":true,"res":{}},1]"#);
/// let Received::Reply { sn: Some(sn), result: Ok(Body::Json(response)), .. } =
///     session.receive(Instant::now(), answer, &services) else { panic!("no answer") };
/// assert_eq!(response, b"{}");
/// assert_eq!(session.calls_mut().take(sn), Some("whoever waits"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ClientSession<W> {
    data_type: DataType,
    calls: PendingCalls<W>,
    heartbeat: Option<Heartbeat>,
}

impl<W> ClientSession<W> {
    /// The session of a connection opened `now`.
    #[must_use]
    pub fn new(options: &ClientOptions, now: Instant) -> Self {
        Self {
            data_type: options.data_type,
            calls: PendingCalls::new(options.calls_in_flight),
            heartbeat: options.heartbeat.map(|heartbeat| Heartbeat::new(heartbeat, now)),
        }
    }

    /// What the client writes.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The calls in flight.
    #[must_use]
    pub fn calls(&self) -> &PendingCalls<W> {
        &self.calls
    }

    /// The calls in flight, to take out what was answered or is withdrawn.
    ///
    /// The server is not told of a call that is withdrawn; its answer comes late and finds nobody.
    pub fn calls_mut(&mut self) -> &mut PendingCalls<W> {
        &mut self.calls
    }

    /// The heartbeat, if the connection has one.
    #[must_use]
    pub fn heartbeat(&self) -> Option<&Heartbeat> {
        self.heartbeat.as_ref()
    }

    /// Admits a call; write it with [`request`](Self::request). If it cannot be
    /// written after all, take it out again: its number is used up, as in published clients.
    ///
    /// # Errors
    /// [`CallError::TooManyInFlight`]; nothing is kept.
    pub fn start(&mut self, now: Instant, options: CallOptions, waiter: W) -> Result<u64, CallError> {
        self.calls.start(now, options, waiter)
    }

    /// Begins the frame of a call. Hot.
    pub fn request<'a>(&self, out: &'a mut Vec<u8>, service: &Service, sn: u64) -> Draft<'a> {
        Draft::request(out, self.data_type, service, sn)
    }

    /// Begins the frame of a message. Hot.
    pub fn message<'a>(&self, out: &'a mut Vec<u8>, service: &Service) -> Draft<'a> {
        Draft::message(out, self.data_type, service, Sender::Client)
    }

    /// Reads a frame; see [`decode_output`]. Hot.
    ///
    /// A reply stays in flight until it is taken out: a body that was guessed
    /// wrong may turn out to be another's.
    pub fn receive<'a>(&mut self, now: Instant, frame: Frame<'a>, services: &'a ServiceMap) -> Received<'a> {
        let received = decode_output(frame, services);
        if let (Received::Heartbeat, Some(heartbeat)) = (&received, &mut self.heartbeat) {
            heartbeat.pong(now);
        }
        received
    }

    /// What is due.
    pub fn poll(&mut self, now: Instant) -> Due<W> {
        Due {
            expired: self.calls.expire(now),
            heartbeat: self.heartbeat.as_mut().map_or(HeartbeatAction::Wait, |heartbeat| heartbeat.poll(now)),
        }
    }

    /// When to [`poll`](Self::poll) next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let heartbeat = self.heartbeat.as_ref().and_then(Heartbeat::next_deadline);
        [self.calls.next_deadline(), heartbeat].into_iter().flatten().min()
    }

    /// Ends the session: every call that waited fails with
    /// [`ApiError::lost_connection`](crate::ApiError::lost_connection).
    #[must_use]
    pub fn close(mut self) -> Vec<Pending<W>> {
        self.calls.take_all()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Body, HEARTBEAT, ServerSession, SessionOptions, Sn, testing::services};

    fn session(data_type: DataType, heartbeat: Option<HeartbeatOptions>) -> (ClientSession<u8>, Instant) {
        let now = Instant::now();
        (ClientSession::new(&ClientOptions { data_type, calls_in_flight: 2, heartbeat }, now), now)
    }

    #[test]
    fn a_call_goes_to_the_server_and_comes_back() {
        for data_type in [DataType::Text, DataType::Buffer] {
            let (mut client, now) = session(data_type, None);
            let add = services().api("Add").unwrap();
            let options = SessionOptions { json: true, ..SessionOptions::default() };
            let mut server = ServerSession::new(Some(data_type.subprotocol()), &options);

            let sn = client.start(now, CallOptions::default(), 7).unwrap();
            let mut request = Vec::new();
            let mut draft = client.request(&mut request, add, sn);
            draft.body().extend_from_slice(b"[1]");
            draft.finish();
            let frame = |bytes| match data_type {
                DataType::Text => Frame::Text(bytes),
                DataType::Buffer => Frame::Binary(bytes),
            };
            let body = |bytes| match data_type {
                DataType::Text => Body::Json(bytes),
                DataType::Buffer => Body::Binary(bytes),
            };
            let call = server.decode(frame(&request), services(), &options);
            let expected = crate::Incoming::Call { service: add, sn: Sn::Number(sn), body: body(b"[1]") };
            assert_eq!(call, expected);

            let mut reply = Vec::new();
            let to = Sn::Number(sn);
            let mut draft = Draft::reply(&mut reply, server.data_type(), add, &to);
            draft.body().extend_from_slice(b"[2]");
            draft.finish();
            let received = client.receive(now, frame(&reply), services());
            assert_eq!(received, Received::Reply { service: add, sn: Some(sn), result: Ok(body(b"[2]")) });
            assert_eq!(client.calls().get(sn), Some(&7));
            assert_eq!(client.calls_mut().take(sn), Some(7));
            assert_eq!(client.calls_mut().take(sn), None, "late or double answers find nobody");
        }
    }

    #[test]
    fn timeouts_and_heartbeat_are_due_at_the_next_deadline() {
        let ms = Duration::from_millis;
        let heartbeat = HeartbeatOptions { interval: ms(100), timeout: ms(50) };
        let (mut client, now) = session(DataType::Text, Some(heartbeat));
        assert_eq!(client.next_deadline(), Some(now));
        assert_eq!(client.poll(now).heartbeat, HeartbeatAction::Ping);
        client.start(now, CallOptions { timeout: Some(ms(30)), abort_key: None }, 1).unwrap();
        assert_eq!(client.next_deadline(), Some(now + ms(30)));
        let due = client.poll(now + ms(30));
        assert_eq!(due.expired, [Pending { sn: 1, waiter: 1 }]);
        assert_eq!(client.receive(now + ms(40), Frame::Binary(HEARTBEAT), services()), Received::Heartbeat);
        assert_eq!(client.heartbeat().unwrap().latency(), Some(ms(40)));
        assert_eq!(client.next_deadline(), Some(now + ms(140)));
        assert_eq!(client.poll(now + ms(140)).heartbeat, HeartbeatAction::Ping);
        assert_eq!(client.poll(now + ms(190)).heartbeat, HeartbeatAction::Lost);
    }

    #[test]
    fn closing_gives_back_every_call() {
        let (mut client, now) = session(DataType::Buffer, None);
        client.start(now, CallOptions::default(), 1).unwrap();
        client.start(now, CallOptions::default(), 2).unwrap();
        let refused = client.start(now, CallOptions::default(), 3);
        assert_eq!(refused, Err(CallError::TooManyInFlight { limit: 2 }));
        assert_eq!(client.close(), [Pending { sn: 1, waiter: 1 }, Pending { sn: 2, waiter: 2 }]);
    }
}
