//! One declaration of an enum whose values have names: in the configuration, on the wire, in the database and in the
//! OpenAPI document.

/// Declares enums whose values have names. Each has `ALL` in the order of its lines, `as_str` and `parse`.
#[macro_export]
macro_rules! named {
    ($($(#[$about:meta])* $seen:vis enum $name:ident { $($(#[$of:meta])* $value:ident = $word:tt,)+ })+) => {$(
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $(#[$about])*
        $seen enum $name {
            $($(#[$of])* $value,)+
        }

        impl $name {
            /// All of them, in their order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// Its name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }

            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$value),)+ _ => None }
            }
        }
    )+};
}

/// Declares enums whose names are words: `Display`, serde and the OpenAPI document take them too.
macro_rules! words {
    ($($(#[$about:meta])* $seen:vis enum $name:ident { $($(#[$of:meta])* $value:ident = $word:tt,)+ })+) => {$(
        $crate::named! {
            #[derive(serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
            $(#[$about])*
            $seen enum $name {
                $($(#[$of])* #[serde(rename = $word)] $value = $word,)+
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}
