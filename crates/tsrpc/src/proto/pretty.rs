//! `JSON.stringify(value, null, indent)`.
//!
//! Depends on JSON text.

use polywire_schema::{Value, write_json_string};

/// Appends a value over several lines. What JSON has no form for (a bigint) is written as `null`.
pub(super) fn write(out: &mut Vec<u8>, value: &Value, indent: usize) {
    Pretty { indent, level: 0 }.value(out, value);
}

struct Pretty {
    indent: usize,
    level: usize,
}

impl Pretty {
    fn value(&mut self, out: &mut Vec<u8>, value: &Value) {
        match value {
            Value::Array(elements) => {
                self.block(out, *b"[]", elements.iter(), |pretty, out, element| pretty.value(out, element));
            }
            Value::Object(object) => {
                let entries = object.iter().filter(|(_, value)| !value.is_undefined());
                self.block(out, *b"{}", entries, |pretty, out, (key, value)| {
                    write_json_string(out, key);
                    out.extend_from_slice(b": ");
                    pretty.value(out, value);
                });
            }
            scalar => {
                let start = out.len();
                if !matches!(scalar.write_json(out), Ok(true)) {
                    out.truncate(start);
                    out.extend_from_slice(b"null");
                }
            }
        }
    }

    fn block<T>(
        &mut self,
        out: &mut Vec<u8>,
        [open, close]: [u8; 2],
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, &mut Vec<u8>, T),
    ) {
        out.push(open);
        self.level += 1;
        let mut is_empty = true;
        for item in items {
            if !is_empty {
                out.push(b',');
            }
            is_empty = false;
            self.line(out);
            write(self, out, item);
        }
        self.level -= 1;
        if !is_empty {
            self.line(out);
        }
        out.push(close);
    }

    fn line(&self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.resize(out.len() + self.indent * self.level, b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stands_in_empty_blocks() {
        let value = Value::parse_json(r#"{"a":[],"b":{},"c":[1,{"d":"\n"}]}"#).unwrap();
        let mut out = Vec::new();
        write(&mut out, &value, 2);
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": \"\\n\"\n    }\n  ]\n}";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
