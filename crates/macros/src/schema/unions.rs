//! Enums: literals, TypeScript enums and unions.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, Type};

use super::{Flat, Methods, Writer};
use crate::{
    attributes::Literal,
    model::{Container, LiteralVariant, Record, Variant, VariantFields},
};

impl Writer {
    pub(super) fn literals(&self, variants: &[LiteralVariant]) -> Methods {
        let schema = &self.schema;
        let idents: Vec<&Ident> = variants.iter().map(|variant| &variant.ident).collect();
        // Without `numeric`, every variant has its literal.
        let literals: Vec<TokenStream> =
            variants.iter().filter_map(|variant| variant.value.as_ref()).map(|value| self.lit(value)).collect();
        let ids = variants.iter().map(|variant| variant.id);
        let ty = match &literals[..] {
            [only] => quote!(#only.to_type()),
            _ => quote! {
                #schema::Type::Union(::std::vec![
                    #(#schema::Member { id: #ids, ty: #literals.to_type() }),*
                ])
            },
        };
        self.one_of(ty, &idents, &literals)
    }

    pub(super) fn enumeration(&self, container: &Container, variants: &[LiteralVariant]) -> Methods {
        let schema = &self.schema;
        let ident = &container.ident;
        let idents: Vec<&Ident> = variants.iter().map(|variant| &variant.ident).collect();
        let literals: Vec<TokenStream> = variants
            .iter()
            .map(|variant| match &variant.value {
                Some(value) => self.lit(value),
                None => {
                    let variant = &variant.ident;
                    quote!(#schema::derive::Lit::Number(#ident::#variant as i64 as f64))
                }
            })
            .collect();
        let ids = variants.iter().map(|variant| variant.id);
        let ty = quote! {
            #schema::Type::Enum(::std::vec![
                #(#schema::EnumMember { id: #ids, value: #literals.to_enum_value() }),*
            ])
        };
        self.one_of(ty, &idents, &literals)
    }

    /// An enum whose variants stand for a literal each.
    fn one_of(&self, ty: TokenStream, idents: &[&Ident], literals: &[TokenStream]) -> Methods {
        let schema = &self.schema;
        let at = 0..idents.len();
        Methods {
            ty,
            to_value: quote! { match self { #(Self::#idents => #literals.to_value()),* } },
            from_value: quote! {
                const LITERALS: &[#schema::derive::Lit] = &[#(#literals),*];
                ::core::result::Result::Ok(match #schema::derive::Lit::find(LITERALS, &value)? {
                    #(#at => Self::#idents,)*
                    // `find` gives a position in the list.
                    _ => ::core::unreachable!(),
                })
            },
            flatten: None,
        }
    }

    pub(super) fn tagged(&self, tag: &str, content: Option<&str>, variants: &[Variant]) -> Methods {
        let schema = &self.schema;
        let literals: Vec<TokenStream> = variants.iter().map(|variant| self.lit(&variant.literal)).collect();
        let ids = variants.iter().map(|variant| variant.id);
        let members = variants.iter().zip(&literals).map(|(variant, literal)| {
            let first = quote!(object.property(0, #tag, #literal.to_type(), false););
            match (content, &variant.fields) {
                (_, VariantFields::Unit) => self.record_type(&Record::EMPTY, first),
                (None, VariantFields::Record(record)) => self.record_type(record, first),
                (None, VariantFields::Newtype(ty)) => quote! {{
                    let mut object = #schema::derive::ObjectType::default();
                    #first
                    <#ty as #schema::derive::Flatten>::intersect(&mut object, types);
                    object.finish()
                }},
                (Some(content), fields) => {
                    let ty = self.variant_type(fields, &variant.literal);
                    self.record_type(
                        &Record::EMPTY,
                        quote! { #first let ty = #ty; object.property(1, #content, ty, false); },
                    )
                }
                (None, VariantFields::Tuple(_)) => unreachable!("the model refuses it"),
            }
        });
        let put = variants.iter().zip(&literals).map(|(variant, literal)| {
            let pattern = variant.pattern();
            let set_tag = quote!(object.set(#tag, #literal.to_value()););
            let rest = match (content, &variant.fields) {
                (_, VariantFields::Unit) => quote!(),
                (None, VariantFields::Record(record)) => self.put_fields(record, |field| quote!(#field)),
                (None, VariantFields::Newtype(ty)) => quote!(<#ty as #schema::derive::Flatten>::put(field0, object);),
                (Some(content), _) => {
                    let value = self.variant_value(variant);
                    quote!(object.set(#content, #value);)
                }
                (None, VariantFields::Tuple(_)) => unreachable!("the model refuses it"),
            };
            quote!(#pattern => { #set_tag #rest })
        });
        let take = variants.iter().enumerate().map(|(at, variant)| {
            let ident = &variant.ident;
            let taken = match (content, &variant.fields) {
                (_, VariantFields::Unit) => quote!(::core::result::Result::Ok(Self::#ident)),
                (None, VariantFields::Record(record)) => {
                    let fields = self.take_fields(record);
                    quote!(::core::result::Result::Ok(Self::#ident { #fields }))
                }
                (None, VariantFields::Newtype(ty)) => {
                    quote!(<#ty as #schema::derive::Flatten>::take(object).map(Self::#ident))
                }
                (Some(content), _) => {
                    let take = self.variant_take(variant);
                    quote! {{
                        let value = object.get_mut(#content).map(::core::mem::take).unwrap_or_default();
                        let take = |value: #schema::Value| { #take };
                        take(value).map_err(|mismatch: #schema::Mismatch| mismatch.within(#content))
                    }}
                }
                (None, VariantFields::Tuple(_)) => unreachable!("the model refuses it"),
            };
            quote!(#at => #taken,)
        });
        let own = std::iter::once(tag)
            .chain(content)
            .map(str::to_owned)
            .chain(variants.iter().filter(|_| content.is_none()).flat_map(Variant::property_names))
            .collect();
        let newtypes: Vec<&Type> = variants.iter().filter(|_| content.is_none()).filter_map(Variant::newtype).collect();
        let records = variants.iter().flat_map(Variant::flattened);
        let inner: Vec<&Type> = newtypes.iter().copied().chain(records).collect();
        let ty = quote! {
            #schema::Type::Union(::std::vec![#(#schema::Member { id: #ids, ty: #members }),*])
        };
        let flat = Flat {
            shape: quote!(#schema::derive::Shape::Members),
            own,
            inner: inner.iter().map(|ty| quote!(<#ty as #schema::derive::Flatten>::NAMES)).collect(),
            put: quote! { match self { #(#put)* } },
            take: quote! {
                const LITERALS: &[#schema::derive::Lit] = &[#(#literals),*];
                let found = object.get_mut(#tag).map(::core::mem::take).unwrap_or_default();
                match #schema::derive::Lit::find(LITERALS, &found).map_err(|mismatch| mismatch.within(#tag))? {
                    #(#take)*
                    // `find` gives a position in the list.
                    _ => ::core::unreachable!(),
                }
            },
        };
        Methods::of_properties(schema, ty, flat)
    }

    pub(super) fn untagged(&self, variants: &[Variant]) -> Methods {
        let schema = &self.schema;
        let ids = variants.iter().map(|variant| variant.id);
        let members = variants.iter().map(|variant| self.variant_type(&variant.fields, &variant.literal));
        let values = variants.iter().map(|variant| {
            let pattern = variant.pattern();
            let value = self.variant_value(variant);
            quote!(#pattern => #value,)
        });
        let takes = variants.iter().map(|variant| self.variant_take(variant));
        let records = variants.iter().all(|variant| matches!(variant.fields, VariantFields::Record(_)));
        let flatten = records.then(|| Flat {
            shape: quote!(#schema::derive::Shape::Members),
            own: variants.iter().flat_map(Variant::property_names).collect(),
            inner: variants
                .iter()
                .flat_map(Variant::flattened)
                .map(|ty| quote!(<#ty as #schema::derive::Flatten>::NAMES))
                .collect(),
            put: quote!(#schema::derive::put_all(object, #schema::Schema::to_value(self));),
            take: quote!(#schema::derive::take_part(object)),
        });
        Methods {
            ty: quote! {
                #schema::Type::Union(::std::vec![#(#schema::Member { id: #ids, ty: #members }),*])
            },
            to_value: quote! { match self { #(#values)* } },
            from_value: quote! {
                #schema::derive::untagged::<Self>(value, &[#(|value| { #takes }),*])
            },
            flatten,
        }
    }

    /// The type of what a variant holds.
    fn variant_type(&self, fields: &VariantFields, literal: &Literal) -> TokenStream {
        let schema = &self.schema;
        match fields {
            VariantFields::Unit => {
                let literal = self.lit(literal);
                quote!(#literal.to_type())
            }
            VariantFields::Newtype(ty) => quote!(<#ty as #schema::derive::Field>::type_of(types)),
            VariantFields::Tuple(types) => self.tuple_type(types),
            VariantFields::Record(record) => self.record_type(record, quote!()),
        }
    }

    /// The value of what a variant holds, its fields bound by [`Variant::pattern`].
    fn variant_value(&self, variant: &Variant) -> TokenStream {
        let schema = &self.schema;
        match &variant.fields {
            VariantFields::Unit => {
                let literal = self.lit(&variant.literal);
                quote!(#literal.to_value())
            }
            VariantFields::Newtype(ty) => quote!(<#ty as #schema::derive::Field>::value(field0)),
            VariantFields::Tuple(types) => {
                let elements = (0..types.len()).map(|at| {
                    let field = format_ident!("field{at}");
                    quote!(#field)
                });
                self.tuple_value(types, elements)
            }
            VariantFields::Record(record) => {
                let put = self.put_fields(record, |field| quote!(#field));
                quote! {{
                    let mut properties = #schema::Object::new();
                    let object = &mut properties;
                    #put
                    #schema::Value::Object(properties)
                }}
            }
        }
    }

    /// Takes what a variant holds out of `value`: an expression of `Result<Self, Mismatch>`.
    fn variant_take(&self, variant: &Variant) -> TokenStream {
        let schema = &self.schema;
        let ident = &variant.ident;
        match &variant.fields {
            VariantFields::Unit => {
                let literal = self.lit(&variant.literal);
                quote!(#schema::derive::Lit::find(&[#literal], &value).map(|_| Self::#ident))
            }
            VariantFields::Newtype(ty) => quote!(<#ty as #schema::derive::Field>::of(value).map(Self::#ident)),
            VariantFields::Tuple(types) => {
                let take = self.tuple_take(types);
                let at = (0..types.len()).map(syn::Index::from);
                quote! { #take ::core::result::Result::Ok(Self::#ident(#(elements.#at),*)) }
            }
            VariantFields::Record(record) => {
                let take = self.take_fields(record);
                quote! {
                    let mut object = #schema::derive::object(value)?;
                    let object = &mut object;
                    ::core::result::Result::Ok(Self::#ident { #take })
                }
            }
        }
    }
}

impl Variant {
    /// A pattern that binds named fields by name and the others as `field0`, `field1`, ….
    pub(crate) fn pattern(&self) -> TokenStream {
        let ident = &self.ident;
        match &self.fields {
            VariantFields::Unit => quote!(Self::#ident),
            VariantFields::Newtype(_) => quote!(Self::#ident(field0)),
            VariantFields::Tuple(types) => {
                let fields = (0..types.len()).map(|at| format_ident!("field{at}"));
                quote!(Self::#ident(#(#fields),*))
            }
            VariantFields::Record(record) => {
                let fields = record.fields.iter().map(|field| &field.ident);
                let flattened = record.flattened.iter().map(|flattened| &flattened.ident);
                quote!(Self::#ident { #(#fields,)* #(#flattened,)* })
            }
        }
    }

    fn property_names(&self) -> Vec<String> {
        match &self.fields {
            VariantFields::Record(record) => record.fields.iter().map(|field| field.name.clone()).collect(),
            _ => Vec::new(),
        }
    }

    fn newtype(&self) -> Option<&Type> {
        match &self.fields {
            VariantFields::Newtype(ty) => Some(ty),
            _ => None,
        }
    }

    fn flattened(&self) -> Vec<&Type> {
        match &self.fields {
            VariantFields::Record(record) => record.flattened.iter().map(|flattened| &flattened.ty).collect(),
            _ => Vec::new(),
        }
    }
}
