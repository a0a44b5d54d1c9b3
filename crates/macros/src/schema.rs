//! Writing the implementation of `Schema` (and `Flatten`, where a type has properties).
//!
//! Depends on the [`model`](crate::model). The code leans on `polywire_schema::derive`,
//! so that it stays short; types are named with the spans of their fields, so that
//! the compiler points there when one of them has no schema.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Type, WherePredicate, parse_quote, spanned::Spanned};

use crate::{
    attributes::Literal,
    model::{Body, Container, Field, Flattened, LiteralVariant, Presence, Record, Variant, VariantFields},
};

/// `impl Schema for …`, and `impl Flatten for …`.
pub(crate) fn implement(container: &Container) -> TokenStream {
    let krate = &container.krate;
    let ident = &container.ident;
    let writer = Writer { schema: quote!(#krate::schema) };
    let schema = &writer.schema;
    let generics = container.generics_with(&parse_quote!(#schema::Schema));
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let Methods { ty, to_value, from_value, flatten } = writer.methods(container);
    let describe = writer.describe(container, &ty);
    let flatten = flatten.map(|Flat { shape, own, inner, put, take }| {
        quote! {
            #[automatically_derived]
            impl #impl_generics #schema::derive::Flatten for #ident #ty_generics #where_clause {
                const SHAPE: #schema::derive::Shape = #shape;
                const NAMES: &'static #schema::derive::Names =
                    &#schema::derive::Names { own: &[#(#own),*], inner: &[#(#inner),*] };

                fn put(&self, object: &mut #schema::Object) { #put }

                fn take(object: &mut #schema::Object) -> ::core::result::Result<Self, #schema::Mismatch> { #take }
            }
        }
    });
    let checks = writer.checks(container);
    // Of a generic type the compiler knows the flattened ones only where it is used.
    let (inside, outside) = match container.generics.params.is_empty() {
        true => (quote!(), quote!(#(const _: () = #checks;)*)),
        false => (quote!(#(const { #checks })*), quote!()),
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #schema::Schema for #ident #ty_generics #where_clause {
            fn describe(types: &mut #schema::Registry) -> #schema::Type { #inside #describe }

            fn to_value(&self) -> #schema::Value { #to_value }

            fn from_value(value: #schema::Value) -> ::core::result::Result<Self, #schema::Mismatch> { #from_value }
        }
        #flatten
        #outside
    }
}

impl Container {
    /// The generics, each type parameter bounded by a trait.
    pub(crate) fn generics_with(&self, bound: &syn::TypeParamBound) -> syn::Generics {
        let mut generics = self.generics.clone();
        let predicates: Vec<WherePredicate> = generics
            .type_params()
            .map(|parameter| {
                let ident = &parameter.ident;
                parse_quote!(#ident: #bound)
            })
            .collect();
        if !predicates.is_empty() {
            generics.make_where_clause().predicates.extend(predicates);
        }
        generics
    }
}

/// The bodies of the functions.
struct Methods {
    /// An expression of the type, given `types`.
    ty: TokenStream,
    to_value: TokenStream,
    from_value: TokenStream,
    flatten: Option<Flat>,
}

/// The parts of `impl Flatten`.
struct Flat {
    shape: TokenStream,
    own: Vec<String>,
    inner: Vec<TokenStream>,
    put: TokenStream,
    take: TokenStream,
}

struct Writer {
    schema: TokenStream,
}

impl Writer {
    fn describe(&self, container: &Container, ty: &TokenStream) -> TokenStream {
        let schema = &self.schema;
        let id = &container.schema_id;
        let parameters: Vec<&Ident> = container.generics.type_params().map(|parameter| &parameter.ident).collect();
        let name = match parameters.is_empty() {
            true => quote!(#id),
            false => quote! {
                &{
                    let arguments = [#(<#parameters as #schema::Schema>::describe(types)),*];
                    #schema::Registry::generic_name(#id, &arguments)
                }
            },
        };
        let how = if container.inline { quote!(inline) } else { quote!(named) };
        let comment = &container.comment;
        let members = container.member_comments();
        let comments = (!comment.is_empty() || !members.is_empty()).then(|| {
            let (names, texts): (Vec<_>, Vec<_>) = members.into_iter().unzip();
            quote!(types.comment::<Self>(#comment, &[#((#names, #texts)),*]);)
        });
        quote! {
            let name: &str = #name;
            let ty = types.#how::<Self>(name, |types| #ty);
            #comments
            ty
        }
    }

    fn methods(&self, container: &Container) -> Methods {
        let schema = &self.schema;
        match &container.body {
            Body::Struct(record) => self.structure(record),
            Body::Alias(ty) => Methods {
                ty: quote!(<#ty as #schema::derive::Field>::type_of(types)),
                to_value: quote!(<#ty as #schema::derive::Field>::value(&self.0)),
                from_value: quote!(<#ty as #schema::derive::Field>::of(value).map(Self)),
                flatten: None,
            },
            Body::Tuple(types) => {
                let at: Vec<syn::Index> = (0..types.len()).map(syn::Index::from).collect();
                let elements = at.iter().map(|at| quote!(&self.#at));
                let to_value = self.tuple_value(types, elements);
                let take = self.tuple_take(types);
                Methods {
                    ty: self.tuple_type(types),
                    to_value,
                    from_value: quote! { #take ::core::result::Result::Ok(Self(#(elements.#at),*)) },
                    flatten: None,
                }
            }
            Body::Literals(variants) => self.literals(variants),
            Body::Enumeration(variants) => self.enumeration(container, variants),
            Body::Tagged { tag, content, variants } => self.tagged(tag, content.as_deref(), variants),
            Body::Untagged(variants) => self.untagged(variants),
        }
    }

    fn structure(&self, record: &Record) -> Methods {
        let schema = &self.schema;
        let put_fields = self.put_fields(record, |field| quote!(&self.#field));
        let take_fields = self.take_fields(record);
        let own: Vec<String> = record.fields.iter().map(|field| field.name.clone()).collect();
        let flattened: Vec<&Type> = record.flattened.iter().map(|flattened| &flattened.ty).collect();
        let shape = match record.intersection {
            true if !flattened.is_empty() => quote!(#schema::derive::Shape::Members),
            _ => quote! {
                #schema::derive::shape_with(&[#(<#flattened as #schema::derive::Flatten>::SHAPE),*])
            },
        };
        Methods {
            ty: self.record_type(record, quote!()),
            to_value: quote! {
                let mut object = #schema::Object::new();
                #schema::derive::Flatten::put(self, &mut object);
                #schema::Value::Object(object)
            },
            from_value: quote! {
                let mut object = #schema::derive::object(value)?;
                #schema::derive::Flatten::take(&mut object)
            },
            flatten: Some(Flat {
                shape,
                inner: flattened.iter().map(|ty| quote!(<#ty as #schema::derive::Flatten>::NAMES)).collect(),
                own,
                put: put_fields,
                take: quote!(::core::result::Result::Ok(Self { #take_fields })),
            }),
        }
    }

    /// Constant expressions that do not compile where flattened types do not go together.
    fn checks(&self, container: &Container) -> Vec<TokenStream> {
        match &container.body {
            Body::Struct(record) => self.check_flattened(&record.names(None), &record.flattened_types()),
            Body::Tagged { tag, content: None, variants } => variants
                .iter()
                .flat_map(|variant| match &variant.fields {
                    VariantFields::Newtype(ty) => self.check_flattened(&[tag.as_str()], &[ty]),
                    VariantFields::Record(record) => {
                        self.check_flattened(&record.names(Some(tag)), &record.flattened_types())
                    }
                    VariantFields::Unit | VariantFields::Tuple(_) => Vec::new(),
                })
                .collect(),
            Body::Untagged(variants) => variants
                .iter()
                .flat_map(|variant| match &variant.fields {
                    VariantFields::Record(record) => {
                        self.check_flattened(&record.names(None), &record.flattened_types())
                    }
                    _ => Vec::new(),
                })
                .collect(),
            Body::Tuple(types) => {
                let span = types.first().map_or_else(Span::call_site, Spanned::span);
                let schema = spanned(&self.schema, span);
                vec![quote_spanned! {span=>
                    #schema::derive::check_tuple(&[#(<#types as #schema::Element>::OPTIONAL),*])
                }]
            }
            _ => Vec::new(),
        }
    }

    /// One check for each flattened type, which is blamed.
    fn check_flattened(&self, own: &[&str], flattened: &[&Type]) -> Vec<TokenStream> {
        let check = |(at, ty): (usize, &&Type)| {
            let before = &flattened[..at];
            let schema = spanned(&self.schema, ty.span());
            quote_spanned! {ty.span()=>
                #schema::derive::check_flattened(
                    &[#(#own),*],
                    &[#((
                        <#before as #schema::derive::Flatten>::SHAPE,
                        <#before as #schema::derive::Flatten>::NAMES,
                    )),*],
                    <#ty as #schema::derive::Flatten>::SHAPE,
                    <#ty as #schema::derive::Flatten>::NAMES,
                )
            }
        };
        flattened.iter().enumerate().map(check).collect()
    }

    /// The type of an object with these fields behind what `first` adds to it: the tag.
    fn record_type(&self, record: &Record, first: TokenStream) -> TokenStream {
        let schema = &self.schema;
        let properties = record.fields.iter().map(|Field { ty, name, id, presence, .. }| {
            let optional = !matches!(presence, Presence::Required);
            quote! {
                let ty = <#ty as #schema::derive::Field>::type_of(types);
                object.property(#id, #name, ty, #optional);
            }
        });
        let how = if record.intersection { quote!(intersect) } else { quote!(join) };
        let flattened = record
            .flattened
            .iter()
            .map(|Flattened { ty, .. }| quote!(<#ty as #schema::derive::Flatten>::#how(&mut object, types);));
        // Where own properties come first, so does their member of an intersection.
        quote! {{
            let mut object = #schema::derive::ObjectType::default();
            #first
            #(#properties)*
            #(#flattened)*
            object.finish()
        }}
    }

    /// Statements that set properties of `object`; `access` gives a reference to a field.
    fn put_fields(&self, record: &Record, access: impl Fn(&Ident) -> TokenStream) -> TokenStream {
        let schema = &self.schema;
        let fields = record.fields.iter().map(|Field { ident, ty, name, presence, .. }| {
            let field = access(ident);
            match presence {
                Presence::Optional => quote! {
                    <#ty as #schema::derive::Field>::put_optional((#field).as_ref(), object, #name);
                },
                Presence::Required | Presence::Default(_) => quote! {
                    <#ty as #schema::derive::Field>::put(#field, object, #name);
                },
            }
        });
        let flattened = record.flattened.iter().map(|Flattened { ident, ty }| {
            let field = access(ident);
            quote!(<#ty as #schema::derive::Flatten>::put(#field, object);)
        });
        quote! { #(#fields)* #(#flattened)* }
    }

    /// The fields of a struct expression, taken out of `object`.
    fn take_fields(&self, record: &Record) -> TokenStream {
        let schema = &self.schema;
        let fields = record.fields.iter().map(|Field { ident, ty, name, presence, .. }| match presence {
            Presence::Required => quote!(#ident: <#ty as #schema::derive::Field>::take(object, #name)?,),
            Presence::Optional => quote!(#ident: <#ty as #schema::derive::Field>::take_optional(object, #name)?,),
            Presence::Default(default) => quote! {
                #ident: match <#ty as #schema::derive::Field>::take_optional(object, #name)? {
                    ::core::option::Option::Some(given) => given,
                    ::core::option::Option::None => #default,
                },
            },
        });
        let flattened = record
            .flattened
            .iter()
            .map(|Flattened { ident, ty }| quote!(#ident: <#ty as #schema::derive::Flatten>::take(object)?,));
        quote! { #(#fields)* #(#flattened)* }
    }

    fn optional_from(&self, types: &[Type]) -> TokenStream {
        let schema = &self.schema;
        quote!(const { #schema::derive::optional_from(&[#(<#types as #schema::Element>::OPTIONAL),*]) })
    }

    fn tuple_type(&self, types: &[Type]) -> TokenStream {
        let schema = &self.schema;
        let optional_from = self.optional_from(types);
        quote! {
            #schema::derive::tuple_type(
                ::std::vec![#(<#types as #schema::Element>::describe(types)),*],
                #optional_from,
            )
        }
    }

    fn tuple_value(&self, types: &[Type], elements: impl Iterator<Item = TokenStream>) -> TokenStream {
        let schema = &self.schema;
        let optional_from = self.optional_from(types);
        quote! {
            #schema::derive::tuple(
                ::std::vec![#(<#types as #schema::Element>::to_value(#elements)),*],
                #optional_from,
            )
        }
    }

    /// Takes `value` apart into a tuple `elements`.
    fn tuple_take(&self, types: &[Type]) -> TokenStream {
        let schema = &self.schema;
        let count = types.len();
        let at = 0..count;
        quote! {
            let mut rest = #schema::derive::tuple_elements(value, #count)?;
            let elements = (#(<#types as #schema::Element>::next(&mut rest, #at)?,)*);
        }
    }

    fn literals(&self, variants: &[LiteralVariant]) -> Methods {
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
        let at = 0..variants.len();
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

    fn enumeration(&self, container: &Container, variants: &[LiteralVariant]) -> Methods {
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
        let at = 0..variants.len();
        Methods {
            ty: quote! {
                #schema::Type::Enum(::std::vec![
                    #(#schema::EnumMember { id: #ids, value: #literals.to_enum_value() }),*
                ])
            },
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

    fn tagged(&self, tag: &str, content: Option<&str>, variants: &[Variant]) -> Methods {
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
        Methods {
            ty: quote! {
                #schema::Type::Union(::std::vec![#(#schema::Member { id: #ids, ty: #members }),*])
            },
            to_value: quote! {
                let mut object = #schema::Object::new();
                #schema::derive::Flatten::put(self, &mut object);
                #schema::Value::Object(object)
            },
            from_value: quote! {
                let mut object = #schema::derive::object(value)?;
                #schema::derive::Flatten::take(&mut object)
            },
            flatten: Some(Flat {
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
            }),
        }
    }

    fn untagged(&self, variants: &[Variant]) -> Methods {
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

    fn lit(&self, literal: &Literal) -> TokenStream {
        let lit = {
            let schema = &self.schema;
            quote!(#schema::derive::Lit)
        };
        match literal {
            Literal::Undefined => quote!(#lit::Undefined),
            Literal::Null => quote!(#lit::Null),
            Literal::Bool(value) => quote!(#lit::Bool(#value)),
            Literal::Number(number) => quote!(#lit::Number(#number)),
            Literal::String(text) => quote!(#lit::String(#text)),
        }
    }
}

/// The same path, as if it had been written there.
fn spanned(path: &TokenStream, span: Span) -> TokenStream {
    let set = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    path.clone().into_iter().map(set).collect()
}

impl Record {
    pub(crate) const EMPTY: Self = Self { fields: Vec::new(), flattened: Vec::new(), intersection: false };

    /// The types of the flattened fields.
    pub(crate) fn flattened_types(&self) -> Vec<&Type> {
        self.flattened.iter().map(|flattened| &flattened.ty).collect()
    }

    /// The names of the properties, the tag first.
    fn names<'a>(&'a self, tag: Option<&'a str>) -> Vec<&'a str> {
        tag.into_iter().chain(self.fields.iter().map(|field| field.name.as_str())).collect()
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

impl Container {
    /// Comments on members that have one, by name on the wire.
    fn member_comments(&self) -> Vec<(String, &str)> {
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
