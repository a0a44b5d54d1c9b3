//! Derive macros of polywire.
//!
//! Depends on no other crate of polywire; the code that is written refers to
//! `polywire-schema` and `polywire-tsbuffer` through the facade. Reading what was
//! declared (`attributes`, `model`) and writing code (`schema`, `codec`,
//! `service`) are kept apart: the second never sees an attribute.

mod attributes;
mod case;
mod codec;
mod docs;
mod model;
mod schema;
mod service;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use crate::model::Container;

/// Gives a type its schema and its codecs.
///
/// The documentation of the crate `polywire` lists what each Rust type is in TypeScript.
///
/// # On the type: `#[schema(…)]`
/// - `rename_all = "camelCase"`: how the names of fields, or of variants, are written on the wire
///   (`rename_all_fields` for the fields of all variants of an enum);
/// - `tag = "type"`: an enum is a union of object types that say by this property which one they are;
///   with `content = "data"`, what a variant holds stands in a property of its own;
/// - `untagged`: an enum is the plain union of what its variants hold;
/// - `numeric`, `string`: an enum is a TypeScript `enum` (also implied by `#[repr(u8)]` and the like);
/// - `schema_id = "types/User"`: the name in the service proto (default: `types/` and the name of the type);
/// - `inline`: the type is written out wherever it is used, instead of by its name;
/// - `intersection`: flattened types are joined by `&` instead of `extends`.
///
/// # On a field or variant
/// - `rename = "name"`, `id = 7` (its number in the binary form; the next ones count on from it);
/// - `value = 1` on a variant: the literal or enum value that it stands for;
/// - `default`, `default = expr`: the property may be missing;
/// - `optional`: the type of the field is an alias of `Option<T>`;
/// - `flatten`: the properties of the field's type are properties of this one.
#[proc_macro_derive(Schema, attributes(schema))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input, |_, _| Ok(proc_macro2::TokenStream::new()))
}

/// Makes a type the request of an API; gives it its schema and codecs too.
///
/// `#[api(response = SendReply)]` names what answers it; `name = "user/Login"` the
/// service (default: the name of the type); `conf = { "needLogin": true }` its
/// static configuration: JSON, or an expression that becomes a `Value`.
#[proc_macro_derive(Api, attributes(api, schema))]
pub fn derive_api(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input, service::api)
}

/// Makes a type a message; gives it its schema and codecs too.
///
/// `#[message(name = "room/Chat", conf = …)]` as for `Api`.
#[proc_macro_derive(Message, attributes(message, schema))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input, service::message)
}

/// Schema and codecs, and what `more` adds.
fn expand(
    input: &DeriveInput,
    more: impl FnOnce(&DeriveInput, &Container) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let expanded = Container::read(input).and_then(|container| {
        let more = more(input, &container)?;
        let schema = schema::implement(&container);
        let codec = codec::implement(&container);
        Ok(quote::quote! { #schema #codec #more })
    });
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
