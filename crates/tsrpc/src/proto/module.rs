//! Protos as TypeScript modules: `serviceProto.ts`.
//!
//! Depends on the JSON form and the printer of types. The first form is that of
//! `tsrpc-cli`, byte for byte; the second stands alone, for projects whose
//! types are defined in Rust.

use polywire_schema::write_json_string;

use super::{ServiceDef, ServiceProto, names::Names, pretty, printer::Printer};
use crate::{SchemaIds, ServiceKind};

impl ServiceProto {
    /// The JSON file: indented by two, no newline at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.pretty(2)
    }

    /// The generated module, for a project that has its types in `Ptl*.ts` and `Msg*.ts` files.
    ///
    /// `protocols` is the folder of those files as seen from the module: `.` where
    /// it lies among them, `../protocols` and so on.
    #[must_use]
    pub fn to_module(&self, protocols: &str) -> String {
        let mut names = Names::default();
        let mut imports = String::new();
        let services = ServiceType::new(self, |service| {
            let (folder, last) = split_name(&service.name);
            let (file, types) = match service.kind {
                ServiceKind::Api => ("Ptl", vec![format!("Req{last}"), format!("Res{last}")]),
                ServiceKind::Message => ("Msg", vec![format!("Msg{last}")]),
            };
            let local: Vec<String> = types.iter().map(|name| names.claim(name)).collect();
            let items = types
                .iter()
                .zip(&local)
                .map(|(name, local)| if name == local { name.clone() } else { format!("{name} as {local}") });
            let items = items.collect::<Vec<_>>().join(", ");
            let path = relative(protocols, &format!("{folder}{file}{last}"));
            imports += &format!("import {{ {items} }} from '{path}';\n");
            local
        });
        self.module(&imports, &services)
    }

    /// A module that needs no other file: the types are printed in it.
    ///
    /// It imports `tsrpc-proto` and, where the types hold an `ObjectId`, the
    /// package that it comes from.
    #[must_use]
    pub fn to_standalone_module(&self) -> String {
        let mut names = Names::default();
        for reserved in ["ServiceProto", "ServiceType", "serviceProto"] {
            names.claim(reserved);
        }
        let printer = Printer::new(&self.types, &mut names);
        let services = ServiceType::new(self, |service| {
            let ids = match SchemaIds::new(service.kind, &service.name) {
                Some(SchemaIds::Api { request, response }) => vec![request, response],
                Some(SchemaIds::Message { message }) => vec![message],
                None => Vec::new(),
            };
            ids.iter().map(|id| printer.reference(id)).collect()
        });
        let (imports, declarations) = printer.print();
        self.module(&format!("{imports}\n{declarations}"), &services)
    }

    fn module(&self, head: &str, services: &ServiceType) -> String {
        let head = head.trim_end();
        let ServiceType { apis, messages } = services;
        let (apis, messages) = (apis.join(",\n"), messages.join(",\n"));
        let proto = self.pretty(4);
        format!(
            "import {{ ServiceProto }} from 'tsrpc-proto';\n{head}\n\n\
             export interface ServiceType {{\n    api: {{\n{apis}\n    }},\n    msg: {{\n{messages}\n    }}\n}}\n\n\
             export const serviceProto: ServiceProto<ServiceType> = {proto};"
        )
    }

    fn pretty(&self, indent: usize) -> String {
        let mut out = Vec::new();
        pretty::write(&mut out, &self.to_value(), indent);
        // Only UTF-8 is ever written.
        String::from_utf8(out).unwrap_or_default()
    }
}

/// The entries of the interface that gives a proto's services their types.
struct ServiceType {
    apis: Vec<String>,
    messages: Vec<String>,
}

impl ServiceType {
    /// `names` gives the names of a service's types: request and response, or message.
    fn new(proto: &ServiceProto, mut names: impl FnMut(&ServiceDef) -> Vec<String>) -> Self {
        let mut entries = Self { apis: Vec::new(), messages: Vec::new() };
        for service in &proto.services {
            let key = quoted(&service.name);
            match &*names(service) {
                [req, res] => {
                    let entry =
                        format!("        {key}: {{\n            req: {req},\n            res: {res}\n        }}");
                    entries.apis.push(entry);
                }
                [message] => entries.messages.push(format!("        {key}: {message}")),
                _ => {}
            }
        }
        entries
    }
}

/// A string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_json_string(&mut out, text);
    // Only UTF-8 is ever written.
    String::from_utf8(out).unwrap_or_default()
}

