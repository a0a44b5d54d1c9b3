//! What a type declares, checked and with every default filled in.
//!
//! Depends on [`attributes`](crate::attributes). Invariant: code can be written
//! for every [`Container`] without looking for mistakes again, except those that
//! only the compiler can see because they lie in other types.

use std::collections::HashSet;

use proc_macro2::Span;
use syn::{
    Data, DataEnum, DataStruct, DeriveInput, Fields, GenericArgument, Generics, Ident, Path, PathArguments, Type,
    ext::IdentExt, parse_quote, spanned::Spanned,
};

use crate::{
    attributes::{At, ContainerAttributes, FieldAttributes, Literal, VariantAttributes},
    case::Case,
    docs::comment,
};

/// A type to derive for.
pub(crate) struct Container {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// Where `schema` and `tsbuffer` are.
    pub(crate) krate: Path,
    /// The wished schema id.
    pub(crate) schema_id: String,
    pub(crate) inline: bool,
    pub(crate) comment: String,
    pub(crate) body: Body,
}

/// What a type is in TypeScript.
pub(crate) enum Body {
    /// An object type.
    Struct(Record),
    /// Another name for a type.
    Alias(Type),
    /// A tuple.
    Tuple(Vec<Type>),
    /// One literal, or the union of several.
    Literals(Vec<LiteralVariant>),
    /// A TypeScript `enum`.
    Enumeration(Vec<LiteralVariant>),
    /// A union of object types told apart by a property.
    Tagged { tag: String, content: Option<String>, variants: Vec<Variant> },
    /// A union.
    Untagged(Vec<Variant>),
}

/// A variant without fields and what it stands for.
pub(crate) struct LiteralVariant {
    pub(crate) ident: Ident,
    pub(crate) id: u32,
    /// `None`: the discriminant.
    pub(crate) value: Option<Literal>,
    pub(crate) comment: String,
}

/// A variant of a union.
pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) id: u32,
    /// What it stands for: the tag, or the literal of an untagged unit variant.
    pub(crate) literal: Literal,
    pub(crate) fields: VariantFields,
    pub(crate) comment: String,
}

/// What a variant holds.
pub(crate) enum VariantFields {
    Unit,
    Newtype(Type),
    Tuple(Vec<Type>),
    Record(Record),
}

/// Named fields.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) fields: Vec<Field>,
    pub(crate) flattened: Vec<Flattened>,
    pub(crate) intersection: bool,
}

/// A field that is a property.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) ident: Ident,
    /// The type of the property: inside the `Option` where it is optional.
    pub(crate) ty: Type,
    pub(crate) name: String,
    pub(crate) id: u32,
    pub(crate) presence: Presence,
    pub(crate) comment: String,
}

/// Whether a property may be missing, and what the field is then.
#[derive(Clone)]
pub(crate) enum Presence {
    Required,
    /// `None`.
    Optional,
    /// This expression.
    Default(syn::Expr),
}

/// A field whose properties are those of the type.
#[derive(Clone)]
pub(crate) struct Flattened {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
}

impl Container {
    /// Reads a declaration; collects as many mistakes as it can.
    pub(crate) fn read(input: &DeriveInput) -> syn::Result<Self> {
        let attributes = ContainerAttributes::read(&input.attrs)?;
        if let Some(lifetime) = input.generics.lifetimes().next() {
            let text = "a type with a lifetime cannot be decoded; own the data (`String`, `Vec`, `Bytes`)";
            return Err(syn::Error::new(lifetime.span(), text));
        }
        let body = match &input.data {
            Data::Struct(data) => read_struct(data, &attributes)?,
            Data::Enum(data) => read_enum(&input.ident, data, &attributes)?,
            Data::Union(data) => {
                let text = "a union cannot be checked; write an enum with `#[schema(untagged)]`";
                return Err(syn::Error::new(data.union_token.span, text));
            }
        };
        let name = input.ident.unraw().to_string();
        Ok(Self {
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            krate: crate_path(input, attributes.krate.clone())?,
            schema_id: attributes.schema_id.unwrap_or_else(|| format!("types/{name}")),
            inline: attributes.inline,
            comment: comment(&input.attrs),
            body,
        })
    }
}

/// The path given for `crate` in any of the attributes.
fn crate_path(input: &DeriveInput, schema: Option<Path>) -> syn::Result<Path> {
    let mut path = schema;
    for attribute in ["api", "message"] {
        if path.is_none() && input.attrs.iter().any(|given| given.path().is_ident(attribute)) {
            path = crate::attributes::ServiceAttributes::read(&input.attrs, attribute)?.krate;
        }
    }
    Ok(path.unwrap_or_else(|| parse_quote!(::polywire::__private)))
}

