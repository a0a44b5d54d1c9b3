//! What stands in `#[schema(…)]`, `#[api(…)]` and `#[message(…)]`.
//!
//! Depends on `syn` only. Every key that is not known is refused where it
//! stands, with the ones that are.

use proc_macro2::{Span, TokenStream};
use syn::{
    Attribute, Expr, Ident, LitInt, LitStr, Path, Token, Type, ext::IdentExt, meta::ParseNestedMeta, spanned::Spanned,
};

use crate::case::Case;

/// A value together with where it was written.
#[derive(Clone)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// On a type.
#[derive(Default)]
pub(crate) struct ContainerAttributes {
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) tag: Option<At<String>>,
    pub(crate) content: Option<At<String>>,
    pub(crate) untagged: Option<Span>,
    pub(crate) numeric: Option<Span>,
    pub(crate) string: Option<Span>,
    pub(crate) schema_id: Option<String>,
    pub(crate) inline: bool,
    pub(crate) intersection: Option<Span>,
    pub(crate) krate: Option<Path>,
}

/// On a variant of an enum.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    pub(crate) rename: Option<At<String>>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) id: Option<At<u32>>,
    pub(crate) value: Option<At<Literal>>,
}

/// On a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) rename: Option<At<String>>,
    pub(crate) id: Option<At<u32>>,
    pub(crate) optional: Option<Span>,
    pub(crate) default: Option<At<Option<Expr>>>,
    pub(crate) flatten: Option<Span>,
}

/// On the type of a service.
#[derive(Default)]
pub(crate) struct ServiceAttributes {
    pub(crate) name: Option<At<String>>,
    pub(crate) response: Option<Type>,
    pub(crate) conf: Option<TokenStream>,
    pub(crate) krate: Option<Path>,
}

/// A literal of JavaScript.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    String(String),
}

impl ContainerAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut read = Self::default();
        each(attributes, "schema", |key, meta| {
            match key {
                "rename_all" => read.rename_all = Some(case(meta)?),
                "rename_all_fields" => read.rename_all_fields = Some(case(meta)?),
                "tag" => read.tag = Some(property_name(meta)?),
                "content" => read.content = Some(property_name(meta)?),
                "untagged" => read.untagged = Some(meta.path.span()),
                "numeric" => read.numeric = Some(meta.path.span()),
                "string" => read.string = Some(meta.path.span()),
                "schema_id" => read.schema_id = Some(text(meta)?.value),
                "inline" => read.inline = true,
                "intersection" => read.intersection = Some(meta.path.span()),
                "crate" => read.krate = Some(text_path(meta)?),
                _ => {
                    return Err(unknown(
                        meta,
                        "rename_all, rename_all_fields, tag, content, untagged, numeric, string, schema_id, inline, \
                         intersection, crate",
                    ));
                }
            }
            Ok(())
        })?;
        // `#[repr(u8)]` and the like say that the numbers matter.
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
            let repr: Ident = attribute.parse_args_with(Ident::parse_any)?;
            if ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"].iter().any(|name| repr == name)
            {
                read.numeric.get_or_insert(repr.span());
            }
        }
        Ok(read)
    }
}

