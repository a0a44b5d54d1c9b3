//! How names are written on the wire: `rename_all`.
//!
//! Depends on nothing.

/// A convention for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    const ALL: [(&'static str, Self); 8] = [
        ("lowercase", Self::Lower),
        ("UPPERCASE", Self::Upper),
        ("PascalCase", Self::Pascal),
        ("camelCase", Self::Camel),
        ("snake_case", Self::Snake),
        ("SCREAMING_SNAKE_CASE", Self::ScreamingSnake),
        ("kebab-case", Self::Kebab),
        ("SCREAMING-KEBAB-CASE", Self::ScreamingKebab),
    ];

    /// The convention that is written in itself.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(written, _)| *written == name).map(|(_, case)| case)
    }

    /// All of them, for an error message.
    pub(crate) fn list() -> String {
        Self::ALL.map(|(name, _)| format!("\"{name}\"")).join(", ")
    }

    /// A Rust name (`snake_case` or `PascalCase`) in this convention.
    pub(crate) fn apply(self, name: &str) -> String {
        let words = words(name);
        let capitalised = |word: &String| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
        };
        let upper = |separator: &str| words.join(separator).to_uppercase();
        match self {
            Self::Lower => words.concat(),
            Self::Upper => upper(""),
            Self::Pascal => words.iter().map(capitalised).collect(),
            Self::Camel => {
                let rest: String = words.iter().skip(1).map(capitalised).collect();
                words.first().cloned().unwrap_or_default() + &rest
            }
            Self::Snake => words.join("_"),
            Self::ScreamingSnake => upper("_"),
            Self::Kebab => words.join("-"),
            Self::ScreamingKebab => upper("-"),
        }
    }
}

/// The words of a name in lower case: split at `_` and in front of capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_lower = false;
    for letter in name.chars() {
        let starts_word = letter == '_' || letter.is_uppercase() && previous_lower;
        if starts_word {
            words.push(String::new());
        }
        previous_lower = letter.is_lowercase() || letter.is_ascii_digit();
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_convention_is_reached_from_both_of_rusts() {
        let cases = [
            ("lowercase", "userid"),
            ("UPPERCASE", "USERID"),
            ("PascalCase", "UserId"),
            ("camelCase", "userId"),
            ("snake_case", "user_id"),
            ("SCREAMING_SNAKE_CASE", "USER_ID"),
            ("kebab-case", "user-id"),
            ("SCREAMING-KEBAB-CASE", "USER-ID"),
        ];
        for (convention, expected) in cases {
            let case = Case::from_name(convention).unwrap();
            assert_eq!(case.apply("user_id"), expected);
            assert_eq!(case.apply("UserId"), expected);
        }
    }

    #[test]
    fn digits_stay_with_their_word() {
        assert_eq!(Case::Camel.apply("sha256_sum"), "sha256Sum");
        assert_eq!(Case::Snake.apply("Sha256Sum"), "sha256_sum");
        assert_eq!(Case::Kebab.apply("_private"), "private");
    }
}