fn read_struct(data: &DataStruct, attributes: &ContainerAttributes) -> syn::Result<Body> {
    let enum_only = [
        (attributes.tag.as_ref().map(|tag| tag.span), "tag"),
        (attributes.content.as_ref().map(|content| content.span), "content"),
        (attributes.untagged, "untagged"),
        (attributes.string, "string"),
    ];
    for (span, key) in enum_only {
        if let Some(span) = span {
            return Err(syn::Error::new(span, format!("`{key}` is for enums; remove it from this struct")));
        }
    }
    match &data.fields {
        Fields::Named(fields) => {
            let mut record = Record::read(&fields.named, attributes.rename_all, &[])?;
            record.intersection = attributes.intersection.is_some();
            Ok(Body::Struct(record))
        }
        Fields::Unit => Ok(Body::Struct(Record { fields: Vec::new(), flattened: Vec::new(), intersection: false })),
        Fields::Unnamed(fields) => {
            let mut types = unnamed(&fields.unnamed)?;
            match types.len() {
                0 => {
                    Err(syn::Error::new(fields.span(), "write `struct Name;` or `struct Name {}` for an empty object"))
                }
                1 => Ok(Body::Alias(types.remove(0))),
                _ => Ok(Body::Tuple(types)),
            }
        }
    }
}

/// The types of a tuple struct or variant, which take no attributes.
fn unnamed(fields: &syn::punctuated::Punctuated<syn::Field, syn::Token![,]>) -> syn::Result<Vec<Type>> {
    const MOST: usize = 64;
    if let Some(field) = fields.iter().nth(MOST) {
        return Err(syn::Error::new(field.span(), format!("a tuple has at most {MOST} elements in TSBuffer")));
    }
    for field in fields {
        if let Some(attribute) = field.attrs.iter().find(|attribute| attribute.path().is_ident("schema")) {
            return Err(syn::Error::new(
                attribute.span(),
                "the elements of a tuple take no attributes; name the fields",
            ));
        }
    }
    Ok(fields.iter().map(|field| field.ty.clone()).collect())
}

impl Record {
    /// `taken` are the names of properties that stand before the fields: the tag.
    fn read<'a>(
        fields: impl IntoIterator<Item = &'a syn::Field>,
        rename_all: Option<Case>,
        taken: &[&str],
    ) -> syn::Result<Self> {
        let mut record = Self { fields: Vec::new(), flattened: Vec::new(), intersection: false };
        let mut unique = Unique::new(taken);
        for field in fields {
            let attributes = FieldAttributes::read(&field.attrs)?;
            // Only called with named fields.
            let ident = field.ident.clone().ok_or_else(|| syn::Error::new(field.span(), "the field needs a name"))?;
            if let Some(span) = attributes.flatten {
                record.flattened.push(Flattened::read(field, ident, &attributes, span)?);
                continue;
            }
            let rust_name = ident.unraw().to_string();
            let span = ident.span();
            let name = attributes.rename.unwrap_or_else(|| At {
                value: rename_all.map_or_else(|| rust_name.clone(), |case| case.apply(&rust_name)),
                span,
            });
            let id = unique.id(attributes.id, span)?;
            unique.name(&name, "property")?;
            let (presence, ty) = presence(field, attributes.optional, attributes.default)?;
            record.fields.push(Field { ident, ty, name: name.value, id, presence, comment: comment(&field.attrs) });
        }
        record.check_maps()?;
        Ok(record)
    }

    /// Two maps can be seen here; through an alias only the compiler sees them.
    fn check_maps(&self) -> syn::Result<()> {
        let mut maps = self.flattened.iter().filter(|flattened| is_map(&flattened.ty));
        match (maps.next(), maps.next()) {
            (Some(first), Some(second)) => {
                let text = format!(
                    "`{}` is flattened already, and an object has one index signature; \
                     keep one map and make the other a property",
                    first.ident
                );
                Err(syn::Error::new(second.ident.span(), text))
            }
            _ => Ok(()),
        }
    }
}

impl Flattened {
    fn read(field: &syn::Field, ident: Ident, attributes: &FieldAttributes, span: Span) -> syn::Result<Self> {
        let others = [
            (attributes.rename.as_ref().map(|rename| rename.span), "rename"),
            (attributes.id.as_ref().map(|id| id.span), "id"),
            (attributes.optional, "optional"),
            (attributes.default.as_ref().map(|default| default.span), "default"),
        ];
        for (other, key) in others {
            if let Some(span) = other {
                return Err(syn::Error::new(span, format!("a flattened field is no property; remove `{key}`")));
            }
        }
        if option_inner(&field.ty).is_some() {
            let text = "an `Option` cannot be flattened; make its properties optional, or do not flatten it";
            return Err(syn::Error::new(span, text));
        }
        Ok(Self { ident, ty: field.ty.clone() })
    }
}

