//! Doc comments by the names that properties and variants have on the wire.

use crate::{
    attributes::Literal,
    model::{Body, Container},
};

impl Container {
    /// Comments on members that have one, by name on the wire.
    pub(super) fn member_comments(&self) -> Vec<(String, &str)> {
        let mut comments: Vec<(String, &str)> = match &self.body {
            Body::Struct(record) => {
                record.fields.iter().map(|field| (field.name.clone(), field.comment.as_str())).collect()
            }
            Body::Literals(variants) | Body::Enumeration(variants) => variants
                .iter()
                .map(|variant| {
                    let name = variant.value.as_ref().map_or_else(|| variant.ident.to_string(), Literal::text);
                    (name, variant.comment.as_str())
                })
                .collect(),
            Body::Tagged { variants, .. } | Body::Untagged(variants) => {
                variants.iter().map(|variant| (variant.literal.text(), variant.comment.as_str())).collect()
            }
            Body::Alias(_) | Body::Tuple(_) => Vec::new(),
        };
        comments.retain(|(_, comment)| !comment.is_empty());
        comments
    }
}

impl Literal {
    fn text(&self) -> String {
        match self {
            Self::Undefined => "undefined".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::String(text) => text.clone(),
        }
    }
}
