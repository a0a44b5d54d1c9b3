//! Writing the implementations of `Api` and `Message`.
//!
//! Depends on the [`model`](crate::model) and [`attributes`](crate::attributes).

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::{DeriveInput, ext::IdentExt};

use crate::{
    attributes::{At, ServiceAttributes},
    model::Container,
};

/// `impl Api for …`.
pub(crate) fn api(input: &DeriveInput, container: &Container) -> syn::Result<TokenStream> {
    let attributes = ServiceAttributes::read(&input.attrs, "api")?;
    let Some(response) = &attributes.response else {
        let text = "an API needs the type that answers it; write `#[api(response = …)]`, \
                    or `#[api(response = ())]` where there is nothing to say";
        return Err(syn::Error::new(input.ident.span(), text));
    };
    let common = common(input, container, &attributes)?;
    let krate = &container.krate;
    let ident = &container.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #krate::schema::Api for #ident {
            type Response = #response;
            #common
        }
    })
}

/// `impl Message for …`.
pub(crate) fn message(input: &DeriveInput, container: &Container) -> syn::Result<TokenStream> {
    let attributes = ServiceAttributes::read(&input.attrs, "message")?;
    let common = common(input, container, &attributes)?;
    let krate = &container.krate;
    let ident = &container.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #krate::schema::Message for #ident {
            #common
        }
    })
}

fn common(input: &DeriveInput, container: &Container, attributes: &ServiceAttributes) -> syn::Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let text = "a service has one type; put the generic part into a field";
        return Err(syn::Error::new_spanned(&input.generics, text));
    }
    let name = attributes
        .name
        .clone()
        .unwrap_or_else(|| At { value: input.ident.unraw().to_string(), span: input.ident.span() });
    check_name(&name)?;
    let name = name.value;
    let schema = {
        let krate = &container.krate;
        quote!(#krate::schema)
    };
    let conf = attributes.conf.as_ref().map(|conf| conf_value(conf, &schema)).transpose()?.map(|conf| {
        quote! {
            fn conf() -> ::core::option::Option<#schema::Value> {
                ::core::option::Option::Some(#conf)
            }
        }
    });
    Ok(quote! {
        const NAME: &'static str = #name;
        #conf
    })
}

/// A name is what is left of the path of a file: `user/Login` of `user/PtlLogin.ts`.
fn check_name(name: &At<String>) -> syn::Result<()> {
    let good = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '"']);
    let last = name.value.rsplit('/').next().unwrap_or_default();
    if name.value.split('/').all(good) && !last.contains('.') {
        return Ok(());
    }
    let text = "the name of a service is a path without a slash at its ends and without dots in its last part, \
                such as \"Login\" or \"user/Login\"";
    Err(syn::Error::new(name.span, text))
}

/// JSON in braces, or any expression that becomes a `Value`.
fn conf_value(conf: &TokenStream, schema: &TokenStream) -> syn::Result<TokenStream> {
    let mut tokens = conf.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == proc_macro2::Delimiter::Brace => {
            json(&TokenTree::Group(group), schema)
        }
        _ => Ok(quote!(::core::convert::Into::<#schema::Value>::into(#conf))),
    }
}

/// JSON as an expression of `Value`.
fn json(token: &TokenTree, schema: &TokenStream) -> syn::Result<TokenStream> {
    let refuse = |span: Span| {
        syn::Error::new(
            span,
            "expected JSON: null, true, false, a number, a text in quotes, `[ … ]` or `{ \"key\": … }`",
        )
    };
    match token {
        TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace => {
            let entries = split(group.stream()).into_iter().map(|entry| {
                let mut tokens = entry.into_iter();
                let (key, colon) = (tokens.next(), tokens.next());
                let Some(key) = key else { return Err(refuse(group.span())) };
                let TokenTree::Literal(literal) = &key else { return Err(refuse(key.span())) };
                let key: syn::LitStr = syn::parse2(quote!(#literal))?;
                if !matches!(&colon, Some(TokenTree::Punct(colon)) if colon.as_char() == ':') {
                    return Err(syn::Error::new(key.span(), "expected `:` behind the key"));
                }
                let value = json_of(tokens.collect(), key.span(), schema)?;
                Ok(quote!((#key, #value)))
            });
            let entries: Vec<TokenStream> = entries.collect::<syn::Result<_>>()?;
            Ok(quote! {
                #schema::Value::Object(
                    <#schema::Object as ::core::iter::FromIterator<(&str, #schema::Value)>>::from_iter([#(#entries),*])
                )
            })
        }
        TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Bracket => {
            let elements = split(group.stream()).into_iter().map(|element| json_of(element, group.span(), schema));
            let elements: Vec<TokenStream> = elements.collect::<syn::Result<_>>()?;
            Ok(quote!(#schema::Value::Array(::std::vec![#(#elements),*])))
        }
        TokenTree::Ident(ident) if ident == "null" => Ok(quote!(#schema::Value::Null)),
        TokenTree::Ident(ident) if ident == "true" || ident == "false" => Ok(quote!(#schema::Value::Bool(#ident))),
        TokenTree::Literal(literal) => match syn::parse2(quote!(#literal))? {
            syn::Lit::Str(text) => Ok(quote!(#schema::Value::from(#text))),
            syn::Lit::Int(number) => {
                let number: f64 = number.base10_parse()?;
                Ok(quote!(#schema::Value::Number(#number)))
            }
            syn::Lit::Float(number) => {
                let number: f64 = number.base10_parse()?;
                Ok(quote!(#schema::Value::Number(#number)))
            }
            other => Err(refuse(other.span())),
        },
        other => Err(refuse(other.span())),
    }
}

/// One JSON value: a token, or a minus and a number.
fn json_of(tokens: Vec<TokenTree>, span: Span, schema: &TokenStream) -> syn::Result<TokenStream> {
    match &tokens[..] {
        [value] => json(value, schema),
        [TokenTree::Punct(minus), TokenTree::Literal(literal)] if minus.as_char() == '-' => {
            let number: f64 = match syn::parse2(quote!(#literal))? {
                syn::Lit::Int(number) => number.base10_parse()?,
                syn::Lit::Float(number) => number.base10_parse()?,
                other => return Err(syn::Error::new(other.span(), "expected a number")),
            };
            Ok(quote!(#schema::Value::Number(-#number)))
        }
        [] => Err(syn::Error::new(span, "expected a value")),
        [_, second, ..] => Err(syn::Error::new(second.span(), "expected a comma")),
    }
}

/// What stands between commas; a comma at the end is allowed.
fn split(stream: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in stream {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(comma), _) if comma.as_char() == ',' => parts.push(Vec::new()),
            (_, Some(part)) => part.push(token),
            (_, None) => {}
        }
    }
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts
}