fn presence(
    field: &syn::Field,
    optional: Option<Span>,
    default: Option<At<Option<syn::Expr>>>,
) -> syn::Result<(Presence, Type)> {
    let inner = option_inner(&field.ty);
    match (optional, default, inner) {
        (Some(span), Some(_), _) => Err(syn::Error::new(span, "`optional` and `default` exclude each other; keep one")),
        (_, Some(default), Some(_)) => {
            let text = "an `Option` is `None` where the property is missing; remove `default` or the `Option`";
            Err(syn::Error::new(default.span, text))
        }
        (Some(span), None, Some(_)) => Err(syn::Error::new(span, "an `Option` is optional anyway; remove `optional`")),
        (Some(_), None, None) => {
            let alias = &field.ty;
            Ok((Presence::Optional, parse_quote!(<#alias as ::core::iter::IntoIterator>::Item)))
        }
        (None, None, Some(inner)) => Ok((Presence::Optional, inner.clone())),
        (None, Some(default), None) => {
            let value = default.value.unwrap_or_else(|| parse_quote!(::core::default::Default::default()));
            Ok((Presence::Default(value), field.ty.clone()))
        }
        (None, None, None) => Ok((Presence::Required, field.ty.clone())),
    }
}

/// The `T` of an `Option<T>`, however its path is written.
fn option_inner(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}

fn is_map(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|segment| ["BTreeMap", "HashMap", "IndexMap"].iter().any(|name| segment.ident == name))
}

/// Names and ids that are given once each.
struct Unique {
    names: HashSet<String>,
    ids: HashSet<u32>,
    next: u32,
}

impl Unique {
    /// The names that stand there already have the ids 0, 1, ….
    fn new(taken: &[&str]) -> Self {
        let next = u32::try_from(taken.len()).unwrap_or(u32::MAX);
        Self { names: taken.iter().map(|name| (*name).to_owned()).collect(), ids: (0..next).collect(), next }
    }

    fn name(&mut self, name: &At<String>, what: &str) -> syn::Result<()> {
        if self.names.insert(name.value.clone()) {
            return Ok(());
        }
        let text = format!("there is a {what} `{}` already; give this one another `rename`", name.value);
        Err(syn::Error::new(name.span, text))
    }

    /// The given id, or the one after the previous.
    fn id(&mut self, given: Option<At<u32>>, span: Span) -> syn::Result<u32> {
        let id = given.as_ref().map_or(self.next, |id| id.value);
        let span = given.map_or(span, |id| id.span);
        if !self.ids.insert(id) {
            return Err(syn::Error::new(span, format!("the id {id} is taken; write another `id = …`")));
        }
        self.next = id + 1;
        Ok(id)
    }
}

fn read_enum(ident: &Ident, data: &DataEnum, attributes: &ContainerAttributes) -> syn::Result<Body> {
    if data.variants.is_empty() {
        return Err(syn::Error::new(ident.span(), "an enum without variants has no values; add a variant"));
    }
    if let Some(span) = attributes.intersection {
        return Err(syn::Error::new(span, "`intersection` is for structs with flattened fields"));
    }
    if let (Some(content), None) = (&attributes.content, &attributes.tag) {
        return Err(syn::Error::new(content.span, "`content` needs a `tag` beside it"));
    }
    let all_unit = data.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit));
    match (&attributes.tag, attributes.untagged, attributes.numeric, attributes.string) {
        (Some(tag), None, None, None) => read_tagged(data, attributes, tag),
        (None, Some(_), None, None) => Ok(Body::Untagged(read_variants(data, attributes, &[])?)),
        (None, None, numeric, string) if all_unit => read_unit_variants(data, attributes, numeric, string),
        (None, None, Some(span), _) | (None, None, _, Some(span)) => {
            Err(syn::Error::new(span, "a TypeScript enum has no data; its variants must have no fields"))
        }
        (None, None, None, None) => {
            let text = "an enum with data is a union; say how its members are told apart: \
                        `#[schema(tag = \"type\")]` by a property, or `#[schema(untagged)]` by what they hold";
            Err(syn::Error::new(ident.span(), text))
        }
        (Some(tag), ..) => {
            Err(syn::Error::new(tag.span, "`tag`, `untagged`, `numeric` and `string` exclude each other; keep one"))
        }
        (None, Some(span), ..) => {
            Err(syn::Error::new(span, "`tag`, `untagged`, `numeric` and `string` exclude each other; keep one"))
        }
    }
}

fn variant_name(variant: &syn::Variant, attributes: &VariantAttributes, rename_all: Option<Case>) -> At<String> {
    let rust_name = variant.ident.unraw().to_string();
    attributes.rename.clone().unwrap_or_else(|| At {
        value: rename_all.map_or_else(|| rust_name.clone(), |case| case.apply(&rust_name)),
        span: variant.ident.span(),
    })
}

