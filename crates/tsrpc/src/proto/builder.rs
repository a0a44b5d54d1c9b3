//! Protos from Rust types.
//!
//! Depends on the traits that applications implement. The outcome is what
//! `tsrpc-cli` makes of the same services written as TypeScript files: same
//! order, same schema ids, same ids on the wire.

use std::{any::TypeId, cmp::Ordering};

use polywire_schema::{Api, Message, Registry, Value};

use super::{IdReport, ServiceDef, ServiceProto};
use crate::{SchemaIds, ServiceId, ServiceKind};

/// Why registered types do not make a proto.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtoBuilderError {
    /// Two types of one kind and name.
    #[error("two types are registered as the {kind} service `{name}`")]
    Duplicate {
        /// The kind.
        kind: ServiceKind,
        /// The name.
        name: &'static str,
    },
    /// A name that ends with a slash, or is empty.
    #[error("`{0}` is no service name: it must not be empty or end with a slash")]
    BadName(&'static str),
}

/// A proto that was built.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The proto.
    pub proto: ServiceProto,
    /// What there is to say about its ids.
    pub report: IdReport,
}

/// Collects the services of an application.
#[derive(Debug, Clone, Default)]
pub struct ProtoBuilder {
    services: Vec<Registered>,
}

#[derive(Debug, Clone)]
struct Registered {
    kind: ServiceKind,
    name: &'static str,
    ty: TypeId,
    conf: Option<Value>,
    describe: fn(&mut Registry, &SchemaIds),
}

impl ProtoBuilder {
    /// No services.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an API; adding it again changes nothing.
    pub fn api<A: Api>(&mut self) -> &mut Self {
        self.add(Registered {
            kind: ServiceKind::Api,
            name: A::NAME,
            ty: TypeId::of::<A>(),
            conf: A::conf(),
            describe: |registry, ids| {
                if let SchemaIds::Api { request, response } = ids {
                    registry.root::<A>(request);
                    registry.root::<A::Response>(response);
                }
            },
        })
    }

    /// Adds a message; adding it again changes nothing.
    pub fn message<M: Message>(&mut self) -> &mut Self {
        self.add(Registered {
            kind: ServiceKind::Message,
            name: M::NAME,
            ty: TypeId::of::<M>(),
            conf: M::conf(),
            describe: |registry, ids| {
                if let SchemaIds::Message { message } = ids {
                    registry.root::<M>(message);
                }
            },
        })
    }

    fn add(&mut self, service: Registered) -> &mut Self {
        let is_same =
            |other: &Registered| (other.kind, other.ty, other.name) == (service.kind, service.ty, service.name);
        if !self.services.iter().any(is_same) {
            self.services.push(service);
        }
        self
    }

    /// Makes the proto, with the ids of an old one where there is one.
    ///
    /// # Errors
    /// Two types under one name, or a name without a last part.
    pub fn build(&self, old: Option<&ServiceProto>) -> Result<Built, ProtoBuilderError> {
        let mut services: Vec<(String, &Registered)> =
            self.services.iter().map(|service| (file_name(service.kind, service.name), service)).collect();
        services.sort_by(|(a, _), (b, _)| compare_paths(a, b));
        let mut proto = ServiceProto::default();
        let mut registry = Registry::default();
        for (at, (_, service)) in services.iter().enumerate() {
            let Registered { kind, name, .. } = **service;
            if at > 0 && (services[at - 1].1.kind, services[at - 1].1.name) == (kind, name) {
                return Err(ProtoBuilderError::Duplicate { kind, name });
            }
            let ids = SchemaIds::new(kind, name).ok_or(ProtoBuilderError::BadName(name))?;
            (service.describe)(&mut registry, &ids);
            let conf = service.conf.clone();
            proto.services.push(ServiceDef { id: ServiceId(0), name: name.to_owned(), kind, conf });
        }
        proto.types = registry.into_types();
        let report = proto.assign_ids(old);
        Ok(Built { proto, report })
    }
}

/// The file that would define a service: `user/PtlLogin.ts`.
fn file_name(kind: ServiceKind, name: &str) -> String {
    let (folder, last) = name.split_at(name.rfind('/').map_or(0, |at| at + 1));
    let prefix = if kind == ServiceKind::Api { "Ptl" } else { "Msg" };
    format!("{folder}{prefix}{last}.ts")
}

/// The order of `localeCompare(b, 'en')`, by which the published generator sorts files: punctuation, digits, letters
/// whatever their case, and lower case first where nothing else differs.
///
/// Exact for ASCII; other characters come behind, by code point.
fn compare_paths(a: &str, b: &str) -> Ordering {
    const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    let weight = |character: char| match PUNCTUATION.find(character) {
        Some(at) => at as u32,
        None => 0x100 + u32::from(character.to_ascii_lowercase()),
    };
    let case = |character: char| character.is_ascii_uppercase();
    let primary = a.chars().map(weight).cmp(b.chars().map(weight));
    primary.then_with(|| a.chars().map(case).cmp(b.chars().map(case)))
}