fn split_name(name: &str) -> (&str, &str) {
    name.split_at(name.rfind('/').map_or(0, |at| at + 1))
}

/// The path of an import: always starts with a dot.
fn relative(folder: &str, file: &str) -> String {
    let folder = folder.trim_end_matches('/');
    match folder {
        "" | "." => format!("./{file}"),
        _ if folder.starts_with('.') => format!("{folder}/{file}"),
        _ => format!("./{folder}/{file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTO: &str = r#"{
        services: [
            {id: 0, name: 'a-b/Add', type: 'api', conf: {roles: ['x'], none: {}}},
            {id: 2, name: 'Chat', type: 'msg'},
            {id: 1, name: 'Add', type: 'api'},
        ],
        types: {
            'a-b/PtlAdd/ReqAdd': {type: 'Interface', properties: [{id: 0, name: 'a', type: {type: 'Number'}}]},
            'a-b/PtlAdd/ResAdd': {type: 'Any'},
            'MsgChat/MsgChat': {type: 'Reference', target: 'common/Line'},
            'common/Line': {type: 'Interface'},
            'PtlAdd/ReqAdd': {type: 'Number', scalarType: 'uint'},
            'PtlAdd/ResAdd': {type: 'Any'},
        },
    }"#;

    /// The head of a module, up to the proto.
    fn head(module: &str) -> &str {
        module.split("ServiceProto<ServiceType> = ").next().unwrap()
    }

    #[test]
    fn the_module_is_the_published_one() {
        let proto = ServiceProto::from_json(PROTO).unwrap();
        let module = proto.to_module("../protocols/");
        let expected = r#"import { ServiceProto } from 'tsrpc-proto';
import { ReqAdd, ResAdd } from '../protocols/a-b/PtlAdd';
import { MsgChat } from '../protocols/MsgChat';
import { ReqAdd as ReqAdd_1, ResAdd as ResAdd_1 } from '../protocols/PtlAdd';

export interface ServiceType {
    api: {
        "a-b/Add": {
            req: ReqAdd,
            res: ResAdd
        },
        "Add": {
            req: ReqAdd_1,
            res: ResAdd_1
        }
    },
    msg: {
        "Chat": MsgChat
    }
}

export const serviceProto: "#;
        assert_eq!(head(&module), expected);
        let services = r#"{
    "services": [
        {
            "id": 0,
            "name": "a-b/Add",
            "type": "api",
            "conf": {
                "roles": [
                    "x"
                ],
                "none": {}
            }
        },
"#;
        assert!(module[expected.len()..].starts_with(&format!("ServiceProto<ServiceType> = {services}")), "{module}");
        assert!(module.ends_with("    }\n};"), "{module}");
    }

    #[test]
    fn a_standalone_module_declares_what_it_uses() {
        let module = ServiceProto::from_json(PROTO).unwrap().to_standalone_module();
        let expected = r#"import { ServiceProto } from 'tsrpc-proto';
import { uint } from 'tsrpc-proto';

export interface ReqAdd {
    a: number;
}

export type ResAdd = any;

export type MsgChat = Line;

export interface Line {}

export type ReqAdd_1 = uint;

export type ResAdd_1 = any;

export interface ServiceType {
    api: {
        "a-b/Add": {
            req: ReqAdd,
            res: ResAdd
        },
        "Add": {
            req: ReqAdd_1,
            res: ResAdd_1
        }
    },
    msg: {
        "Chat": MsgChat
    }
}

export const serviceProto: "#;
        assert_eq!(head(&module), expected);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let proto = ServiceProto::from_json(PROTO).unwrap();
        assert_eq!(ServiceProto::from_json(&proto.to_json()), Ok(proto.clone()));
        assert_eq!(ServiceProto::from_module(&proto.to_module(".")), Ok(proto.clone()));
        assert_eq!(ServiceProto::from_module(&proto.to_standalone_module()), Ok(proto));
    }

    #[test]
    fn paths_of_imports_start_with_a_dot() {
        let cases = [
            (".", "./PtlA"),
            ("./", "./PtlA"),
            ("", "./PtlA"),
            ("..", "../PtlA"),
            ("../p/", "../p/PtlA"),
            ("p/q", "./p/q/PtlA"),
        ];
        for (folder, expected) in cases {
            assert_eq!(relative(folder, "PtlA"), expected, "{folder:?}");
        }
    }
}
