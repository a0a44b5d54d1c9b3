//! Names of TypeScript declarations: valid, and unique in their module.
//!
//! Depends on nothing.

use std::collections::HashSet;

/// Names that are taken in a module.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: HashSet<String>,
}

impl Names {
    /// Takes the words of the language and the global types that are printed.
    pub(super) fn claim_all_of_the_language(&mut self) {
        self.used.extend(TAKEN.iter().map(|name| (*name).to_owned()));
    }

    /// A name that is free: the wished one, or with `_1`, `_2`, … behind it.
    pub(super) fn claim(&mut self, wished: &str) -> String {
        let mut name = wished.to_owned();
        while self.used.contains(&name) {
            let numbered = name.rsplit_once('_').and_then(|(stem, number)| Some((stem, number.parse::<u32>().ok()?)));
            name = match numbered {
                Some((stem, number)) => format!("{stem}_{}", number + 1),
                None => format!("{name}_1"),
            };
        }
        self.used.insert(name.clone());
        name
    }
}

/// The name that a schema id stands for: `a/b/File/NS.Inner.Type` is `NS_Inner_Type`.
pub(super) fn identifier(id: &str) -> String {
    let last = id.rsplit('/').next().unwrap_or_default();
    let mut name: String = last.chars().map(|c| if is_identifier_part(c) { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

pub(super) fn is_identifier(text: &str) -> bool {
    text.chars().all(is_identifier_part) && !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Letters beyond ASCII are allowed too, as `is_alphabetic` has them; what it is stricter in gets quotes.
fn is_identifier_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || (!c.is_ascii() && c.is_alphabetic())
}

/// Names that a declaration must not take: words of the language, and the global types that are printed.
const TAKEN: &[&str] = &[
    "any",
    "unknown",
    "never",
    "void",
    "null",
    "undefined",
    "string",
    "number",
    "boolean",
    "bigint",
    "symbol",
    "object",
    "this",
    "true",
    "false",
    "default",
    "enum",
    "class",
    "interface",
    "type",
    "const",
    "let",
    "var",
    "function",
    "new",
    "delete",
    "typeof",
    "keyof",
    "in",
    "of",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "break",
    "continue",
    "return",
    "throw",
    "try",
    "catch",
    "finally",
    "import",
    "export",
    "extends",
    "implements",
    "super",
    "static",
    "public",
    "private",
    "protected",
    "package",
    "yield",
    "with",
    "instanceof",
    "debugger",
    "Date",
    "Pick",
    "Omit",
    "Partial",
    "NonNullable",
    "ArrayBuffer",
    "Int8Array",
    "Int16Array",
    "Int32Array",
    "BigInt64Array",
    "Uint8Array",
    "Uint16Array",
    "Uint32Array",
    "BigUint64Array",
    "Float32Array",
    "Float64Array",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_names_are_numbered() {
        let mut names = Names::default();
        let claimed = ["X", "X", "X", "X_2", "Y_9", "Y_9", "Z_a", "Z_a"].map(|name| names.claim(name));
        assert_eq!(claimed, ["X", "X_1", "X_2", "X_3", "Y_9", "Y_10", "Z_a", "Z_a_1"]);
    }

    #[test]
    fn schema_ids_become_identifiers() {
        let cases = [
            ("PtlA/ReqA", "ReqA"),
            ("a/b/File/NS.Inner.Type", "NS_Inner_Type"),
            ("x", "x"),
            ("a/1b", "_1b"),
            ("a/", "_"),
            ("a/b-c d", "b_c_d"),
            ("a/中文", "中文"),
        ];
        for (id, expected) in cases {
            assert_eq!(identifier(id), expected, "{id}");
            assert!(is_identifier(expected), "{expected}");
        }
        assert!(!is_identifier("") && !is_identifier("1a") && !is_identifier("a-b"));
    }
}
