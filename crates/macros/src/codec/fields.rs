//! Object types, in the binary form. What is JSON stands in [`json`].
//!
//! Depends on the model and the parent module.

mod json;

use proc_macro2::{Literal as TokenLiteral, TokenStream};
use quote::{format_ident, quote};
use syn::{Ident, Type};

use super::{Methods, Parts, RecordParts, Writer};
use crate::model::{Field, Presence, Record};

/// A struct, or a variant that is one.
pub(super) struct Shape<'a> {
    pub(super) record: &'a Record,
    /// A reference to a field.
    pub(super) access: fn(&Ident) -> TokenStream,
    /// The path in front of the braces.
    pub(super) constructor: TokenStream,
    /// Whether the only field has the name `0`.
    pub(super) is_newtype: bool,
    /// The property that tells which member of a union it is.
    pub(super) tag: Option<Tag<'a>>,
}

/// A property that every object of a shape has, with the same literal.
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    /// Writes the literal as JSON.
    pub(super) write: TokenStream,
}

impl Shape<'_> {
    /// The properties in the order of JSON: names like array indices first, ascending.
    fn json_order(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.record.fields.iter().collect();
        fields.sort_by_key(|field| array_index(&field.name).unwrap_or(u32::MAX));
        fields
    }

    /// A field in the braces of a struct expression.
    fn member(&self, field: &Ident) -> TokenStream {
        if self.is_newtype { quote!(0) } else { quote!(#field) }
    }

    /// Whether the tag and the names of flattened types cannot stand among those of the fields.
    fn has_json_order(&self) -> bool {
        let alone = self.tag.is_none() && self.record.flattened.is_empty();
        let is_index = |name: &str| array_index(name).is_some();
        alone
            || !self.record.fields.iter().any(|field| is_index(&field.name))
                && self.tag.as_ref().is_none_or(|tag| !is_index(tag.name))
    }
}

/// The array index that a name stands for: the canonical decimal form of 0 … 2³² − 2.
fn array_index(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok()?;
    (index != u32::MAX && index.to_string() == name).then_some(index)
}

/// The variable that holds what was read of a field.
fn local(field: &Ident) -> Ident {
    format_ident!("read_{field}")
}

impl Writer {
    pub(super) fn structure(&self, record: &Record) -> Parts {
        let (typed, derive) = (&self.typed, &self.derive);
        let shape = Shape {
            record,
            access: |field| quote!((&self.#field)),
            constructor: quote!(Self),
            is_newtype: false,
            tag: None,
        };
        let object = quote!(#typed::Kinds::OBJECT);
        let (blocks, write_blocks) = (self.count_blocks(&shape), self.write_blocks(&shape));
        Parts {
            consts: self.consts("IdBlock", false, &object, &object),
            methods: Methods {
                is_nullish: None,
                encode_binary: self.encode_object(&shape),
                decode_binary: self.decode_object(&shape),
                encode_json: quote! {
                    let depth = depth.deeper()?;
                    out.push(b'{');
                    #derive::Record::write_properties(self, out, depth)?;
                    #derive::close_object(out);
                    ::core::result::Result::Ok(())
                },
                decode_json: self.decode_json_object(&shape),
            },
            record: Some(RecordParts {
                fast: self.is_fast(&record.flattened_types()),
                blocks: quote!({ #blocks }),
                write_blocks: quote! { #write_blocks ::core::result::Result::Ok(()) },
                write_properties: {
                    let write = self.write_properties(&shape);
                    quote! { #write ::core::result::Result::Ok(()) }
                },
            }),
        }
    }

    /// Whether all of these have specialised codecs where they are flattened.
    pub(super) fn is_fast(&self, flattened: &[&Type]) -> TokenStream {
        let derive = &self.derive;
        quote!(true #(&& <#flattened as #derive::Record>::FAST)*)
    }

    /// Refuses at once where a flattened type is for the dynamic path.
    fn ensure_fast(&self, record: &Record) -> TokenStream {
        let flattened = record.flattened_types();
        if flattened.is_empty() {
            return quote!();
        }
        let (derive, fast) = (&self.derive, self.is_fast(&flattened));
        quote!(#derive::ensure(const { #fast })?;)
    }

    /// A variable `layout`, where there is something flattened.
    fn layout(&self, shape: &Shape<'_>) -> TokenStream {
        if shape.record.flattened.is_empty() {
            return quote!();
        }
        let (schema, derive) = (&self.schema, &self.derive);
        let types = shape.record.flattened_types();
        let own = shape.record.fields.len() + usize::from(shape.tag.is_some());
        let forced = shape.record.intersection;
        quote! {
            let layout = const {
                #derive::Layout::new(#own, &[#(<#types as #schema::derive::Flatten>::SHAPE),*], #forced)
            };
        }
    }

    // ---- binary --------------------------------------------------------------------------------

    /// How many blocks the interface of a shape writes. Bases count where they write something.
    fn count_blocks(&self, shape: &Shape<'_>) -> TokenStream {
        let derive = &self.derive;
        let properties = shape.record.fields.iter().map(|Field { ident, ty, presence, .. }| {
            let field = (shape.access)(ident);
            match presence {
                Presence::Optional => quote!(+ if #field.is_some() { <#ty as #derive::Property>::BLOCKS } else { 0 }),
                Presence::Required | Presence::Default(_) => quote!(+ <#ty as #derive::Property>::BLOCKS),
            }
        });
        let bases = shape.record.flattened.iter().enumerate().map(|(at, flattened)| {
            let (field, ty) = ((shape.access)(&flattened.ident), &flattened.ty);
            quote!(+ if layout.is_base(#at) { <#ty as #derive::Record>::base_blocks(#field) } else { 0 })
        });
        let layout = self.layout(shape);
        quote!(#layout 0u64 #(#properties)* #(#bases)*)
    }

    /// Writes the blocks of the interface of a shape: its bases, then its properties.
    fn write_blocks(&self, shape: &Shape<'_>) -> TokenStream {
        let derive = &self.derive;
        let bases = shape.record.flattened.iter().enumerate().map(|(at, flattened)| {
            let (field, ty) = ((shape.access)(&flattened.ident), &flattened.ty);
            quote! {
                if layout.is_base(#at) {
                    <#ty as #derive::Record>::write_base(#field, out, layout.id(#at), depth)?;
                }
            }
        });
        let properties = shape.record.fields.iter().map(|Field { ident, ty, id, presence, .. }| {
            let field = (shape.access)(ident);
            match presence {
                Presence::Optional => quote! {
                    if let ::core::option::Option::Some(value) = #field {
                        <#ty as #derive::Property>::write::<#id>(value, out, depth)?;
                    }
                },
                Presence::Required | Presence::Default(_) => quote! {
                    <#ty as #derive::Property>::write::<#id>(#field, out, depth)?;
                },
            }
        });
        let layout = self.layout(shape);
        quote! { #layout #(#bases)* #(#properties)* }
    }

    /// Writes a shape: a block, its bodies. A struct with flattened types is an interface
    /// with bases or an intersection; which, the compiler knows.
    pub(super) fn encode_object(&self, shape: &Shape<'_>) -> TokenStream {
        let derive = &self.derive;
        let (count, blocks) = (self.count_blocks(shape), self.write_blocks(shape));
        let interface = quote! {
            #derive::write_varint(out, { #count });
            #blocks
        };
        if shape.record.flattened.is_empty() {
            return quote! { let depth = depth.deeper()?; #interface ::core::result::Result::Ok(()) };
        }
        let ensure_fast = self.ensure_fast(shape.record);
        let layout = self.layout(shape);
        let members = shape.record.flattened.iter().enumerate().map(|(at, flattened)| {
            let (field, ty) = ((shape.access)(&flattened.ident), &flattened.ty);
            quote! {
                if layout.is_member(#at) {
                    #derive::write_varint(out, #derive::tag_of_object(layout.id(#at)));
                    <#ty as #derive::Property>::write_payload(#field, out, depth)?;
                }
            }
        });
        quote! {
            #ensure_fast
            #layout
            let depth = depth.deeper()?;
            if layout.members() == 0 {
                #interface
                return ::core::result::Result::Ok(());
            }
            #derive::write_varint(out, layout.members());
            if layout.has_interface() {
                #derive::write_varint(out, #derive::tag_of_object(0));
                depth.deeper()?;
                #interface
            }
            #(#members)*
            ::core::result::Result::Ok(())
        }
    }

    /// Reads what [`encode_object`](Self::encode_object) writes, and blocks in any order.
    pub(super) fn decode_object(&self, shape: &Shape<'_>) -> TokenStream {
        let (typed, derive) = (&self.typed, &self.derive);
        let declare = self.declare(shape);
        let read = self.read_blocks(shape);
        let own = self.build(shape, "required", "optional");
        let constructor = &shape.constructor;
        if shape.record.flattened.is_empty() {
            return quote! {
                input.nested(|input| {
                    #declare
                    #read
                    ::core::result::Result::Ok(#constructor { #own })
                })
            };
        }
        let ensure_fast = self.ensure_fast(shape.record);
        let layout = self.layout(shape);
        let members = shape.record.flattened.iter().enumerate().map(|(at, flattened)| {
            let (local, ty) = (local(&flattened.ident), &flattened.ty);
            quote! {
                if layout.is_member(#at) {
                    #derive::expect(input, #derive::tag_of_object(layout.id(#at)))?;
                    #local = ::core::option::Option::Some(<#ty as #derive::Property>::read_payload(input)?);
                }
            }
        });
        let bases = shape.record.flattened.iter().map(|flattened| {
            let (ident, local, ty) = (&flattened.ident, local(&flattened.ident), &flattened.ty);
            quote!(#ident: <#ty as #derive::Record>::base(#local)?,)
        });
        quote! {
            #ensure_fast
            #layout
            input.nested(|input| {
                #declare
                if layout.members() == 0 {
                    #read
                } else {
                    #derive::expect(input, layout.members())?;
                    if layout.has_interface() {
                        #derive::expect(input, #derive::tag_of_object(0))?;
                        input.nested(|input| {
                            #read
                            ::core::result::Result::Ok::<(), #typed::Refused>(())
                        })?;
                    }
                    #(#members)*
                }
                ::core::result::Result::Ok(#constructor { #own #(#bases)* })
            })
        }
    }

    /// Declares an `Option` for what is read of each field.
    fn declare(&self, shape: &Shape<'_>) -> TokenStream {
        let fields = shape.record.fields.iter().map(|field| (local(&field.ident), &field.ty));
        let flattened = shape.record.flattened.iter().map(|flattened| (local(&flattened.ident), &flattened.ty));
        let (locals, types): (Vec<_>, Vec<_>) = fields.chain(flattened).unzip();
        quote!(#(let mut #locals: ::core::option::Option<#types> = ::core::option::Option::None;)*)
    }

    /// Reads the blocks of the interface of a shape: first in the order in which they are
    /// written, then whatever is left.
    fn read_blocks(&self, shape: &Shape<'_>) -> TokenStream {
        let derive = &self.derive;
        let fields = &shape.record.fields;
        let locals: Vec<Ident> = fields.iter().map(|field| local(&field.ident)).collect();
        let types: Vec<&Type> = fields.iter().map(|field| &field.ty).collect();
        let ids = fields.iter().map(|field| field.id);
        // Block ids from 10 on are properties.
        let block_ids = fields.iter().map(|field| TokenLiteral::u32_unsuffixed(field.id + 10));
        let (expect_bases, other_bases): (Vec<_>, Vec<_>) = shape
            .record
            .flattened
            .iter()
            .enumerate()
            .map(|(at, flattened)| {
                let (local, ty) = (local(&flattened.ident), &flattened.ty);
                let expect = quote! {
                    if layout.is_base(#at) {
                        <#ty as #derive::Record>::expect_base(&mut blocks, layout.id(#at), input, &mut #local)?;
                    }
                };
                let other = quote! {
                    _ if layout.is_base(#at) && #derive::is_base_block(id, layout.id(#at)) => {
                        #local = ::core::option::Option::Some(<#ty as #derive::Property>::read_payload(input)?);
                    }
                };
                (expect, other)
            })
            .unzip();
        quote! {
            let mut blocks = #derive::Blocks::begin(input)?;
            #(#expect_bases)*
            #(<#types as #derive::Property>::expect::<#ids>(&mut blocks, input, &mut #locals)?;)*
            while let ::core::option::Option::Some((id, length_type)) = blocks.next(input)? {
                match id {
                    #(#block_ids => <#types as #derive::Property>::read(input, &mut #locals)?,)*
                    #(#other_bases)*
                    _ => #derive::skip_block(input, id, length_type)?,
                }
            }
        }
    }

    /// The own fields of a struct expression, out of what was read.
    fn build(&self, shape: &Shape<'_>, required: &str, optional: &str) -> TokenStream {
        let derive = &self.derive;
        let (required, optional) = (format_ident!("{required}"), format_ident!("{optional}"));
        let fields = shape.record.fields.iter().map(|Field { ident, ty, presence, .. }| {
            let (local, ident) = (local(ident), shape.member(ident));
            match presence {
                Presence::Required => quote!(#ident: <#ty as #derive::Property>::#required(#local)?,),
                Presence::Optional => quote!(#ident: <#ty as #derive::Property>::#optional(#local)?,),
                Presence::Default(default) => quote! {
                    #ident: match <#ty as #derive::Property>::#optional(#local)? {
                        ::core::option::Option::Some(given) => given,
                        ::core::option::Option::None => #default,
                    },
                },
            }
        });
        quote!(#(#fields)*)
    }
}
