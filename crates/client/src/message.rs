//! Sending one message, on whatever transport.
//!
//! Depends on codecs and flows.

use std::sync::Arc;

use polywire_runtime::{ValueCodec, run_or_spawn};
use polywire_schema::{Message, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{ApiError, DataType, Service};

use crate::{
    OutgoingMessage,
    call::unless_stopped,
    flows::log_failure,
    transport::{Encode, Transport},
};

/// Sends a message of a Rust type.
pub(crate) async fn send_typed<M: Message + Codec>(transport: &impl Transport, message: &M) -> Result<(), ApiError> {
    let (service, codec) = transport.core().typed_message::<M>()?;
    let encode = |data_type: DataType, out: &mut Vec<u8>| codec.0.encode(message, data_type, out);
    send(transport, service, encode, || codec.0.to_value(message)).await
}

/// Sends the message of a name.
pub(crate) async fn send_named(transport: &impl Transport, name: &str, message: &Value) -> Result<(), ApiError> {
    let service = transport.core().message(name)?;
    let codec = transport.core().contract.dynamic(service.input());
    let encode = |data_type: DataType, out: &mut Vec<u8>| codec.encode_value(message, data_type, out);
    send(transport, service, encode, || message.clone()).await
}

async fn send(
    transport: &impl Transport,
    service: &Arc<Service>,
    encode: impl Encode,
    value: impl FnOnce() -> Value + Send,
) -> Result<(), ApiError> {
    let core = transport.core();
    if !core.flows.pre_send_msg.is_active() && !core.flows.post_send_msg.is_active() {
        return transport.post(service, encode).await;
    }
    let message = OutgoingMessage { name: Arc::clone(&service.name), message: value() };
    let sent = unless_stopped(core.flows.pre_send_msg.run(message).await)?;
    let codec = core.contract.dynamic(service.input());
    let encode = |data_type: DataType, out: &mut Vec<u8>| codec.encode_value(&sent.message, data_type, out);
    transport.post(service, encode).await?;
    let core = Arc::clone(core);
    run_or_spawn(async move {
        if let Err(error) = core.flows.post_send_msg.run(sent).await {
            log_failure("post_send_msg", &*error);
        }
    });
    Ok(())
}
