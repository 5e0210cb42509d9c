//! The two keywords of the contract that validate.

use jsonschema::{Keyword, ValidationError};
use serde_json::Value;

/// Bounds the bytes of a text.
pub struct MaxUtf8Bytes(pub usize);

impl<'i> Keyword<'i> for MaxUtf8Bytes {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("has too many bytes")) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        instance.as_str().is_none_or(|text| text.len() <= self.0)
    }
}

/// Pairs of members that must differ where both are there.
pub struct NotEqual(pub Vec<(String, String)>);

impl<'i> Keyword<'i> for NotEqual {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("has equal members")) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let Some(object) = instance.as_object() else { return true };
        let there = |name: &str| object.get(name).filter(|value| !value.is_null());
        self.0.iter().all(|(left, right)| there(left).is_none() || there(left) != there(right))
    }
}
