//! How the values of one service become bytes and back: typed or dynamic.
//!
//! Depends on the codecs only. Everything above is generic over these traits,
//! so that typed and dynamic handlers run through the same code.

use std::{ops::Deref, sync::Arc};

use polywire_schema::{Api, Message, Slot, Value, from_untrusted};
use polywire_tsbuffer::{
    DecodeError, EncodeError, TsBuffer,
    typed::{Agreement, Codec, TypedCodec},
};
use polywire_tsrpc::{Body, DataType};

/// A request or message whose type is known only from the service proto.
///
/// Handlers registered by name take it: `Call<Dynamic>`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dynamic(pub Value);

impl Deref for Dynamic {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl From<Value> for Dynamic {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

/// Reads and writes one type of a service.
pub trait ValueCodec<T>: Send + Sync + 'static {
    /// Reads what a peer sent.
    ///
    /// # Errors
    /// Where it is no encoding of the type.
    fn decode(&self, body: Body<'_>) -> Result<T, DecodeError>;
    /// Writes what a peer gets; nothing on an error.
    ///
    /// # Errors
    /// Where the value is not of the type.
    fn encode(&self, value: &T, data_type: DataType, out: &mut Vec<u8>) -> Result<(), EncodeError>;
    /// From a value that has been checked.
    ///
    /// # Errors
    /// Where the Rust type is narrower; says what was found.
    fn read_value(&self, value: Value) -> Result<T, String>;
    /// The dynamic form.
    fn to_value(&self, value: &T) -> Value;
    /// The dynamic codec of the same type.
    fn dynamic(&self) -> &DynamicCodec;
}

/// The codec of a type that is known from the proto only.
#[derive(Debug, Clone)]
pub struct DynamicCodec {
    buffer: Arc<TsBuffer>,
    slot: Slot,
}

impl DynamicCodec {
    /// The codec of a type.
    #[must_use]
    pub fn new(buffer: Arc<TsBuffer>, slot: Slot) -> Self {
        Self { buffer, slot }
    }

    /// Reads what a peer sent.
    ///
    /// # Errors
    /// Where it is no encoding of the type.
    pub fn decode_value(&self, body: Body<'_>) -> Result<Value, DecodeError> {
        match body {
            Body::Binary(bytes) => self.buffer.decode(self.slot, bytes),
            Body::Json(text) => {
                let json = Value::parse_json(text).map_err(|error| DecodeError::Json(Box::new(error)))?;
                self.buffer.decode_json(self.slot, json)
            }
            Body::Value(json) => self.buffer.decode_json(self.slot, *json),
        }
    }

    /// Writes what a peer gets: nothing for `undefined` as text, and nothing on an error.
    ///
    /// # Errors
    /// Where the value is not of the type.
    pub fn encode_value(&self, value: &Value, data_type: DataType, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match data_type {
            DataType::Buffer => self.buffer.encode_into(out, self.slot, value),
            // Nothing for `undefined`: the envelope says what stands there then.
            DataType::Text => self.buffer.encode_json_into(out, self.slot, value).map(drop),
        }
    }

    /// Checks a value of the application and leaves out what its type does not declare.
    ///
    /// # Errors
    /// The text of the first reason against it.
    pub fn check(&self, value: &Value) -> Result<Value, String> {
        self.buffer.prune(self.slot, value).map_err(|error| error.to_string())
    }
}

impl ValueCodec<Dynamic> for DynamicCodec {
    fn decode(&self, body: Body<'_>) -> Result<Dynamic, DecodeError> {
        self.decode_value(body).map(Dynamic)
    }

    fn encode(&self, value: &Dynamic, data_type: DataType, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.encode_value(&value.0, data_type, out)
    }

    fn read_value(&self, value: Value) -> Result<Dynamic, String> {
        Ok(Dynamic(value))
    }

    fn to_value(&self, value: &Dynamic) -> Value {
        value.0.clone()
    }

    fn dynamic(&self) -> &DynamicCodec {
        self
    }
}

/// The codec of a Rust type.
pub struct RustCodec<T> {
    typed: TypedCodec<T>,
    dynamic: DynamicCodec,
}

impl<T: Codec> RustCodec<T> {
    /// The codec of a Rust type for a use of it by this service. Logs where the types in force are others.
    #[must_use]
    pub fn new(buffer: &Arc<TsBuffer>, slot: Slot, service: &str) -> Self {
        let typed = TypedCodec::new(Arc::clone(buffer), slot);
        match typed.agreement() {
            Agreement::Full => {}
            Agreement::ExceptIds => tracing::info!(
                service,
                "the proto has other ids than the Rust type: binary takes the slower way; `#[schema(id = …)]` sets ids"
            ),
            Agreement::None => {
                tracing::warn!(
                    service,
                    rust_type = std::any::type_name::<T>(),
                    "the proto has another type than the Rust type: values are converted one by one, and refused where they do not fit"
                );
            }
        }
        Self { typed, dynamic: DynamicCodec::new(Arc::clone(buffer), slot) }
    }
}

impl<T: Codec + Sync> ValueCodec<T> for RustCodec<T> {
    fn decode(&self, body: Body<'_>) -> Result<T, DecodeError> {
        match body {
            Body::Binary(bytes) => self.typed.decode_binary(bytes),
            Body::Json(text) => self.typed.decode_json(text),
            Body::Value(json) => self.typed.decode_json_value(*json),
        }
    }

    fn encode(&self, value: &T, data_type: DataType, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match data_type {
            DataType::Buffer => self.typed.encode_binary(value, out),
            DataType::Text => self.typed.encode_json(value, out),
        }
    }

    fn read_value(&self, value: Value) -> Result<T, String> {
        from_untrusted(value).map_err(|mismatch| mismatch.to_string())
    }

    fn to_value(&self, value: &T) -> Value {
        value.to_value()
    }

    fn dynamic(&self) -> &DynamicCodec {
        &self.dynamic
    }
}

/// What a handler of an API may take: a type that derives `Api`, or [`Dynamic`].
pub trait Request: Sized + Send + Sync + 'static {
    /// What answers it.
    type Response: Send + Sync + 'static;
    /// Reads the request.
    #[doc(hidden)]
    type RequestCodec: ValueCodec<Self>;
    /// Writes the response.
    #[doc(hidden)]
    type ResponseCodec: ValueCodec<Self::Response>;
}

impl<A> Request for A
where
    A: Api + Codec,
    A::Response: Codec,
{
    type Response = A::Response;
    type RequestCodec = RustCodec<A>;
    type ResponseCodec = RustCodec<A::Response>;
}

impl Request for Dynamic {
    type Response = Dynamic;
    type RequestCodec = DynamicCodec;
    type ResponseCodec = DynamicCodec;
}

/// What a handler of a message may take: a type that derives `Message`, or [`Dynamic`].
pub trait Payload: Sized + Send + Sync + 'static {
    /// Reads and writes it.
    #[doc(hidden)]
    type Codec: ValueCodec<Self>;
}

impl<M: Message + Codec> Payload for M {
    type Codec = RustCodec<M>;
}

impl Payload for Dynamic {
    type Codec = DynamicCodec;
}