#[cfg(test)]
mod tests {
    use polywire_schema::{Interface, Mismatch, Property, Schema, Type};

    use super::*;

    macro_rules! types {
        ($($ty:ident: $($field:literal)*;)*) => {$(
            #[derive(Debug)]
            struct $ty;

            impl Schema for $ty {
                fn describe(types: &mut Registry) -> Type {
                    types.named::<Self>(stringify!($ty), |_| {
                        let fields: &[&str] = &[$($field),*];
                        let property = |name: &&str| Property { id: 0, name: (*name).to_owned(), ty: Type::String, optional: false };
                        Type::Interface(Box::new(Interface {
                            properties: fields.iter().map(property).collect(),
                            ..Interface::default()
                        }))
                    })
                }

                fn to_value(&self) -> Value {
                    Value::Undefined
                }

                fn from_value(_: Value) -> Result<Self, Mismatch> {
                    Ok(Self)
                }
            }
        )*};
    }

    types! { Send: "content"; SendReply: "time"; Chat: "content" "time"; }

    impl Api for Send {
        const NAME: &'static str = "Send";
        type Response = SendReply;
    }

    impl Message for Chat {
        const NAME: &'static str = "Chat";

        fn conf() -> Option<Value> {
            Some(Value::Bool(true))
        }
    }

    impl Message for SendReply {
        const NAME: &'static str = "Chat";
    }

    #[test]
    fn the_proto_is_that_of_the_same_files() {
        let mut builder = ProtoBuilder::new();
        builder.api::<Send>().message::<Chat>().api::<Send>();
        let expected = concat!(
            r#"{"services":[{"id":0,"name":"Chat","type":"msg","conf":true},{"id":1,"name":"Send","type":"api"}],"#,
            r#""types":{"MsgChat/MsgChat":{"type":"Interface","properties":["#,
            r#"{"id":0,"name":"content","type":{"type":"String"}},{"id":1,"name":"time","type":{"type":"String"}}]},"#,
            r#""PtlSend/ReqSend":{"type":"Interface","properties":[{"id":0,"name":"content","type":{"type":"String"}}]},"#,
            r#""PtlSend/ResSend":{"type":"Interface","properties":[{"id":0,"name":"time","type":{"type":"String"}}]}}}"#,
        );
        let built = builder.build(None).unwrap();
        assert_eq!(built.proto.to_value().to_json().unwrap().unwrap(), expected);
        assert_eq!(built.report, IdReport::default());
    }

    #[test]
    fn ids_and_version_follow_the_old_proto() {
        let mut builder = ProtoBuilder::new();
        let first = builder.api::<Send>().build(None).unwrap().proto;
        assert_eq!(first.version, None);
        let same = builder.build(Some(&first)).unwrap().proto;
        assert_eq!(same, first);
        let second = builder.message::<Chat>().build(Some(&first)).unwrap().proto;
        assert_eq!(second.version, Some(1));
        let ids: Vec<_> = second.services.iter().map(|service| (service.name.as_str(), service.id.0)).collect();
        assert_eq!(ids, [("Chat", 1), ("Send", 0)]);
        assert_eq!(builder.build(Some(&second)).unwrap().proto, second);
    }

    #[test]
    fn two_types_cannot_be_one_service() {
        let mut builder = ProtoBuilder::new();
        let error = builder.message::<Chat>().message::<SendReply>().build(None).unwrap_err();
        assert_eq!(error, ProtoBuilderError::Duplicate { kind: ServiceKind::Message, name: "Chat" });
    }

    #[test]
    fn files_are_sorted_as_the_published_generator_does() {
        let sorted = [
            "a-b/PtlX.ts",
            "a/PtlX.ts",
            "ab/PtlX.ts",
            "MsgA.ts",
            "PtlA_b.ts",
            "Ptla.ts",
            "PtlA.ts",
            "PtlA1.ts",
            "PtlA10.ts",
            "PtlA2.ts",
            "PtlAB.ts",
            "Ptlz.ts",
            "user/MsgA.ts",
            "user/PtlA.ts",
            "userB/MsgA.ts",
            "中/PtlA.ts",
            "文/PtlA.ts",
        ];
        let mut shuffled = sorted;
        shuffled.reverse();
        shuffled.sort_by(|a, b| compare_paths(a, b));
        assert_eq!(shuffled, sorted);
    }
}
