//! Writing the implementation of `Codec` (and `Record`, where a type has properties).
//!
//! Depends on the [`model`](crate::model). The code leans on
//! `polywire_tsbuffer::typed::derive`: one call per property and direction.

mod fields;
mod tuples;
mod unions;

use proc_macro2::{Literal as TokenLiteral, TokenStream};
use quote::quote;
use syn::{Type, parse_quote};

use crate::{
    attributes::Literal,
    model::{Body, Container, LiteralVariant},
};

/// `impl Codec for …`, and `impl Record for …`.
pub(crate) fn implement(container: &Container) -> TokenStream {
    let krate = &container.krate;
    let ident = &container.ident;
    let typed = quote!(#krate::tsbuffer::typed);
    let writer = Writer { schema: quote!(#krate::schema), derive: quote!(#typed::derive), typed };
    let typed = &writer.typed;
    let generics = container.generics_with(&parse_quote!(#typed::Codec));
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let Parts { consts, methods, record } = writer.parts(container);
    let Methods { is_nullish, encode_binary, decode_binary, encode_json, decode_json } = methods;
    let derive = &writer.derive;
    let is_nullish = is_nullish.map(|is_nullish| {
        quote! {
            #[inline]
            fn is_nullish(&self) -> bool { #is_nullish }
        }
    });
    let record = record.map(|RecordParts { fast, blocks, write_blocks, write_properties }| {
        quote! {
            #[automatically_derived]
            #[allow(unused_variables, unused_mut, unused_assignments, clippy::all)]
            impl #impl_generics #derive::Record for #ident #ty_generics #where_clause {
                const FAST: bool = #fast;

                #[inline]
                fn blocks(&self) -> u64 { #blocks }

                #[inline]
                fn write_blocks(
                    &self,
                    out: &mut ::std::vec::Vec<u8>,
                    depth: #typed::Depth,
                ) -> ::core::result::Result<(), #typed::Refused> { #write_blocks }

                #[inline]
                fn write_properties(
                    &self,
                    out: &mut ::std::vec::Vec<u8>,
                    depth: #typed::Depth,
                ) -> ::core::result::Result<(), #typed::Refused> { #write_properties }
            }
        }
    });
    quote! {
        #[automatically_derived]
        #[allow(unused_variables, unused_mut, unused_assignments, clippy::all)]
        impl #impl_generics #typed::Codec for #ident #ty_generics #where_clause {
            #consts

            #is_nullish

            fn encode_binary(
                &self,
                out: &mut ::std::vec::Vec<u8>,
                depth: #typed::Depth,
            ) -> ::core::result::Result<(), #typed::Refused> { #encode_binary }

            fn decode_binary(
                input: &mut #derive::BinaryReader<'_>,
            ) -> ::core::result::Result<Self, #typed::Refused> { #decode_binary }

            fn encode_json(
                &self,
                out: &mut ::std::vec::Vec<u8>,
                depth: #typed::Depth,
            ) -> ::core::result::Result<(), #typed::Refused> { #encode_json }

            fn decode_json(
                input: &mut #typed::JsonReader<'_>,
            ) -> ::core::result::Result<Self, #typed::Refused> { #decode_json }
        }
        #record
    }
}

/// What an implementation consists of.
struct Parts {
    consts: TokenStream,
    methods: Methods,
    record: Option<RecordParts>,
}

/// The bodies of the methods of `Codec`.
struct Methods {
    is_nullish: Option<TokenStream>,
    encode_binary: TokenStream,
    decode_binary: TokenStream,
    encode_json: TokenStream,
    decode_json: TokenStream,
}

/// The parts of `impl Record`.
struct RecordParts {
    fast: TokenStream,
    blocks: TokenStream,
    write_blocks: TokenStream,
    write_properties: TokenStream,
}

struct Writer {
    schema: TokenStream,
    typed: TokenStream,
    derive: TokenStream,
}

impl Writer {
    fn parts(&self, container: &Container) -> Parts {
        match &container.body {
            Body::Struct(record) => self.structure(record),
            Body::Alias(ty) => self.alias(ty, container.inline),
            Body::Tuple(types) => self.tuple_struct(types),
            Body::Literals(variants) => match &variants[..] {
                [only] => self.literal(only),
                _ => self.literals(variants),
            },
            Body::Enumeration(variants) => self.enumeration(container, variants),
            Body::Tagged { tag, content, variants } => self.tagged(tag, content.as_deref(), variants),
            Body::Untagged(variants) => self.untagged(variants),
        }
    }

    fn ok(&self) -> TokenStream {
        quote!(::core::result::Result::Ok(()))
    }

    fn refused(&self) -> TokenStream {
        let typed = &self.typed;
        quote!(::core::result::Result::Err(#typed::Refused))
    }

    /// The constants of a type that is framed by its kind, and is named: null is not written in its place.
    fn consts(&self, length_type: &str, prefixed: bool, kinds: &TokenStream, json_kinds: &TokenStream) -> TokenStream {
        let (typed, derive) = (&self.typed, &self.derive);
        let length_type = quote::format_ident!("{length_type}");
        quote! {
            const LENGTH_TYPE: #derive::LengthType = #derive::LengthType::#length_type;
            const PREFIXED: bool = #prefixed;
            const KINDS: #typed::Kinds = #kinds;
            const JSON_KINDS: #typed::Kinds = #json_kinds;
        }
    }

    fn alias(&self, ty: &Type, inline: bool) -> Parts {
        let (typed, derive) = (&self.typed, &self.derive);
        Parts {
            consts: quote! {
                const LENGTH_TYPE: #derive::LengthType = <#ty as #typed::Codec>::LENGTH_TYPE;
                const PREFIXED: bool = <#ty as #typed::Codec>::PREFIXED;
                const LITERAL: bool = <#ty as #typed::Codec>::LITERAL;
                const NULL_IN_PLACE: bool = #inline && <#ty as #typed::Codec>::NULL_IN_PLACE;
                const KINDS: #typed::Kinds = <#ty as #typed::Codec>::KINDS;
                const JSON_KINDS: #typed::Kinds = <#ty as #typed::Codec>::JSON_KINDS;
            },
            methods: Methods {
                is_nullish: Some(quote!(<#ty as #typed::Codec>::is_nullish(&self.0))),
                encode_binary: quote!(<#ty as #typed::Codec>::encode_binary(&self.0, out, depth)),
                decode_binary: quote!(<#ty as #typed::Codec>::decode_binary(input).map(Self)),
                encode_json: quote!(<#ty as #typed::Codec>::encode_json(&self.0, out, depth)),
                decode_json: quote!(<#ty as #typed::Codec>::decode_json(input).map(Self)),
            },
            record: None,
        }
    }

    fn tuple_struct(&self, types: &[Type]) -> Parts {
        let typed = &self.typed;
        let at: Vec<syn::Index> = (0..types.len()).map(syn::Index::from).collect();
        let elements: Vec<TokenStream> = at.iter().map(|at| quote!(&self.#at)).collect();
        let array = quote!(#typed::Kinds::ARRAY);
        Parts {
            consts: self.consts("LengthDelimited", true, &array, &array),
            methods: Methods {
                is_nullish: None,
                encode_binary: self.encode_tuple(types, &elements),
                decode_binary: self.decode_tuple(types, &quote!(Self)),
                encode_json: self.encode_json_tuple(types, &elements),
                decode_json: self.decode_json_tuple(types, &quote!(Self)),
            },
            record: None,
        }
    }

    /// A single literal takes no bytes.
    fn literal(&self, variant: &LiteralVariant) -> Parts {
        let refused = self.refused();
        let ident = &variant.ident;
        // Without `numeric`, every variant has its literal.
        let literal = variant.value.as_ref().unwrap_or(&Literal::Undefined);
        let nullish = literal.is_nullish();
        let kinds = self.literal_kinds(literal);
        let consts = self.consts("LengthDelimited", false, &kinds, &kinds);
        Parts {
            consts: quote! { #consts const LITERAL: bool = true; },
            methods: Methods {
                is_nullish: Some(quote!(#nullish)),
                encode_binary: self.ok(),
                decode_binary: quote!(::core::result::Result::Ok(Self::#ident)),
                encode_json: self.write_json_literal(literal).map_or(refused, |write| {
                    quote! { #write; ::core::result::Result::Ok(()) }
                }),
                decode_json: self.read_json_literals(&[(literal, quote!(Self::#ident))]),
            },
            record: None,
        }
    }

    fn literals(&self, variants: &[LiteralVariant]) -> Parts {
        let derive = &self.derive;
        let refused = self.refused();
        let literals: Vec<(&LiteralVariant, &Literal)> =
            variants.iter().filter_map(|variant| Some((variant, variant.value.as_ref()?))).collect();
        let encode_binary = literals.iter().map(|(variant, literal)| {
            let (ident, id) = (&variant.ident, variant.id);
            match literal.is_nullish() {
                true => quote!(Self::#ident => #refused,),
                false => quote! {
                    Self::#ident => {
                        #derive::write_varint(out, 1);
                        #derive::write_varint(out, const { #derive::tag_of_bytes(#id) });
                        ::core::result::Result::Ok(())
                    }
                },
            }
        });
        let decode_binary = literals.iter().filter(|(_, literal)| !literal.is_nullish()).map(|(variant, _)| {
            let ident = &variant.ident;
            let id = TokenLiteral::u32_unsuffixed(variant.id);
            quote!(#id => ::core::result::Result::Ok(Self::#ident),)
        });
        let encode_json = literals.iter().map(|(variant, literal)| {
            let ident = &variant.ident;
            match self.write_json_literal(literal) {
                Some(write) => quote!(Self::#ident => { #write; ::core::result::Result::Ok(()) }),
                None => quote!(Self::#ident => #refused,),
            }
        });
        let read: Vec<_> = literals
            .iter()
            .map(|(variant, literal)| {
                let ident = &variant.ident;
                (*literal, quote!(Self::#ident))
            })
            .collect();
        let decode_json = self.read_json_literals(&read);
        let nullish: Vec<_> = literals.iter().filter(|(_, literal)| literal.is_nullish()).collect();
        let is_nullish = (!nullish.is_empty()).then(|| {
            let idents = nullish.iter().map(|(variant, _)| &variant.ident);
            quote!(::core::matches!(self, #(Self::#idents)|*))
        });
        let kinds = self.kinds_of_literals(literals.iter().map(|(_, literal)| *literal));
        Parts {
            consts: self.consts("IdBlock", false, &kinds, &kinds),
            methods: Methods {
                is_nullish,
                encode_binary: quote! { depth.deeper()?; match self { #(#encode_binary)* } },
                decode_binary: quote! {
                    input.nested(|input| match #derive::one_member(input)? { #(#decode_binary)* _ => #refused })
                },
                encode_json: quote! { depth.deeper()?; match self { #(#encode_json)* } },
                decode_json: quote! { input.nested(|input| { #decode_json }) },
            },
            record: None,
        }
    }

    fn enumeration(&self, container: &Container, variants: &[LiteralVariant]) -> Parts {
        let (typed, derive) = (&self.typed, &self.derive);
        let refused = self.refused();
        let ident = &container.ident;
        let idents: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
        let ids: Vec<_> = variants.iter().map(|variant| u64::from(variant.id)).collect();
        // The values of discriminants are known to the compiler only.
        let number = |variant: &LiteralVariant| {
            let variant = &variant.ident;
            quote!(#ident::#variant as i64 as f64)
        };
        let encode_json = variants.iter().map(|variant| {
            let ident = &variant.ident;
            let write = match &variant.value {
                None => {
                    let number = number(variant);
                    quote!(#derive::write_number(out, #number))
                }
                // Values of enums are numbers and strings.
                Some(value) => self.write_json_literal(value).unwrap_or_default(),
            };
            quote!(Self::#ident => #write,)
        });
        let numbers = variants.iter().filter_map(|variant| {
            let ident = &variant.ident;
            let number = match &variant.value {
                None => number(variant),
                Some(Literal::Number(number)) => quote!(#number),
                Some(_) => return None,
            };
            Some(quote! {
                if found == #number {
                    return ::core::result::Result::Ok(Self::#ident);
                }
            })
        });
        let strings = variants.iter().filter_map(|variant| match &variant.value {
            Some(Literal::String(text)) => {
                let ident = &variant.ident;
                Some(quote!(#text => ::core::result::Result::Ok(Self::#ident),))
            }
            _ => None,
        });
        let kinds = variants.iter().map(|variant| match &variant.value {
            None => quote!(#typed::Kinds::NUMBER),
            Some(value) => self.literal_kinds(value),
        });
        let kinds = quote!(#typed::Kinds::any(&[#(#kinds),*]));
        Parts {
            consts: self.consts("Varint", false, &kinds, &kinds),
            methods: Methods {
                is_nullish: None,
                encode_binary: quote! {
                    let id: u64 = match self { #(Self::#idents => #ids),* };
                    #derive::write_varint(out, id);
                    ::core::result::Result::Ok(())
                },
                decode_binary: quote! {
                    match input.read_varint()? {
                        #(#ids => ::core::result::Result::Ok(Self::#idents),)*
                        _ => #refused,
                    }
                },
                encode_json: quote! {
                    match self { #(#encode_json)* }
                    ::core::result::Result::Ok(())
                },
                decode_json: quote! {
                    if input.peek()? == #derive::JsonKind::Number {
                        let found = input.number()?;
                        #(#numbers)*
                        return #refused;
                    }
                    match &*input.string()? { #(#strings)* _ => #refused }
                },
            },
            record: None,
        }
    }

    /// Reads one of several literals: a block of `Result<_, Refused>`.
    fn read_json_literals(&self, literals: &[(&Literal, TokenStream)]) -> TokenStream {
        let (derive, refused) = (&self.derive, self.refused());
        let of = |wanted: fn(&Literal) -> Option<TokenStream>| {
            let arms = literals.iter().filter_map(|(literal, value)| Some((wanted(literal)?, value)));
            let arms = arms.map(|(pattern, value)| quote!(#pattern => ::core::result::Result::Ok(#value),));
            arms.collect::<Vec<_>>()
        };
        let strings = of(|literal| match literal {
            Literal::String(text) => Some(quote!(#text)),
            _ => None,
        });
        let bools = of(|literal| match literal {
            Literal::Bool(value) => Some(quote!(#value)),
            _ => None,
        });
        let numbers = of(|literal| match literal {
            Literal::Number(number) => Some(quote!(found if found == #number)),
            _ => None,
        });
        let strings = (!strings.is_empty())
            .then(|| quote!(#derive::JsonKind::String => match &*input.string()? { #(#strings)* _ => #refused },));
        let bools = (!bools.is_empty())
            .then(|| quote!(#derive::JsonKind::Bool => match input.bool()? { #(#bools)* #[allow(unreachable_patterns)] _ => #refused },));
        let numbers = (!numbers.is_empty())
            .then(|| quote!(#derive::JsonKind::Number => match input.number()? { #(#numbers)* _ => #refused },));
        quote! { match input.peek()? { #strings #bools #numbers _ => #refused } }
    }

    fn literal_kinds(&self, literal: &Literal) -> TokenStream {
        let typed = &self.typed;
        match literal {
            Literal::Undefined | Literal::Null => quote!(#typed::Kinds::NULLISH),
            Literal::Bool(_) => quote!(#typed::Kinds::BOOLEAN),
            Literal::Number(_) => quote!(#typed::Kinds::NUMBER),
            Literal::String(_) => quote!(#typed::Kinds::STRING),
        }
    }

    fn kinds_of_literals<'a>(&self, literals: impl Iterator<Item = &'a Literal>) -> TokenStream {
        let typed = &self.typed;
        let kinds = literals.map(|literal| self.literal_kinds(literal));
        quote!(#typed::Kinds::any(&[#(#kinds),*]))
    }

    /// Writes the JSON text of a literal. `None` for null and undefined, about which the place decides.
    fn write_json_literal(&self, literal: &Literal) -> Option<TokenStream> {
        let derive = &self.derive;
        match literal {
            Literal::Undefined | Literal::Null => None,
            Literal::Bool(true) => Some(quote!(out.extend_from_slice(b"true"))),
            Literal::Bool(false) => Some(quote!(out.extend_from_slice(b"false"))),
            Literal::Number(number) => Some(quote!(#derive::write_number(out, #number))),
            Literal::String(text) => {
                let text = json_string(text);
                Some(quote!(out.extend_from_slice(#text.as_bytes())))
            }
        }
    }
}

/// A string as JSON, quotes included.
fn json_string(text: &str) -> String {
    let mut json = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\u{8}' => json.push_str("\\b"),
            '\t' => json.push_str("\\t"),
            '\n' => json.push_str("\\n"),
            '\u{c}' => json.push_str("\\f"),
            '\r' => json.push_str("\\r"),
            '\0'..='\u{1f}' => json.push_str(&format!("\\u{:04x}", u32::from(letter))),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

/// A key as `JSON.stringify` writes it in front of a value.
fn quoted_key(name: &str) -> String {
    json_string(name) + ":"
}

impl Literal {
    fn is_nullish(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }
}
