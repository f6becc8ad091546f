//! One declaration of an enum whose values are words: on the wire, in the database and in the OpenAPI document.

/// Declares enums whose values are words. Each has `ALL` in the order of its lines, `as_str`, `parse` and `Display`; serde
/// and the OpenAPI document take the same words.
macro_rules! words {
    ($($(#[$about:meta])* $seen:vis enum $name:ident { $($(#[$of:meta])* $value:ident = $word:tt,)+ })+) => {$(
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$about])*
        $seen enum $name {
            $($(#[$of])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// All of them, in their order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// Its word, on the wire and in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }

            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$value),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}
