//! What was taken out.

/// What kind of secret or personal data stood there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    ApiKey,
    Token,
    Password,
    Secret,
    PrivateKey,
    Credentials,
    Authorization,
    Cookie,
    Code,
    Email,
    Phone,
    Card,
    Ssn,
    Iban,
    Account,
    BirthDate,
    IdNumber,
}

/// How every marker begins.
pub(super) const MARKER: &str = "[redacted:";

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 17] = [
        Self::ApiKey,
        Self::Token,
        Self::Password,
        Self::Secret,
        Self::PrivateKey,
        Self::Credentials,
        Self::Authorization,
        Self::Cookie,
        Self::Code,
        Self::Email,
        Self::Phone,
        Self::Card,
        Self::Ssn,
        Self::Iban,
        Self::Account,
        Self::BirthDate,
        Self::IdNumber,
    ];

    /// Whether whoever knows it can act in somebody's name, or pay with their money. What merely says who somebody is,
    /// or how to reach them, is personal and no secret.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        match self {
            Self::Email | Self::Phone | Self::BirthDate => false,
            Self::ApiKey
            | Self::Token
            | Self::Password
            | Self::Secret
            | Self::PrivateKey
            | Self::Credentials
            | Self::Authorization
            | Self::Cookie
            | Self::Code
            | Self::Card
            | Self::Ssn
            | Self::Iban
            | Self::Account
            | Self::IdNumber => true,
        }
    }

    /// What stands in its place.
    #[must_use]
    pub const fn marker(self) -> &'static str {
        match self {
            Self::ApiKey => "[redacted:api_key]",
            Self::Token => "[redacted:token]",
            Self::Password => "[redacted:password]",
            Self::Secret => "[redacted:secret]",
            Self::PrivateKey => "[redacted:private_key]",
            Self::Credentials => "[redacted:credentials]",
            Self::Authorization => "[redacted:authorization]",
            Self::Cookie => "[redacted:cookie]",
            Self::Code => "[redacted:code]",
            Self::Email => "[redacted:email]",
            Self::Phone => "[redacted:phone]",
            Self::Card => "[redacted:card]",
            Self::Ssn => "[redacted:ssn]",
            Self::Iban => "[redacted:iban]",
            Self::Account => "[redacted:account]",
            Self::BirthDate => "[redacted:birth_date]",
            Self::IdNumber => "[redacted:id_number]",
        }
    }
}
