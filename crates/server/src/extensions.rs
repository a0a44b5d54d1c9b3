//! Typed state that an application keeps on a connection.
//!
//! Depends on nothing. Costs one pointer on a connection that has none.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

type Values = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// At most one value of each type.
#[derive(Default)]
pub(crate) struct Extensions {
    values: OnceLock<Box<Mutex<Values>>>,
}

impl Extensions {
    pub(crate) fn set<T: Send + Sync + 'static>(&self, value: T) -> Option<Arc<T>> {
        let values = self.values.get_or_init(Box::default);
        let old = values.lock().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::new(value));
        old.and_then(|old| old.downcast().ok())
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let values = self.values.get()?.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(values.get(&TypeId::of::<T>())?).downcast().ok()
    }

    pub(crate) fn remove<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let mut values = self.values.get()?.lock().unwrap_or_else(PoisonError::into_inner);
        values.remove(&TypeId::of::<T>())?.downcast().ok()
    }
}
