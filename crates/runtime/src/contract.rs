//! The services and codecs in force on one end of a wire.
//!
//! Depends on the proto and codecs. Nothing here changes once it is made.

use std::sync::Arc;

use polywire_schema::{CompileOptions, Program, Slot};
use polywire_tsbuffer::{TsBuffer, TsBufferOptions};
use polywire_tsrpc::{ServiceMap, ServiceMapError, ServiceProto};

use crate::DynamicCodec;

/// A proto with everything that is made of it.
#[derive(Debug)]
pub struct Contract {
    /// The proto.
    pub proto: ServiceProto,
    /// Its services.
    pub services: ServiceMap,
    /// The codecs of its types.
    pub buffer: Arc<TsBuffer>,
}

impl Contract {
    /// Compiles a proto.
    ///
    /// # Errors
    /// Where its services do not fit together.
    pub fn new(proto: ServiceProto, types: &CompileOptions, options: TsBufferOptions) -> Result<Self, ServiceMapError> {
        let program = Arc::new(Program::compile(&proto.types, types));
        let services = ServiceMap::new(&proto, &program)?;
        Ok(Self { proto, services, buffer: Arc::new(TsBuffer::new(program, options)) })
    }

    /// The codec of a type of the proto.
    #[must_use]
    pub fn dynamic(&self, slot: Slot) -> DynamicCodec {
        DynamicCodec::new(Arc::clone(&self.buffer), slot)
    }
}
