//! Types as TypeScript declarations.
//!
//! Depends on the type model. Invariants: every schema id of a set becomes one
//! exported declaration under a name of its own; what is printed means the
//! same to TypeScript as the type means to TSRPC; the published generator reads
//! it back to the same types, but for enums (the names of whose members no proto
//! holds), which become unions of literals.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
};

use polywire_schema::{EnumValue, Interface, KeyType, Literal, Member, Scalar, Type, TypeSet, number_text};

use super::{
    module::quoted,
    names::{Names, identifier, is_identifier},
};

/// How tightly a type holds together: what is looser than its place needs parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Union,
    Intersection,
    Prefix,
    Postfix,
}

pub(super) struct Printer<'a> {
    types: &'a TypeSet,
    /// The names of declared types, by schema id.
    declared: HashMap<&'a str, String>,
    /// The local names of what is imported, by module and name there.
    imported: BTreeMap<(&'static str, &'static str), String>,
}

impl<'a> Printer<'a> {
    /// Gives every type of the set, and everything that has to be imported, a name that is free.
    pub(super) fn new(types: &'a TypeSet, names: &mut Names) -> Self {
        names.claim_all_of_the_language();
        let mut needed = BTreeSet::new();
        types.values().for_each(|ty| collect_imports(ty, &mut needed));
        let imported = needed.into_iter().map(|import| (import, names.claim(import.1))).collect();
        let declared = types.keys().map(|id| (id.as_str(), names.claim(&identifier(id)))).collect();
        Self { types, declared, imported }
    }

    /// The name of a schema id.
    pub(super) fn reference(&self, id: &str) -> String {
        if let Some(name) = self.declared.get(id) {
            return name.clone();
        }
        let imported = object_id(id).and_then(|import| self.imported.get(&import)).cloned();
        imported.unwrap_or_else(|| "any".to_owned())
    }

    /// The import statements, and the declarations in the order of the set.
    pub(super) fn print(&self) -> (String, String) {
        let mut imports = String::new();
        let modules: BTreeSet<_> = self.imported.keys().map(|(module, _)| *module).collect();
        for module in modules {
            let items = self.imported.iter().filter(|((from, _), _)| *from == module).map(|((_, name), local)| {
                if name == local { (*name).to_owned() } else { format!("{name} as {local}") }
            });
            let items = items.collect::<Vec<_>>().join(", ");
            imports += &format!("import {{ {items} }} from '{module}';\n");
        }
        let declarations: Vec<String> =
            self.types.iter().map(|(id, ty)| self.declaration(&self.reference(id), ty)).collect();
        (imports, declarations.join("\n\n"))
    }

    fn declaration(&self, name: &str, ty: &Type) -> String {
        if let Type::Interface(interface) = ty
            && interface.extends.iter().all(|base| can_be_extended(&base.ty))
        {
            let mut out = format!("export interface {name} ");
            for (at, base) in interface.extends.iter().enumerate() {
                out += if at == 0 { "extends " } else { ", " };
                self.write(&mut out, &base.ty, Level::Postfix, 0);
            }
            if !interface.extends.is_empty() {
                out.push(' ');
            }
            self.write_body(&mut out, interface, 0);
            return out;
        }
        let mut out = format!("export type {name} = ");
        self.write(&mut out, ty, Level::Union, 0);
        out.push(';');
        out
    }

