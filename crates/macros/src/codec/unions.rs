//! Enums with data: unions.

use std::borrow::Cow;

use proc_macro2::{Literal as TokenLiteral, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

use super::{
    Methods, Parts, RecordParts, Writer,
    fields::{Shape, Tag},
    quoted_key,
};
use crate::{
    attributes::Literal,
    model::{Field, Presence, Record, Variant, VariantFields},
};

impl Writer {
    pub(super) fn tagged(&self, tag: &str, content: Option<&str>, variants: &[Variant]) -> Parts {
        let (typed, derive) = (&self.typed, &self.derive);
        let refused = self.refused();
        let members: Vec<TaggedMember<'_>> =
            variants.iter().map(|variant| TaggedMember::new(self, tag, content, variant)).collect();
        let encode_binary = variants.iter().zip(&members).map(|(variant, member)| {
            let (pattern, id) = (variant.pattern(), variant.id);
            let encode = match member {
                TaggedMember::Object(object) => self.encode_object(&object.shape()),
                TaggedMember::Joined { ty, .. } => quote! {
                    #derive::ensure(<#ty as #derive::Record>::FAST)?;
                    let depth = depth.deeper()?;
                    // Both members of `{ tag } & …`; of the first, nothing is written.
                    #derive::write_varint(out, 2);
                    #derive::write_varint(out, const { #derive::tag_of_object(0) });
                    #derive::write_varint(out, 0);
                    #derive::write_varint(out, const { #derive::tag_of_object(1) });
                    <#ty as #derive::Property>::write_payload(field0, out, depth)
                },
                TaggedMember::Dynamic => refused.clone(),
            };
            quote! {
                #pattern => {
                    #derive::write_varint(out, const { #derive::tag_of_object(#id) });
                    #encode
                }
            }
        });
        let decode_binary = variants.iter().zip(&members).map(|(variant, member)| {
            let ident = &variant.ident;
            let id = TokenLiteral::u32_unsuffixed(variant.id);
            let decode = match member {
                TaggedMember::Object(object) => self.decode_object(&object.shape()),
                TaggedMember::Joined { ty, .. } => quote! {
                    #derive::ensure(<#ty as #derive::Record>::FAST)?;
                    input.nested(|input| {
                        #derive::expect(input, 2)?;
                        #derive::expect(input, const { #derive::tag_of_object(0) })?;
                        #derive::expect(input, 0)?;
                        #derive::expect(input, const { #derive::tag_of_object(1) })?;
                        <#ty as #derive::Property>::read_payload(input).map(Self::#ident)
                    })
                },
                TaggedMember::Dynamic => refused.clone(),
            };
            quote!(#id => { #decode })
        });
        let write_properties = variants.iter().zip(&members).map(|(variant, member)| {
            let pattern = variant.pattern();
            let write = match member {
                TaggedMember::Object(object) => self.write_properties(&object.shape()),
                TaggedMember::Joined { ty, object } => {
                    let tag = self.write_properties(&object.shape());
                    let rest = quote!(<#ty as #derive::Record>::write_flattened(field0, out, depth)?;);
                    quote!(#derive::ensure(<#ty as #derive::Record>::FAST)?; #tag #rest)
                }
                TaggedMember::Dynamic => quote!(#derive::ensure(false)?;),
            };
            quote!(#pattern => { #write })
        });
        let decode_json = variants.iter().zip(&members).enumerate().map(|(at, (variant, member))| {
            let ident = &variant.ident;
            let decode = match member {
                TaggedMember::Object(object) => self.decode_json_object(&object.shape()),
                TaggedMember::Joined { ty, .. } => quote! {
                    #derive::ensure(<#ty as #derive::Record>::FAST)?;
                    #derive::only_once(input, #tag)?;
                    <#ty as #derive::Property>::read_json_member(input).map(Self::#ident)
                },
                TaggedMember::Dynamic => refused.clone(),
            };
            quote!(#at => { #decode })
        });
        let which: Vec<(&Literal, TokenStream)> =
            variants.iter().enumerate().map(|(at, variant)| (&variant.literal, quote!(#at))).collect();
        let which = self.read_json_literals(&which);
        let quoted = quoted_key(tag);
        let object = quote!(#typed::Kinds::OBJECT);
        let flattened: Vec<&Type> = members.iter().flat_map(TaggedMember::flattened).collect();
        Parts {
            consts: self.consts("IdBlock", false, &object, &object),
            methods: Methods {
                is_nullish: None,
                encode_binary: quote! {
                    let depth = depth.deeper()?;
                    #derive::write_varint(out, 1);
                    match self { #(#encode_binary)* }
                },
                decode_binary: quote! {
                    input.nested(|input| match #derive::one_member(input)? { #(#decode_binary)* _ => #refused })
                },
                encode_json: quote! {
                    let depth = depth.deeper()?.deeper()?;
                    out.push(b'{');
                    #derive::Record::write_properties(self, out, depth)?;
                    #derive::close_object(out);
                    ::core::result::Result::Ok(())
                },
                decode_json: quote! {
                    input.nested(|input| {
                        let which: usize = #derive::find_tag(input, #quoted, #tag, |input| { #which })?;
                        match which { #(#decode_json)* _ => #refused }
                    })
                },
            },
            record: Some(RecordParts {
                fast: self.is_fast(&flattened),
                blocks: quote!(0),
                write_blocks: refused.clone(),
                write_properties: quote! {
                    match self { #(#write_properties)* }
                    ::core::result::Result::Ok(())
                },
            }),
        }
    }

    pub(super) fn untagged(&self, variants: &[Variant]) -> Parts {
        let (typed, derive) = (&self.typed, &self.derive);
        let refused = self.refused();
        let kinds: Vec<TokenStream> = variants.iter().map(|variant| self.kinds(variant, "KINDS")).collect();
        let json_kinds: Vec<TokenStream> = variants.iter().map(|variant| self.kinds(variant, "JSON_KINDS")).collect();
        let clear = quote! { #derive::ensure(const { #typed::Kinds::are_disjoint(&[#(#kinds),*]) })?; };
        let json_clear = quote! { #derive::ensure(const { #typed::Kinds::are_disjoint(&[#(#json_kinds),*]) })?; };
        let is_nullish = variants.iter().map(|variant| {
            let pattern = variant.pattern();
            let nullish = match &variant.fields {
                VariantFields::Unit => {
                    let nullish = variant.literal.is_nullish();
                    quote!(#nullish)
                }
                VariantFields::Newtype(ty) => quote!(<#ty as #typed::Codec>::is_nullish(field0)),
                VariantFields::Tuple(_) | VariantFields::Record(_) => quote!(false),
            };
            quote!(#pattern => #nullish,)
        });
        let encode_binary = variants.iter().map(|variant| {
            let (pattern, id) = (variant.pattern(), variant.id);
            let encode = match &variant.fields {
                VariantFields::Unit if variant.literal.is_nullish() => refused.clone(),
                VariantFields::Unit => quote! {
                    #derive::write_varint(out, const { #derive::tag_of_bytes(#id) });
                    ::core::result::Result::Ok(())
                },
                VariantFields::Newtype(ty) => quote! {
                    <#ty as #derive::Property>::write_member::<#id>(field0, out, depth)
                },
                VariantFields::Tuple(types) => {
                    let encode = self.encode_tuple(types, &bindings(types));
                    quote! {
                        #derive::write_varint(out, const { #derive::tag_of_bytes(#id) });
                        #derive::write_length_prefixed(out, |out| { #encode })
                    }
                }
                VariantFields::Record(record) => {
                    let encode = self.encode_object(&variant_shape(variant, record, None));
                    quote! {
                        #derive::write_varint(out, const { #derive::tag_of_object(#id) });
                        #encode
                    }
                }
            };
            quote!(#pattern => { #encode })
        });
        let decode_binary = variants.iter().map(|variant| {
            let ident = &variant.ident;
            let id = TokenLiteral::u32_unsuffixed(variant.id);
            let decode = match &variant.fields {
                VariantFields::Unit if variant.literal.is_nullish() => refused.clone(),
                VariantFields::Unit => quote!(::core::result::Result::Ok(Self::#ident)),
                VariantFields::Newtype(ty) => quote!(<#ty as #derive::Property>::read_member(input).map(Self::#ident)),
                VariantFields::Tuple(types) => {
                    let decode = self.decode_tuple(types, &quote!(Self::#ident));
                    quote! {
                        input.read_varint()?;
                        #decode
                    }
                }
                VariantFields::Record(record) => self.decode_object(&variant_shape(variant, record, None)),
            };
            quote!(#id => { #decode })
        });
        let encode_json = variants.iter().map(|variant| {
            let pattern = variant.pattern();
            let encode = match &variant.fields {
                VariantFields::Unit => self.write_json_literal(&variant.literal).map_or(refused.clone(), |write| {
                    quote! { #write; ::core::result::Result::Ok(()) }
                }),
                VariantFields::Newtype(ty) => quote! {
                    <#ty as #derive::Property>::write_json_member(field0, out, depth)
                },
                VariantFields::Tuple(types) => self.encode_json_tuple(types, &bindings(types)),
                VariantFields::Record(record) => {
                    let write = self.write_properties(&variant_shape(variant, record, None));
                    quote! {
                        let depth = depth.deeper()?;
                        out.push(b'{');
                        #write
                        #derive::close_object(out);
                        ::core::result::Result::Ok(())
                    }
                }
            };
            quote!(#pattern => { #encode })
        });
        let decode_json = variants.iter().zip(&json_kinds).map(|(variant, kinds)| {
            let ident = &variant.ident;
            let decode = match &variant.fields {
                VariantFields::Unit => self.read_json_literals(&[(&variant.literal, quote!(Self::#ident))]),
                VariantFields::Newtype(ty) => quote! {
                    <#ty as #derive::Property>::read_json_member(input).map(Self::#ident)
                },
                VariantFields::Tuple(types) => self.decode_json_tuple(types, &quote!(Self::#ident)),
                VariantFields::Record(record) => self.decode_json_object(&variant_shape(variant, record, None)),
            };
            quote! {
                if #kinds.has_json(kind) {
                    #decode
                } else
            }
        });
        let all_records = variants.iter().all(|variant| matches!(variant.fields, VariantFields::Record(_)));
        let all_kinds = quote!(#typed::Kinds::any(&[#(#kinds),*]));
        let all_json_kinds = quote!(#typed::Kinds::any(&[#(#json_kinds),*]));
        Parts {
            consts: self.consts("IdBlock", false, &all_kinds, &all_json_kinds),
            methods: Methods {
                is_nullish: Some(quote! { match self { #(#is_nullish)* } }),
                encode_binary: quote! {
                    #clear
                    let depth = depth.deeper()?;
                    #derive::write_varint(out, 1);
                    match self { #(#encode_binary)* }
                },
                decode_binary: quote! {
                    #clear
                    input.nested(|input| match #derive::one_member(input)? { #(#decode_binary)* _ => #refused })
                },
                encode_json: quote! {
                    #clear
                    let depth = depth.deeper()?;
                    match self { #(#encode_json)* }
                },
                decode_json: quote! {
                    #clear
                    #json_clear
                    input.nested(|input| {
                        let kind = input.peek()?;
                        #(#decode_json)* { #refused }
                    })
                },
            },
            // Objects are not told apart by kind: flattened, this is for the dynamic path.
            record: all_records.then(|| RecordParts {
                fast: quote!(false),
                blocks: quote!(0),
                write_blocks: refused.clone(),
                write_properties: refused.clone(),
            }),
        }
    }

    /// What a variant is in JavaScript, or in JSON.
    fn kinds(&self, variant: &Variant, which: &str) -> TokenStream {
        let typed = &self.typed;
        let which = format_ident!("{which}");
        match &variant.fields {
            VariantFields::Unit => self.literal_kinds(&variant.literal),
            VariantFields::Newtype(ty) => quote!(<#ty as #typed::Codec>::#which),
            VariantFields::Tuple(_) => quote!(#typed::Kinds::ARRAY),
            VariantFields::Record(_) => quote!(#typed::Kinds::OBJECT),
        }
    }
}

/// A variant of a tagged enum, by how it is written.
enum TaggedMember<'a> {
    /// An object with the tag and own properties.
    Object(Object<'a>),
    /// The tag (an object of its own) and the properties of a type.
    Joined { ty: &'a Type, object: Object<'a> },
    /// What the specialised codecs leave to the dynamic path.
    Dynamic,
}

/// What is needed to make a [`Shape`].
struct Object<'a> {
    record: Cow<'a, Record>,
    constructor: TokenStream,
    is_newtype: bool,
    tag: &'a str,
    write_tag: TokenStream,
}

impl Object<'_> {
    fn shape(&self) -> Shape<'_> {
        Shape {
            record: &self.record,
            access: |field| quote!(#field),
            constructor: self.constructor.clone(),
            is_newtype: self.is_newtype,
            tag: Some(Tag { name: self.tag, write: self.write_tag.clone() }),
        }
    }
}

impl<'a> TaggedMember<'a> {
    fn new(writer: &Writer, tag: &'a str, content: Option<&str>, variant: &'a Variant) -> Self {
        let ident = &variant.ident;
        // The model allows no null as a tag.
        let write_tag = writer.write_json_literal(&variant.literal).unwrap_or_default();
        let object =
            |record, is_newtype| Object { record, constructor: quote!(Self::#ident), is_newtype, tag, write_tag };
        let empty = || Cow::Owned(Record::EMPTY);
        match (&variant.fields, content) {
            (VariantFields::Unit, _) => Self::Object(object(empty(), false)),
            (VariantFields::Record(record), None) => Self::Object(object(Cow::Borrowed(record), false)),
            (VariantFields::Newtype(ty), None) => Self::Joined { ty, object: object(empty(), false) },
            (VariantFields::Newtype(ty), Some(content)) => {
                let field = Field {
                    ident: format_ident!("field0"),
                    ty: ty.clone(),
                    name: content.to_owned(),
                    id: 1,
                    presence: Presence::Required,
                    comment: String::new(),
                };
                let record = Record { fields: vec![field], ..Record::EMPTY };
                Self::Object(object(Cow::Owned(record), true))
            }
            (VariantFields::Tuple(_), _) | (VariantFields::Record(_), Some(_)) => Self::Dynamic,
        }
    }

    /// The types whose properties it has beside its own.
    fn flattened(&self) -> Vec<&Type> {
        match self {
            Self::Object(object) => object.record.flattened_types(),
            Self::Joined { ty, .. } => vec![ty],
            Self::Dynamic => Vec::new(),
        }
    }
}

fn variant_shape<'a>(variant: &Variant, record: &'a Record, tag: Option<Tag<'a>>) -> Shape<'a> {
    let ident = &variant.ident;
    Shape { record, access: |field| quote!(#field), constructor: quote!(Self::#ident), is_newtype: false, tag }
}

/// The fields of a tuple variant, as its pattern binds them.
fn bindings(types: &[Type]) -> Vec<TokenStream> {
    (0..types.len())
        .map(|at| {
            let field = format_ident!("field{at}");
            quote!(#field)
        })
        .collect()
}
