//! Sending messages: to one connection, to some, to all.
//!
//! Depends on [`messages`](crate::messages) for encoding and queueing.

use std::sync::{Arc, PoisonError};

use polywire_runtime::{Contract, RustCodec, ValueCodec};
use polywire_schema::{Message, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::Service;

use crate::{Conn, SendError, Server, messages::Outgoing};

impl Server {
    /// Sends a message to a connection.
    ///
    /// # Errors
    /// Where it is not queued; see [`SendError`].
    pub(crate) fn send_message<M: Message + Codec>(&self, conn: &Conn, message: &M) -> Result<(), SendError> {
        self.with_typed(message, |outgoing| outgoing.send_to(conn))?
    }

    pub(crate) fn send_value(&self, conn: &Conn, name: &str, message: &Value) -> Result<(), SendError> {
        self.with_value(name, message, |outgoing| outgoing.send_to(conn))?
    }

    /// Sends a message to every WebSocket connection. Returns to how many it was queued.
    ///
    /// It is encoded once for text and once for binary connections, however many there are.
    ///
    /// # Errors
    /// Where the message breaks its type, or the proto does not know it.
    pub fn broadcast<M: Message + Codec>(&self, message: &M) -> Result<usize, SendError> {
        self.with_typed(message, |outgoing| self.to_all(outgoing))?
    }

    /// Sends a message to some connections. Returns to how many it was queued.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn broadcast_to<'a, M: Message + Codec>(
        &self,
        conns: impl IntoIterator<Item = &'a Conn>,
        message: &M,
    ) -> Result<usize, SendError> {
        // Before any lock is held: the iterator is the application's.
        let conns: Vec<&Conn> = conns.into_iter().collect();
        self.with_typed(message, |outgoing| {
            if self.flows().messages_active() {
                return outgoing.broadcast_through_flows(conns);
            }
            self.in_order(|| outgoing.broadcast(|visit| conns.into_iter().for_each(visit)))
        })?
    }

    /// Sends the message of a name to every WebSocket connection.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn broadcast_named(&self, name: &str, message: &Value) -> Result<usize, SendError> {
        self.with_value(name, message, |outgoing| self.to_all(outgoing))?
    }

    fn to_all(&self, outgoing: &Outgoing<'_>) -> Result<usize, SendError> {
        if self.flows().messages_active() {
            return outgoing.broadcast_through_flows(&self.shared.conns.all());
        }
        self.in_order(|| outgoing.broadcast(|visit| self.shared.conns.each(visit)))
    }

    /// One broadcast after the other: all connections see them in one order.
    fn in_order<T>(&self, broadcast: impl FnOnce() -> T) -> T {
        let _order = self.shared.broadcasting.lock().unwrap_or_else(PoisonError::into_inner);
        broadcast()
    }

    fn with_typed<M: Message + Codec, T>(
        &self,
        message: &M,
        then: impl FnOnce(&Outgoing<'_>) -> T,
    ) -> Result<T, SendError> {
        let contract = self.shared.contract.get().ok_or(SendError::NotStarted)?;
        let service =
            contract.services.message(M::NAME).ok_or_else(|| SendError::UnknownMessage(M::NAME.to_owned()))?;
        let codec = self.message_codec::<M>(contract, service);
        let outgoing = Outgoing {
            service,
            codec: codec.dynamic().clone(),
            encode: &|data_type, out| codec.encode(message, data_type, out).map_err(|error| error.to_string()),
            value: &|| message.to_value(),
        };
        Ok(then(&outgoing))
    }

    fn with_value<T>(
        &self,
        name: &str,
        message: &Value,
        then: impl FnOnce(&Outgoing<'_>) -> T,
    ) -> Result<T, SendError> {
        let contract = self.shared.contract.get().ok_or(SendError::NotStarted)?;
        let service = contract.services.message(name).ok_or_else(|| SendError::UnknownMessage(name.to_owned()))?;
        let codec = contract.dynamic(service.input());
        let outgoing = Outgoing {
            service,
            codec: codec.clone(),
            encode: &|data_type, out| codec.encode_value(message, data_type, out).map_err(|error| error.to_string()),
            value: &|| message.clone(),
        };
        Ok(then(&outgoing))
    }

    /// The codec of a message that is sent. Made at its first use.
    fn message_codec<M: Message + Codec>(&self, contract: &Contract, service: &Arc<Service>) -> Arc<RustCodec<M>> {
        self.shared.outgoing.get_or_make(|| RustCodec::<M>::new(&contract.buffer, service.input(), &service.name))
    }
}
