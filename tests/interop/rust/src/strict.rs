//! What serde_json lets pass and the contract does not: a key twice in one object.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Any JSON in which no object has a key twice.
pub struct NoKeyTwice;

impl<'de> Deserialize<'de> for NoKeyTwice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

struct Walk;

impl<'de> Visitor<'de> for Walk {
    type Value = NoKeyTwice;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("JSON in which no object has a key twice")
    }

    fn visit_bool<E>(self, _: bool) -> Result<NoKeyTwice, E> {
        Ok(NoKeyTwice)
    }

    fn visit_i64<E>(self, _: i64) -> Result<NoKeyTwice, E> {
        Ok(NoKeyTwice)
    }

    fn visit_u64<E>(self, _: u64) -> Result<NoKeyTwice, E> {
        Ok(NoKeyTwice)
    }

    fn visit_f64<E>(self, _: f64) -> Result<NoKeyTwice, E> {
        Ok(NoKeyTwice)
    }

    fn visit_str<E>(self, _: &str) -> Result<NoKeyTwice, E> {
        Ok(NoKeyTwice)
    }

    fn visit_unit<E>(self) -> Result<NoKeyTwice, E> {
        Ok(NoKeyTwice)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<NoKeyTwice, A::Error> {
        while items.next_element::<NoKeyTwice>()?.is_some() {}
        Ok(NoKeyTwice)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<NoKeyTwice, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            members.next_value::<NoKeyTwice>()?;
            if !seen.insert(key) {
                return Err(A::Error::custom("a key twice"));
            }
        }
        Ok(NoKeyTwice)
    }
}
