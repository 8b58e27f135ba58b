use std::fmt;

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The value of the key `schema`; only the supported major version can be one.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub(crate) struct Schema;

const SUPPORTED: u64 = 1;

impl TryFrom<u64> for Schema {
    type Error = Error;

    fn try_from(found: u64) -> Result<Self, Error> {
        if found != SUPPORTED {
            return Err(Error::Schema {
                found,
                supported: SUPPORTED,
            });
        }
        Ok(Self)
    }
}

impl From<Schema> for u64 {
    fn from(_: Schema) -> Self {
        SUPPORTED
    }
}

/// Refuses a foreign schema whatever else is in the text.
///
/// Another major version may give every other key another meaning, so complaints about those keys
/// would mislead. Nothing behind the key `schema` is read.
pub(crate) fn check(json: &[u8]) -> Result<(), Error> {
    let mut found = None;
    let end = serde_json::Deserializer::from_slice(json).deserialize_map(Search(&mut found));
    match found {
        Some(version) => Schema::try_from(version).map(|_| ()),
        None => Ok(end?),
    }
}

/// Leaves the version in its slot, which outlives the syntax error that stopping midway causes.
struct Search<'a>(&'a mut Option<u64>);

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profile object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "schema" {
                *self.0 = Some(map.next_value()?);
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Err(A::Error::missing_field("schema"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREIGN: Result<(), Error> = Err(Error::Schema {
        found: 2,
        supported: 1,
    });

    #[test]
    fn a_foreign_schema_is_named_before_any_other_fault() {
        assert_eq!(check(br#"{"schema":2,"points":[nonsense"#), FOREIGN);
        assert_eq!(check(br#"{"points":"none","schema":2}"#), FOREIGN);
        assert_eq!(check(br#"{"sch\u0065ma":2"#), FOREIGN);
    }

    #[test]
    fn a_schema_inside_another_key_is_not_the_schema() {
        assert_eq!(check(br#"{"device":{"schema":2},"schema":1}"#), Ok(()));
    }

    #[test]
    fn a_missing_or_unnumbered_schema_is_a_fault_with_a_place() {
        for json in ["{}", r#"{"schema":"1"}"#, r#"{"schema":-1}"#, "[1]", ""] {
            let fault = check(json.as_bytes());
            assert!(
                matches!(fault, Err(Error::Json { line: 1, .. })),
                "{json}: {fault:?}"
            );
        }
    }
}
