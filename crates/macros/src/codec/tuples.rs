//! Tuples: in the binary form a mask of the elements that are there and these, in JSON an array.
//!
//! Depends on the parent module.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

use super::Writer;

impl Writer {
    pub(super) fn encode_tuple(&self, types: &[Type], elements: &[TokenStream]) -> TokenStream {
        let (typed, derive) = (&self.typed, &self.derive);
        let at = 0u32..;
        quote! {
            let depth = depth.deeper()?;
            #derive::write_varint(out, 0 #(| <#types as #typed::ElementCodec>::bit(#elements, #at)?)*);
            #(<#types as #typed::ElementCodec>::write(#elements, out, depth)?;)*
            ::core::result::Result::Ok(())
        }
    }

    pub(super) fn decode_tuple(&self, types: &[Type], constructor: &TokenStream) -> TokenStream {
        let (typed, derive) = (&self.typed, &self.derive);
        let at = 0u32..;
        let count = u32::try_from(types.len()).unwrap_or(u32::MAX);
        quote! {
            input.nested(|input| {
                let mask = input.read_varint()?;
                #derive::ensure(#derive::fits(mask, #count))?;
                ::core::result::Result::Ok(#constructor(
                    #(<#types as #typed::ElementCodec>::read(input, mask, #at)?),*
                ))
            })
        }
    }

    pub(super) fn encode_json_tuple(&self, types: &[Type], elements: &[TokenStream]) -> TokenStream {
        let (typed, derive) = (&self.typed, &self.derive);
        quote! {
            let mut tuple = #derive::JsonTupleWriter::begin(out, depth)?;
            #(<#types as #typed::ElementCodec>::write_json(#elements, &mut tuple, out)?;)*
            tuple.end(out);
            ::core::result::Result::Ok(())
        }
    }

    pub(super) fn decode_json_tuple(&self, types: &[Type], constructor: &TokenStream) -> TokenStream {
        let (typed, derive) = (&self.typed, &self.derive);
        quote! {
            let mut tuple = #derive::JsonTupleReader::begin(input)?;
            let value = #constructor(
                #(<#types as #typed::ElementCodec>::read_json(&mut tuple, input)?),*
            );
            tuple.end(input)?;
            ::core::result::Result::Ok(value)
        }
    }
}
