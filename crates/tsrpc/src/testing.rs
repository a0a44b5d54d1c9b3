//! What the tests of this crate share: the proto of the transport vectors.

use std::sync::LazyLock;

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
pub(crate) fn services() -> &'static ServiceMap {
    static SERVICES: LazyLock<ServiceMap> = LazyLock::new(|| {
        let proto = proto();
        ServiceMap::new(&proto, &Program::compile(&proto.types, &Default::default())).unwrap()
    });
    &SERVICES
}

/// The bytes of a text of hexadecimal digits.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// One API of this id.
pub(crate) fn service_of_id(id: u32) -> ServiceMap {
    let proto = format!(
        "{{services: [{{id: {id}, name: 'A', type: 'api'}}], types: {{'PtlA/ReqA': {{type: 'Any'}}, 'PtlA/ResA': {{type: 'Any'}}}}}}"
    );
    let proto = ServiceProto::from_json(&proto).unwrap();
    ServiceMap::new(&proto, &Program::compile(&proto.types, &Default::default())).unwrap()
}
