//! The services of a proto, ready to be looked up by what stands in a frame.
//!
//! Depends on the proto and the compiled types. Invariant: every service of a
//! [`ServiceMap`] has all its types; ids, API names and message names are unique.

use std::{collections::HashMap, fmt, sync::Arc};

use foldhash::fast::FixedState;
use polywire_schema::{Program, Slot, Value, write_json_string};

use crate::proto::{ServiceDef, ServiceProto};

/// The number that names a service in binary frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceId(pub u32);

impl fmt::Display for ServiceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether a service answers. `Display`, as in paths and texts: `api` or `msg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServiceKind {
    /// A call: request and response.
    Api,
    /// One way.
    Message,
}

impl ServiceKind {
    /// The name in a proto: `api` or `msg`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Message => "msg",
        }
    }
}

impl fmt::Display for ServiceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a service carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceTypes {
    /// An API.
    Api {
        /// The type of what is asked.
        request: Slot,
        /// The type of what is answered.
        response: Slot,
    },
    /// A message.
    Message {
        /// The type of the message.
        message: Slot,
    },
}

/// A service with its types resolved.
#[derive(Debug, PartialEq)]
pub struct Service {
    /// The number in binary frames.
    pub id: ServiceId,
    /// The name, with its folder: `user/Login`.
    pub name: Arc<str>,
    /// Static configuration from the protocol file.
    pub conf: Option<Value>,
    /// What it carries.
    pub types: ServiceTypes,
    /// `["<name>",`: how every text frame of this service begins.
    pub(crate) text_head: Box<[u8]>,
}

impl Service {
    /// Whether it answers.
    #[must_use]
    pub fn kind(&self) -> ServiceKind {
        match self.types {
            ServiceTypes::Api { .. } => ServiceKind::Api,
            ServiceTypes::Message { .. } => ServiceKind::Message,
        }
    }

    /// What it takes: the request of an API, or the message.
    #[must_use]
    pub fn input(&self) -> Slot {
        match self.types {
            ServiceTypes::Api { request, .. } => request,
            ServiceTypes::Message { message } => message,
        }
    }

    /// What it answers, if it is an API.
    #[must_use]
    pub fn response(&self) -> Option<Slot> {
        match self.types {
            ServiceTypes::Api { response, .. } => Some(response),
            ServiceTypes::Message { .. } => None,
        }
    }

    fn new(def: &ServiceDef, program: &Program) -> Result<Self, ServiceMapError> {
        let root = |schema_id: String| {
            program
                .root(&schema_id)
                .ok_or_else(|| ServiceMapError::MissingSchema { service: def.name.clone(), schema_id })
        };
        let ids = SchemaIds::new(def.kind, &def.name).ok_or_else(|| ServiceMapError::BadName(def.name.clone()))?;
        let types = match ids {
            SchemaIds::Api { request, response } => {
                ServiceTypes::Api { request: root(request)?, response: root(response)? }
            }
            SchemaIds::Message { message } => ServiceTypes::Message { message: root(message)? },
        };
        let mut text_head = b"[".to_vec();
        write_json_string(&mut text_head, &def.name);
        text_head.push(b',');
        Ok(Self {
            id: def.id,
            name: def.name.as_str().into(),
            conf: def.conf.clone(),
            types,
            text_head: text_head.into(),
        })
    }
}

/// The schema ids that a service name stands for: `user/Login` is
/// `user/PtlLogin/ReqLogin` and `user/PtlLogin/ResLogin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaIds {
    /// Of an API.
    Api {
        /// The request.
        request: String,
        /// The response.
        response: String,
    },
    /// Of a message.
    Message {
        /// The message.
        message: String,
    },
}

impl SchemaIds {
    /// The schema ids of a service; none where the last part of its name is empty.
    #[must_use]
    pub fn new(kind: ServiceKind, name: &str) -> Option<Self> {
        let (folder, last) = match name.rfind('/') {
            Some(at) => name.split_at(at + 1),
            None => ("", name),
        };
        if last.is_empty() {
            return None;
        }
        Some(match kind {
            ServiceKind::Api => Self::Api {
                request: format!("{folder}Ptl{last}/Req{last}"),
                response: format!("{folder}Ptl{last}/Res{last}"),
            },
            ServiceKind::Message => Self::Message { message: format!("{folder}Msg{last}/Msg{last}") },
        })
    }
}

/// What [`Service::text_head`] has around a name without escapes.
const TEXT_HEAD_EXTRA: usize = r#"["","#.len();

/// Why a proto cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceMapError {
    /// Two services of one id.
    #[error("services `{first}` and `{second}` have the same id {id}")]
    DuplicateId {
        /// The id.
        id: ServiceId,
        /// The service that has it.
        first: String,
        /// The one that has it as well.
        second: String,
    },
    /// Two services of one kind and name.
    #[error("there are two services `{name}` of type `{kind}`")]
    DuplicateName {
        /// The kind.
        kind: ServiceKind,
        /// The name.
        name: String,
    },
    /// A type that the proto does not hold.
    #[error("service `{service}` needs the type `{schema_id}`, which the proto does not define")]
    MissingSchema {
        /// The service.
        service: String,
        /// The schema id.
        schema_id: String,
    },
    /// A name that ends with a slash, or is empty.
    #[error("`{0}` is no service name: it must not be empty or end with a slash")]
    BadName(String),
}

