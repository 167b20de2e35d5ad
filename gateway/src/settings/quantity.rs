//! Durations and sizes with their units, as the file writes them.

use std::fmt;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};

use super::shape::HINT;

/// A length of time such as `250ms`, `30s`, `5m`, `1h` or `30d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(pub Duration);

/// A number of bytes such as `64KiB` or `2MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

const PERIOD_UNITS_MS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

impl Period {
    pub fn parse(text: &str) -> Option<Self> {
        quantity(text, &PERIOD_UNITS_MS).map(|ms| Self(Duration::from_millis(ms)))
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let days = PERIOD_UNITS_MS.iter().rev().find(|(_, size)| ms > 0 && ms.is_multiple_of(*size));
        let (unit, size) = days.unwrap_or(&("s", 1_000));
        write!(f, "{}{unit}", ms / size)
    }
}

impl ByteSize {
    pub fn parse(text: &str) -> Option<Self> {
        quantity(text, &SIZE_UNITS).map(Self)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = SIZE_UNITS.iter().rev().filter(|(unit, _)| unit.contains('i'));
        let found = binary.into_iter().find(|(_, size)| self.0 > 0 && self.0.is_multiple_of(*size));
        let (unit, size) = found.unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / size)
    }
}

/// A whole number directly followed by its unit, blanks between them allowed. Never guesses a unit.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = unit.trim_start();
    let (_, size) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    number.parse::<u64>().ok()?.checked_mul(*size)
}

/// A setting that can be switched off by the word `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch<T> {
    Off,
    On(T),
}

impl<T> Switch<T> {
    pub fn on(self) -> Option<T> {
        match self {
            Self::Off => None,
            Self::On(value) => Some(value),
        }
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format_args!(
                "`{text}` is no length of time{HINT}write a whole number with a unit, such as `250ms`, `30s`, `5m`, \
                 `1h` or `30d`"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format_args!(
                "`{text}` is no size{HINT}write a whole number with a unit, such as `64KiB` or `2MiB`"
            ))
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Switch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SwitchVisitor(std::marker::PhantomData))
    }
}

struct SwitchVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SwitchVisitor<T> {
    type Value = Switch<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`off` or a value")
    }
    fn visit_bool<E: de::Error>(self, on: bool) -> Result<Switch<T>, E> {
        if on { Err(E::invalid_value(Unexpected::Bool(on), &self)) } else { Ok(Switch::Off) }
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Switch<T>, E> {
        if text == "off" {
            return Ok(Switch::Off);
        }
        T::deserialize(de::value::StrDeserializer::new(text)).map(Switch::On)
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Switch<T>, E> {
        T::deserialize(de::value::U64Deserializer::new(v)).map(Switch::On)
    }
    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Switch<T>, E> {
        T::deserialize(de::value::I64Deserializer::new(v)).map(Switch::On)
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Switch<T>, E> {
        T::deserialize(de::value::F64Deserializer::new(v)).map(Switch::On)
    }
    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Switch<T>, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Switch::On)
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: Serialize> Serialize for Switch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str("off"),
            Self::On(value) => value.serialize(serializer),
        }
    }
}

impl schemars::JsonSchema for Period {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Period".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[0-9]+ *(ms|s|m|h|d)$",
            "description": "A length of time: a whole number and its unit, such as `250ms`, `30s`, `5m`, `1h` or `30d`."
        })
    }
}

impl schemars::JsonSchema for ByteSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByteSize".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[0-9]+ *([KMG]i?)?B$",
            "description": "A number of bytes: a whole number and its unit, such as `64KiB` or `2MiB`."
        })
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Switch<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("SwitchOf{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "oneOf": [{"const": "off"}, generator.subschema_for::<T>()],
            "description": "`off`, or a value."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_never_guessed() {
        let ms = |text: &str| Period::parse(text).map(|p| p.0.as_millis());
        assert_eq!(ms("250ms"), Some(250));
        assert_eq!(ms("30s"), Some(30_000));
        assert_eq!(ms("5 m"), Some(300_000));
        assert_eq!(ms("1h"), Some(3_600_000));
        assert_eq!(ms("30d"), Some(2_592_000_000));
        for wrong in ["30", "s", "", "-1s", "1.5s", "30 sec", "1w", "99999999999999999999s", "1s2"] {
            assert_eq!(ms(wrong), None, "{wrong}");
        }
        let bytes = |text: &str| ByteSize::parse(text).map(|b| b.0);
        assert_eq!(bytes("2MiB"), Some(2 << 20));
        assert_eq!(bytes("10 kb"), Some(10_000));
        assert_eq!(bytes("512B"), Some(512));
        for wrong in ["2", "2M", "MiB", "-2MiB", "18446744073709551615GiB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn printed_quantities_read_back() {
        for text in ["250ms", "30s", "5m", "1h", "30d", "90s"] {
            assert_eq!(Period::parse(text).unwrap().to_string(), text);
        }
        for text in ["2MiB", "1KiB", "3B", "1GiB"] {
            assert_eq!(ByteSize::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Period(Duration::ZERO).to_string(), "0s");
    }
}
