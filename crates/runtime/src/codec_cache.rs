//! One value per Rust type, made at its first use.
//!
//! Depends on nothing of the server. Reading costs one hash of a type id.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::Arc,
};

use arc_swap::ArcSwap;

type Values = HashMap<TypeId, Arc<dyn Any + Send + Sync>, foldhash::fast::FixedState>;

/// One value per Rust type.
#[derive(Default)]
pub struct CodecCache {
    values: ArcSwap<Values>,
}

impl CodecCache {
    /// The value of type `T`; two threads that come first may both make one.
    pub fn get_or_make<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let known = self.values.load().get(&TypeId::of::<T>()).cloned();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return known;
        }
        let value = Arc::new(make());
        self.values.rcu(|values| {
            let mut values = HashMap::clone(values);
            values.insert(TypeId::of::<T>(), Arc::clone(&value) as Arc<dyn Any + Send + Sync>);
            values
        });
        value
    }
}