/// The services of a proto.
///
/// Looking one up is part of the way of every frame: ids below 4,096 index an
/// array, names are hashed. Only the proto adds names, so the hash need not
/// resist chosen ones.
#[derive(Debug, Default)]
pub struct ServiceMap {
    services: Vec<Arc<Service>>,
    dense: Vec<Option<Arc<Service>>>,
    sparse: HashMap<u64, Arc<Service>, FixedState>,
    apis: HashMap<Box<[u8]>, Arc<Service>, FixedState>,
    messages: HashMap<Box<[u8]>, Arc<Service>, FixedState>,
}

impl ServiceMap {
    /// Ids from here on are looked up by hash: a proto cannot make us allocate for gaps.
    const DENSE: u32 = 4096;

    /// Resolves the services of a proto in the program compiled from its types.
    ///
    /// # Errors
    /// Duplicate ids or names, names without a last part, types that the program does not hold.
    pub fn new(proto: &ServiceProto, program: &Program) -> Result<Self, ServiceMapError> {
        let mut map = Self::default();
        for def in &proto.services {
            map.insert(Arc::new(Service::new(def, program)?))?;
        }
        Ok(map)
    }

    fn insert(&mut self, service: Arc<Service>) -> Result<(), ServiceMapError> {
        if let Some(first) = self.by_id(service.id.0.into()) {
            return Err(ServiceMapError::DuplicateId {
                id: service.id,
                first: first.name.to_string(),
                second: service.name.to_string(),
            });
        }
        let names = match service.kind() {
            ServiceKind::Api => &mut self.apis,
            ServiceKind::Message => &mut self.messages,
        };
        if names.insert(service.name.as_bytes().into(), Arc::clone(&service)).is_some() {
            return Err(ServiceMapError::DuplicateName { kind: service.kind(), name: service.name.to_string() });
        }
        if service.id.0 < Self::DENSE {
            let at = service.id.0 as usize;
            if self.dense.len() <= at {
                self.dense.resize(at + 1, None);
            }
            self.dense[at] = Some(Arc::clone(&service));
        } else {
            self.sparse.insert(service.id.0.into(), Arc::clone(&service));
        }
        self.services.push(service);
        Ok(())
    }