fn read_unit_variants(
    data: &DataEnum,
    attributes: &ContainerAttributes,
    numeric: Option<Span>,
    string: Option<Span>,
) -> syn::Result<Body> {
    if let (Some(_), Some(span)) = (numeric, string) {
        return Err(syn::Error::new(span, "`numeric` (or `repr`) and `string` exclude each other; keep one"));
    }
    let mut unique = Unique::new(&[]);
    let mut literals: Vec<Literal> = Vec::new();
    let mut variants = Vec::new();
    for variant in &data.variants {
        let of_variant = VariantAttributes::read(&variant.attrs)?;
        let id = unique.id(of_variant.id.clone(), variant.ident.span())?;
        let name = variant_name(variant, &of_variant, attributes.rename_all);
        let by_discriminant = numeric.is_some() && of_variant.rename.is_none();
        let value = match of_variant.value {
            Some(value) => {
                let in_enum = matches!(value.value, Literal::Number(_) | Literal::String(_));
                if (numeric.is_some() || string.is_some()) && !in_enum {
                    return Err(syn::Error::new(value.span, "the value of an enum is a number or a string"));
                }
                Some(value)
            }
            None if by_discriminant => None,
            None => Some(At { value: Literal::String(name.value), span: name.span }),
        };
        if let Some(value) = &value {
            if literals.contains(&value.value) {
                return Err(syn::Error::new(value.span, "another variant stands for this literal already"));
            }
            literals.push(value.value.clone());
        }
        variants.push(LiteralVariant {
            ident: variant.ident.clone(),
            id,
            value: value.map(|value| value.value),
            comment: comment(&variant.attrs),
        });
    }
    match numeric.or(string) {
        Some(_) => Ok(Body::Enumeration(variants)),
        None => Ok(Body::Literals(variants)),
    }
}

fn read_tagged(data: &DataEnum, attributes: &ContainerAttributes, tag: &At<String>) -> syn::Result<Body> {
    let content = attributes.content.as_ref();
    if let Some(content) = content.filter(|content| content.value == tag.value) {
        return Err(syn::Error::new(content.span, "`content` and `tag` are two properties; give them two names"));
    }
    let taken: &[&str] = if content.is_some() { &[] } else { &[&tag.value] };
    let variants = read_variants(data, attributes, taken)?;
    let mut tags: Vec<&Literal> = Vec::new();
    for (variant, declared) in variants.iter().zip(&data.variants) {
        if matches!(variant.fields, VariantFields::Tuple(_)) && content.is_none() {
            let text = format!(
                "a tuple has no place for the property `{}`; name the fields (`{} {{ … }}`), hold one struct, \
                 or write `content = \"…\"` beside `tag`",
                tag.value, variant.ident
            );
            return Err(syn::Error::new(declared.fields.span(), text));
        }
        if tags.contains(&&variant.literal) {
            return Err(syn::Error::new(declared.ident.span(), "another variant has this tag already; `rename` one"));
        }
        if matches!(variant.literal, Literal::Null | Literal::Undefined) {
            return Err(syn::Error::new(declared.ident.span(), "a tag is a string, a number or a boolean"));
        }
        tags.push(&variant.literal);
    }
    let content = content.map(|content| content.value.clone());
    Ok(Body::Tagged { tag: tag.value.clone(), content, variants })
}

fn read_variants(data: &DataEnum, attributes: &ContainerAttributes, taken: &[&str]) -> syn::Result<Vec<Variant>> {
    let mut unique = Unique::new(&[]);
    let read = |variant: &syn::Variant| {
        let of_variant = VariantAttributes::read(&variant.attrs)?;
        let name = variant_name(variant, &of_variant, attributes.rename_all);
        let fields = match &variant.fields {
            Fields::Unit => VariantFields::Unit,
            Fields::Named(fields) => {
                let rename_all = of_variant.rename_all.or(attributes.rename_all_fields);
                VariantFields::Record(Record::read(&fields.named, rename_all, taken)?)
            }
            Fields::Unnamed(fields) => {
                let mut types = unnamed(&fields.unnamed)?;
                match types.len() {
                    0 => return Err(syn::Error::new(fields.span(), "write the variant without parentheses")),
                    1 => VariantFields::Newtype(types.remove(0)),
                    _ => VariantFields::Tuple(types),
                }
            }
        };
        Ok(Variant {
            id: unique.id(of_variant.id.clone(), variant.ident.span())?,
            ident: variant.ident.clone(),
            literal: of_variant.value.map_or(Literal::String(name.value), |value| value.value),
            fields,
            comment: comment(&variant.attrs),
        })
    };
    data.variants.iter().map(read).collect()
}
