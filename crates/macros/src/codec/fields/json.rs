//! Object types in JSON: the keys are expected in the order in which they are written.
//!
//! Depends on the model and the parent module.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Shape, Tag, local};
use crate::{
    codec::{Writer, quoted_key},
    model::{Field, Presence},
};

impl Writer {
    /// Writes the properties of a shape, a comma behind each: the tag, own ones, those of flattened types.
    pub(in crate::codec) fn write_properties(&self, shape: &Shape<'_>) -> TokenStream {
        let derive = &self.derive;
        if !shape.has_json_order() {
            return quote!(#derive::ensure(false)?;);
        }
        let tag = shape.tag.as_ref().map(|Tag { name, write }| {
            let quoted = quoted_key(name);
            quote! {
                out.extend_from_slice(#quoted.as_bytes());
                #write;
                out.push(b',');
            }
        });
        let properties = shape.json_order().into_iter().map(|Field { ident, ty, name, presence, .. }| {
            let field = (shape.access)(ident);
            let quoted = quoted_key(name);
            match presence {
                Presence::Optional => quote! {
                    if let ::core::option::Option::Some(value) = #field {
                        <#ty as #derive::Property>::write_json(value, out, #quoted, depth)?;
                    }
                },
                Presence::Required | Presence::Default(_) => quote! {
                    <#ty as #derive::Property>::write_json(#field, out, #quoted, depth)?;
                },
            }
        });
        let flattened = shape.record.flattened.iter().map(|flattened| {
            let (field, ty) = ((shape.access)(&flattened.ident), &flattened.ty);
            quote!(<#ty as #derive::Record>::write_flattened(#field, out, depth)?;)
        });
        let ensure_fast = self.ensure_fast(shape.record);
        quote! { #ensure_fast #tag #(#properties)* #(#flattened)* }
    }

    /// Reads a JSON object: first the keys in the order in which they are written, then
    /// whatever is left. Flattened types read the same object, before.
    pub(in crate::codec) fn decode_json_object(&self, shape: &Shape<'_>) -> TokenStream {
        let derive = &self.derive;
        let fields = shape.json_order();
        let declare = {
            let locals = fields.iter().map(|field| local(&field.ident));
            let types = fields.iter().map(|field| &field.ty);
            quote!(#(let mut #locals: ::core::option::Option<#types> = ::core::option::Option::None;)*)
        };
        let expect = fields.iter().map(|field| {
            let (local, quoted, ty) = (local(&field.ident), quoted_key(&field.name), &field.ty);
            match field.presence {
                Presence::Required => {
                    quote!(<#ty as #derive::Property>::expect_json(input, #quoted, &mut #local)?;)
                }
                _ => quote!(<#ty as #derive::Property>::expect_json_optional(input, #quoted, &mut #local)?;),
            }
        });
        let others = fields.iter().map(|field| {
            let (local, name, ty) = (local(&field.ident), &field.name, &field.ty);
            match field.presence {
                Presence::Required => quote!(#name => <#ty as #derive::Property>::read_json(input, &mut #local)?,),
                _ => quote!(#name => <#ty as #derive::Property>::read_json_optional(input, &mut #local)?,),
            }
        });
        let (tag_first, tag_other, tag_check) = match &shape.tag {
            None => (quote!(), quote!(), quote!()),
            Some(Tag { name, .. }) => {
                let quoted = quoted_key(name);
                let first = quote! {
                    let mut tags = 0u32;
                    if input.take_key(#quoted) {
                        tags += 1;
                        input.skip_value()?;
                    }
                };
                let other = quote! {
                    #name => {
                        tags += 1;
                        input.skip_value()?;
                    }
                };
                (first, other, quote!(#derive::ensure(tags == 1)?;))
            }
        };
        let own = self.build(shape, "given", "maybe");
        let (flattened, read_flattened): (Vec<_>, Vec<_>) = shape
            .record
            .flattened
            .iter()
            .map(|flattened| {
                let (ident, local, ty) = (&flattened.ident, local(&flattened.ident), &flattened.ty);
                (quote!(#ident: #local,), quote!(let #local = <#ty as #derive::Record>::read_flattened(input)?;))
            })
            .unzip();
        let ensure_fast = self.ensure_fast(shape.record);
        let constructor = &shape.constructor;
        quote! {
            #ensure_fast
            #(#read_flattened)*
            #declare
            input.begin_object()?;
            #tag_first
            #(#expect)*
            while let ::core::option::Option::Some(key) = input.next_key()? {
                match key {
                    #tag_other
                    #(#others)*
                    _ => #derive::skip_json(input, key)?,
                }
            }
            #tag_check
            ::core::result::Result::Ok(#constructor { #own #(#flattened)* })
        }
    }
}
