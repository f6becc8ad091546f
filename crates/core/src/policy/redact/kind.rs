//! What was taken out.

crate::named! {
    /// What kind of secret or personal data stood there.
    pub enum Kind {
        ApiKey = "[redacted:api_key]",
        Token = "[redacted:token]",
        Password = "[redacted:password]",
        Secret = "[redacted:secret]",
        PrivateKey = "[redacted:private_key]",
        Credentials = "[redacted:credentials]",
        Authorization = "[redacted:authorization]",
        Cookie = "[redacted:cookie]",
        Code = "[redacted:code]",
        Email = "[redacted:email]",
        Phone = "[redacted:phone]",
        Card = "[redacted:card]",
        Ssn = "[redacted:ssn]",
        Iban = "[redacted:iban]",
        Account = "[redacted:account]",
        BirthDate = "[redacted:birth_date]",
        IdNumber = "[redacted:id_number]",
    }
}

/// How every marker begins.
pub(super) const MARKER: &str = "[redacted:";

impl Kind {
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
}