    fn write(&self, out: &mut String, ty: &Type, place: Level, indent: usize) {
        let level = level(ty);
        if level < place {
            out.push('(');
            self.write(out, ty, level, indent);
            out.push(')');
            return;
        }
        match ty {
            Type::Any => out.push_str("any"),
            Type::Boolean => out.push_str("boolean"),
            Type::Number(scalar) => out.push_str(&self.scalar(*scalar)),
            Type::String => out.push_str("string"),
            Type::Date => out.push_str("Date"),
            Type::Buffer(kind) => out.push_str(kind.name()),
            Type::Literal(literal) => out.push_str(&print_literal(literal)),
            Type::Enum(members) => {
                let values = members.iter().filter_map(|member| match &member.value {
                    EnumValue::Number(number) => Some(number_text(*number)),
                    EnumValue::String(text) => Some(quoted(text)),
                    EnumValue::Null => None,
                });
                let values = values.collect::<Vec<_>>().join(" | ");
                out.push_str(if values.is_empty() { "never" } else { &values });
            }
            Type::Object => out.push_str("object"),
            Type::Array(element) => {
                self.write(out, element, Level::Postfix, indent);
                out.push_str("[]");
            }
            Type::Tuple { elements, optional_from } => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    let optional = optional_from.is_some_and(|from| at >= from);
                    self.write(out, element, if optional { Level::Postfix } else { Level::Union }, indent);
                    out.push_str(if optional { "?" } else { "" });
                }
                out.push(']');
            }
            Type::Interface(interface) => {
                for base in &interface.extends {
                    self.write(out, &base.ty, Level::Intersection, indent);
                    out.push_str(" & ");
                }
                self.write_body(out, interface, indent);
            }
            Type::Union(members) => self.write_members(out, members, " | ", "never", Level::Intersection, indent),
            Type::Intersection(members) => {
                self.write_members(out, members, " & ", "unknown", Level::Prefix, indent);
            }
            Type::Reference(id) => out.push_str(&self.reference(id)),
            Type::IndexedAccess { index, object } => {
                self.write(out, object, Level::Postfix, indent);
                out.push('[');
                out.push_str(&quoted(index));
                out.push(']');
            }
            Type::Keyof(target) => {
                out.push_str("keyof ");
                self.write(out, target, Level::Prefix, indent);
            }
            Type::NonNullable(target) => self.write_mapped(out, "NonNullable", target, "", indent),
            Type::Pick { target, keys } => self.write_mapped(out, "Pick", target, &key_list(keys), indent),
            Type::Omit { target, keys } => self.write_mapped(out, "Omit", target, &key_list(keys), indent),
            Type::Partial(target) => self.write_mapped(out, "Partial", target, "", indent),
            Type::Overwrite { target, overwrite } => {
                let mut argument = String::from(", ");
                self.write(&mut argument, overwrite, Level::Union, indent);
                self.write_mapped(out, &self.imported[&OVERWRITE], target, &argument, indent);
            }
        }
    }

    fn write_mapped(&self, out: &mut String, name: &str, target: &Type, arguments: &str, indent: usize) {
        out.push_str(name);
        out.push('<');
        self.write(out, target, Level::Union, indent);
        out.push_str(arguments);
        out.push('>');
    }

    /// Members of the same kind get parentheses too, so that the generator gives the same nesting back.
    fn write_members(
        &self,
        out: &mut String,
        members: &[Member],
        separator: &str,
        nothing: &str,
        place: Level,
        indent: usize,
    ) {
        let place = if members.len() == 1 { Level::Union } else { place };
        for (at, member) in members.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { separator });
            self.write(out, &member.ty, place, indent);
        }
        out.push_str(if members.is_empty() { nothing } else { "" });
    }

    fn write_body(&self, out: &mut String, interface: &Interface, indent: usize) {
        if interface.properties.is_empty() && interface.index.is_none() {
            out.push_str("{}");
            return;
        }
        let inner = indent + 1;
        out.push('{');
        for property in &interface.properties {
            let name = if is_identifier(&property.name) { property.name.clone() } else { quoted(&property.name) };
            line(out, inner);
            let _ = write!(out, "{name}{}: ", if property.optional { "?" } else { "" });
            self.write(out, &property.ty, Level::Union, inner);
            out.push(';');
        }
        if let Some(index) = &interface.index {
            line(out, inner);
            out.push_str(match index.key {
                KeyType::String => "[key: string]: ",
                KeyType::Number => "[key: number]: ",
            });
            self.write(out, &index.ty, Level::Union, inner);
            out.push(';');
        }
        line(out, indent);
        out.push('}');
    }

    fn scalar(&self, scalar: Scalar) -> String {
        match scalar_import(scalar) {
            Some(import) => self.imported[&import].clone(),
            None if scalar == Scalar::BigInt => "bigint".to_owned(),
            None => "number".to_owned(),
        }
    }
}

/// A module and a name that it exports.
type Import = (&'static str, &'static str);

const OVERWRITE: Import = ("tsrpc-proto", "Overwrite");

fn scalar_import(scalar: Scalar) -> Option<Import> {
    let name = match scalar {
        Scalar::Int => "int",
        Scalar::Uint => "uint",
        Scalar::BigInt64 => "bigint64",
        Scalar::BigUint64 => "biguint64",
        Scalar::Double | Scalar::ExplicitDouble | Scalar::BigInt => return None,
    };
    Some(("tsrpc-proto", name))
}

