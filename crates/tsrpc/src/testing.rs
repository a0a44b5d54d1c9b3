//! What the tests of this crate share: the proto of the transport vectors.

use polywire_schema::{Program, Value};

use crate::{ServiceMap, ServiceProto};

/// The transport vectors.
pub(crate) fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/tsrpc-transport-vectors.json");
    Value::parse_json(std::fs::read(path).unwrap()).unwrap()
}

/// The proto of the transport vectors.
pub(crate) fn proto() -> ServiceProto {
    ServiceProto::from_value(vectors().get("serviceProto").unwrap()).unwrap()
}

/// The services of [`proto`].
pub(crate) fn services() -> ServiceMap {
    let proto = proto();
    ServiceMap::new(&proto, &Program::compile(&proto.types, &Default::default())).unwrap()
}
