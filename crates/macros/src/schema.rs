//! Writing the implementation of `Schema` (and `Flatten`, where a type has properties).
//!
//! Depends on the [`model`](crate::model). The code leans on `polywire_schema::derive`,
//! so that it stays short; types are named with the spans of their fields, so that
//! the compiler points there when one of them has no schema.

mod comments;
mod unions;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{Ident, Type, WherePredicate, parse_quote, spanned::Spanned};

use crate::{
    attributes::Literal,
    model::{Body, Container, Field, Flattened, Presence, Record, VariantFields},
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

impl Methods {
    /// Of what is written property by property, alone as well as flattened into another type.
    fn of_properties(schema: &TokenStream, ty: TokenStream, flat: Flat) -> Self {
        Self {
            ty,
            to_value: quote! {
                let mut object = #schema::Object::new();
                #schema::derive::Flatten::put(self, &mut object);
                #schema::Value::Object(object)
            },
            from_value: quote! {
                let mut object = #schema::derive::object(value)?;
                #schema::derive::Flatten::take(&mut object)
            },
            flatten: Some(flat),
        }
    }
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
        let flat = Flat {
            shape,
            inner: flattened.iter().map(|ty| quote!(<#ty as #schema::derive::Flatten>::NAMES)).collect(),
            own,
            put: put_fields,
            take: quote!(::core::result::Result::Ok(Self { #take_fields })),
        };
        Methods::of_properties(schema, self.record_type(record, quote!()), flat)
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