fn object_id(id: &str) -> Option<Import> {
    Some(match id {
        "?mongodb/ObjectId" => ("mongodb", "ObjectId"),
        "?mongodb/ObjectID" => ("mongodb", "ObjectID"),
        "?bson/ObjectId" => ("bson", "ObjectId"),
        "?bson/ObjectID" => ("bson", "ObjectID"),
        _ => return None,
    })
}

fn collect_imports(ty: &Type, needed: &mut BTreeSet<Import>) {
    match ty {
        Type::Number(scalar) => needed.extend(scalar_import(*scalar)),
        Type::Reference(id) => needed.extend(object_id(id)),
        Type::Interface(interface) => {
            interface.extends.iter().for_each(|base| collect_imports(&base.ty, needed));
            interface.properties.iter().for_each(|property| collect_imports(&property.ty, needed));
            interface.index.iter().for_each(|index| collect_imports(&index.ty, needed));
        }
        Type::Union(members) | Type::Intersection(members) => {
            members.iter().for_each(|member| collect_imports(&member.ty, needed));
        }
        Type::Tuple { elements, .. } => elements.iter().for_each(|element| collect_imports(element, needed)),
        Type::Array(inner)
        | Type::IndexedAccess { object: inner, .. }
        | Type::Keyof(inner)
        | Type::NonNullable(inner)
        | Type::Partial(inner)
        | Type::Pick { target: inner, .. }
        | Type::Omit { target: inner, .. } => collect_imports(inner, needed),
        Type::Overwrite { target, overwrite } => {
            needed.insert(OVERWRITE);
            collect_imports(target, needed);
            collect_imports(overwrite, needed);
        }
        _ => {}
    }
}

fn level(ty: &Type) -> Level {
    match ty {
        Type::Enum(members) if members.len() > 1 => Level::Union,
        Type::Union(members) => match &**members {
            [only] => level(&only.ty),
            [] => Level::Postfix,
            _ => Level::Union,
        },
        Type::Intersection(members) => match &**members {
            [only] => level(&only.ty),
            [] => Level::Postfix,
            _ => Level::Intersection,
        },
        Type::Interface(interface) if !interface.extends.is_empty() => Level::Intersection,
        Type::Keyof(_) => Level::Prefix,
        _ => Level::Postfix,
    }
}

/// Whether `interface X extends …` may name it: a name, or a generic type with arguments.
fn can_be_extended(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_) | Type::Pick { .. } | Type::Omit { .. } | Type::Partial(_) | Type::Overwrite { .. })
}

fn print_literal(literal: &Literal) -> String {
    match literal {
        Literal::Undefined => "undefined".to_owned(),
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Number(number) if number.is_finite() => number_text(*number),
        // TypeScript has no literal type for these.
        Literal::Number(_) => "number".to_owned(),
        Literal::String(text) => quoted(text),
    }
}

fn key_list(keys: &[String]) -> String {
    if keys.is_empty() {
        return ", never".to_owned();
    }
    format!(", {}", keys.iter().map(|key| quoted(key)).collect::<Vec<_>>().join(" | "))
}

fn line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("    ", indent));
}

#[cfg(test)]
mod tests {
    use crate::ServiceProto;

    /// The declarations of types that are written as the members of an object.
    fn check(types: &str, imports: &str, declarations: &str) {
        let proto = ServiceProto::from_json(&format!("{{services: [], types: {{{types}}}}}")).unwrap();
        let printer = super::Printer::new(&proto.types, &mut Default::default());
        assert_eq!(printer.print(), (imports.to_owned(), declarations.to_owned()), "{types}");
    }