    /// The service of an id as it stands in a binary frame. Hot.
    #[must_use]
    pub fn by_id(&self, id: u64) -> Option<&Arc<Service>> {
        match usize::try_from(id).ok().and_then(|at| self.dense.get(at)) {
            Some(service) => service.as_ref(),
            None => self.sparse.get(&id),
        }
    }

    /// The API of a name. Hot.
    #[must_use]
    pub fn api(&self, name: &str) -> Option<&Arc<Service>> {
        self.by_name(ServiceKind::Api, name.as_bytes())
    }

    /// The message of a name. Hot.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<&Arc<Service>> {
        self.by_name(ServiceKind::Message, name.as_bytes())
    }

    /// The service of a kind and a name, which need not be UTF-8. Hot.
    #[must_use]
    pub fn by_name(&self, kind: ServiceKind, name: &[u8]) -> Option<&Arc<Service>> {
        match kind {
            ServiceKind::Api => self.apis.get(name),
            ServiceKind::Message => self.messages.get(name),
        }
    }

    /// The service of a name as it stands between quotes in JSON text: one that is
    /// written with escapes is not found. Hot.
    pub(crate) fn by_text_name(&self, kind: ServiceKind, name: &[u8]) -> Option<&Arc<Service>> {
        self.by_name(kind, name).filter(|service| service.text_head.len() == name.len() + TEXT_HEAD_EXTRA)
    }

    /// Every service, in the order of the proto.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Service>> {
        self.services.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: &str = "{'PtlA/ReqA': {type: 'Any'}, 'PtlA/ResA': {type: 'Any'}, 'x/MsgB/MsgB': {type: 'Any'}}";

    fn map(services: &str) -> Result<ServiceMap, ServiceMapError> {
        let proto = ServiceProto::from_json(&format!("{{services: {services}, types: {TYPES}}}")).unwrap();
        ServiceMap::new(&proto, &Program::compile(&proto.types, &Default::default()))
    }

    #[test]
    fn services_are_found_by_id_and_by_name_of_their_kind() {
        let map =
            map("[{id: 7, name: 'A', type: 'api', conf: 1}, {id: 4294967295, name: 'x/B', type: 'msg'}]").unwrap();
        let name = |service: Option<&Arc<Service>>| service.map(|service| service.name.to_string());
        assert_eq!(name(map.by_id(7)), Some("A".to_owned()));
        assert_eq!(name(map.by_id(4_294_967_295)), Some("x/B".to_owned()));
        for id in [0, 6, 8, 4096, u64::MAX] {
            assert_eq!(name(map.by_id(id)), None, "{id}");
        }
        assert_eq!(name(map.api("A")), Some("A".to_owned()));
        assert_eq!(name(map.message("x/B")), Some("x/B".to_owned()));
        assert_eq!(name(map.message("A")), None);
        assert_eq!(name(map.api("x/B")), None);
        assert_eq!(map.iter().count(), 2);
        assert_eq!(map.api("A").unwrap().conf, Some(Value::Number(1.0)));
    }

    #[test]
    fn a_proto_that_contradicts_itself_is_refused() {
        let cases = [
            (
                "[{id: 1, name: 'A', type: 'api'}, {id: 1, name: 'x/B', type: 'msg'}]",
                "services `A` and `x/B` have the same id 1",
            ),
            (
                "[{id: 1, name: 'A', type: 'api'}, {id: 2, name: 'A', type: 'api'}]",
                "there are two services `A` of type `api`",
            ),
            (
                "[{id: 1, name: 'A', type: 'msg'}]",
                "service `A` needs the type `MsgA/MsgA`, which the proto does not define",
            ),
            ("[{id: 1, name: 'x/', type: 'msg'}]", "`x/` is no service name: it must not be empty or end with a slash"),
            ("[{id: 1, name: '', type: 'api'}]", "`` is no service name: it must not be empty or end with a slash"),
        ];
        for (services, expected) in cases {
            assert_eq!(map(services).unwrap_err().to_string(), expected);
        }
    }
}