impl VariantAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut read = Self::default();
        each(attributes, "schema", |key, meta| {
            match key {
                "rename" => read.rename = Some(text(meta)?),
                "rename_all" => read.rename_all = Some(case(meta)?),
                "id" => read.id = Some(id(meta)?),
                "value" => read.value = Some(literal(meta)?),
                _ => return Err(unknown(meta, "rename, rename_all, id, value")),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl FieldAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut read = Self::default();
        each(attributes, "schema", |key, meta| {
            match key {
                "rename" => read.rename = Some(property_name(meta)?),
                "id" => read.id = Some(id(meta)?),
                "optional" => read.optional = Some(meta.path.span()),
                "default" => {
                    let value = meta.input.peek(Token![=]).then(|| meta.value()?.parse()).transpose()?;
                    read.default = Some(At { value, span: meta.path.span() });
                }
                "flatten" => read.flatten = Some(meta.path.span()),
                _ => return Err(unknown(meta, "rename, id, optional, default, flatten")),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl ServiceAttributes {
    /// `attribute` is `api` or `message`; only the former has a response.
    pub(crate) fn read(attributes: &[Attribute], attribute: &str) -> syn::Result<Self> {
        let mut read = Self::default();
        each(attributes, attribute, |key, meta| {
            match key {
                "name" => read.name = Some(text(meta)?),
                "response" if attribute == "api" => read.response = Some(meta.value()?.parse()?),
                "conf" => read.conf = Some(conf(meta)?),
                "crate" => read.krate = Some(text_path(meta)?),
                _ if attribute == "api" => return Err(unknown(meta, "response, name, conf, crate")),
                _ => return Err(unknown(meta, "name, conf, crate")),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Calls `read` with each key of each attribute of this name.
fn each(
    attributes: &[Attribute],
    name: &str,
    mut read: impl FnMut(&str, &ParseNestedMeta<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        attribute.parse_nested_meta(|meta| {
            let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            read(&key, &meta)
        })?;
    }
    Ok(())
}

fn unknown(meta: &ParseNestedMeta<'_>, known: &str) -> syn::Error {
    meta.error(format!("unknown attribute; known here are: {known}"))
}

fn text(meta: &ParseNestedMeta<'_>) -> syn::Result<At<String>> {
    let text: LitStr = meta.value()?.parse()?;
    Ok(At { value: text.value(), span: text.span() })
}

fn text_path(meta: &ParseNestedMeta<'_>) -> syn::Result<Path> {
    let path: LitStr = meta.value()?.parse()?;
    path.parse()
}

fn property_name(meta: &ParseNestedMeta<'_>) -> syn::Result<At<String>> {
    let name = text(meta)?;
    if name.value == "__proto__" {
        return Err(syn::Error::new(name.span, "`__proto__` cannot be the name of a property in JavaScript"));
    }
    Ok(name)
}

fn case(meta: &ParseNestedMeta<'_>) -> syn::Result<Case> {
    let name = text(meta)?;
    Case::from_name(&name.value)
        .ok_or_else(|| syn::Error::new(name.span, format!("unknown convention; write one of {}", Case::list())))
}

fn id(meta: &ParseNestedMeta<'_>) -> syn::Result<At<u32>> {
    /// A tag holds the id times four; published readers use 32 bits of it, signed.
    const MAX: u32 = (1 << 28) - 1;
    let id: LitInt = meta.value()?.parse()?;
    let value = id.base10_parse()?;
    if value > MAX {
        return Err(syn::Error::new(id.span(), format!("an id is at most {MAX}")));
    }
    Ok(At { value, span: id.span() })
}

fn literal(meta: &ParseNestedMeta<'_>) -> syn::Result<At<Literal>> {
    const EXPECTED: &str = "a literal is a string, a number, true, false, null or undefined";
    let expression: Expr = meta.value()?.parse()?;
    let span = expression.span();
    let refuse = || syn::Error::new(span, EXPECTED);
    let value = match &expression {
        Expr::Lit(expression) => match &expression.lit {
            syn::Lit::Str(text) => Literal::String(text.value()),
            syn::Lit::Bool(value) => Literal::Bool(value.value),
            syn::Lit::Int(number) => Literal::Number(number.base10_parse()?),
            syn::Lit::Float(number) => Literal::Number(number.base10_parse()?),
            _ => return Err(refuse()),
        },
        Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => match &**expr {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => {
                Literal::Number(-number.base10_parse::<f64>()?)
            }
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Float(number), .. }) => {
                Literal::Number(-number.base10_parse::<f64>()?)
            }
            _ => return Err(refuse()),
        },
        Expr::Path(path) if path.path.is_ident("null") => Literal::Null,
        Expr::Path(path) if path.path.is_ident("undefined") => Literal::Undefined,
        _ => return Err(refuse()),
    };
    Ok(At { value, span })
}

/// JSON in braces stays as it is; anything else is an expression.
fn conf(meta: &ParseNestedMeta<'_>) -> syn::Result<TokenStream> {
    let value = meta.value()?;
    if value.peek(syn::token::Brace) {
        let group: proc_macro2::Group = value.parse()?;
        return Ok(TokenStream::from(proc_macro2::TokenTree::Group(group)));
    }
    let expression: Expr = value.parse()?;
    Ok(quote::quote!(#expression))
}