    #[test]
    fn parentheses_stand_where_the_place_binds_tighter() {
        let string = "{type: 'String'}";
        let union = "{type: 'Union', members: [{id: 0, type: {type: 'String'}}, {id: 1, type: {type: 'Literal', literal: null}}]}";
        let both =
            format!("{{type: 'Intersection', members: [{{id: 0, type: {union}}}, {{id: 1, type: {{type: 'Date'}}}}]}}");
        let keyof = format!("{{type: 'Keyof', target: {union}}}");
        let cases = [
            (format!("{{type: 'Array', elementType: {string}}}"), "string[]"),
            (format!("{{type: 'Array', elementType: {union}}}"), "(string | null)[]"),
            (
                format!("{{type: 'Array', elementType: {{type: 'Array', elementType: {both}}}}}"),
                "((string | null) & Date)[][]",
            ),
            (format!("{{type: 'Array', elementType: {keyof}}}"), "(keyof (string | null))[]"),
            (
                format!("{{type: 'Tuple', elementTypes: [{union}, {union}], optionalStartIndex: 1}}"),
                "[string | null, (string | null)?]",
            ),
            (format!("{{type: 'IndexedAccess', index: 'a\"', objectType: {union}}}"), r#"(string | null)["a\""]"#),
            (format!("{{type: 'Pick', target: {union}, keys: ['a', 'b-c']}}"), r#"Pick<string | null, "a" | "b-c">"#),
            (format!("{{type: 'Omit', target: {string}, keys: []}}"), "Omit<string, never>"),
            (format!("{{type: 'NonNullable', target: {union}}}"), "NonNullable<string | null>"),
            (
                format!("{{type: 'Union', members: [{{id: 0, type: {union}}}, {{id: 1, type: {both}}}]}}"),
                "(string | null) | (string | null) & Date",
            ),
            ("{type: 'Union', members: []}".to_owned(), "never"),
            ("{type: 'Intersection', members: []}".to_owned(), "unknown"),
            (
                "{type: 'Enum', members: [{id: 0, value: -1}, {id: 1, value: 'x'}, {id: 2, value: null}]}".to_owned(),
                r#"-1 | "x""#,
            ),
            ("{type: 'Literal'}".to_owned(), "undefined"),
            ("{type: 'Buffer'}".to_owned(), "ArrayBuffer"),
            ("{type: 'Buffer', arrayType: 'Uint16Array'}".to_owned(), "Uint16Array"),
            ("{type: 'Reference', target: 'nowhere'}".to_owned(), "any"),
        ];
        for (ty, expected) in cases {
            check(&format!("'a/X': {ty}"), "", &format!("export type X = {expected};"));
        }
    }

    #[test]
    fn object_types_are_interfaces_where_they_can_be() {
        check("'a/X': {type: 'Interface'}", "", "export interface X {}");
        check(
            "'a/X': {type: 'Interface', properties: [{id: 0, name: 'a-b', optional: true, type: {type: 'Interface', properties: [\
             {id: 0, name: '中', type: {type: 'Boolean'}}]}}], indexSignature: {keyType: 'Number', type: {type: 'Object'}}}",
            "",
            "export interface X {\n    \"a-b\"?: {\n        中: boolean;\n    };\n    [key: number]: object;\n}",
        );
        check(
            "'a/X': {type: 'Interface', extends: [{id: 0, type: {type: 'Reference', target: 'a/Y'}}, \
             {id: 1, type: {type: 'Partial', target: {type: 'Reference', target: 'a/Y'}}}]}, 'a/Y': {type: 'Interface'}",
            "",
            "export interface X extends Y, Partial<Y> {}\n\nexport interface Y {}",
        );
        check(
            "'a/X': {type: 'Interface', extends: [{id: 0, type: {type: 'Interface'}}]}",
            "",
            "export type X = {} & {};",
        );
    }

    #[test]
    fn names_are_those_of_the_schema_ids_made_unique() {
        check(
            "'a/N.X': {type: 'Any'}, 'b/N.X': {type: 'Any'}, 'a/Date': {type: 'Date'}, 'a/default': {type: 'Any'}, 'a/1': {type: 'Any'}",
            "",
            "export type N_X = any;\n\nexport type N_X_1 = any;\n\nexport type Date_1 = Date;\n\n\
             export type default_1 = any;\n\nexport type _1 = any;",
        );
    }

    #[test]
    fn what_comes_from_other_packages_is_imported() {
        check(
            "'a/int': {type: 'Number', scalarType: 'int'}, 'a/X': {type: 'Overwrite', target: {type: 'Reference', \
             target: '?mongodb/ObjectId'}, overwrite: {type: 'Reference', target: '?bson/ObjectId'}}",
            "import { ObjectId } from 'bson';\nimport { ObjectId as ObjectId_1 } from 'mongodb';\n\
             import { Overwrite, int } from 'tsrpc-proto';\n",
            "export type int_1 = int;\n\nexport type X = Overwrite<ObjectId_1, ObjectId>;",
        );
    }
}
