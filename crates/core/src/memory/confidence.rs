//! How sure whoever said it was.

use serde::{Deserialize, Serialize};

/// How sure something is, from 0 to 1, kept in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(u16);

impl Confidence {
    /// Beyond doubt.
    pub const CERTAIN: Self = Self(1_000);

    /// In thousandths.
    #[must_use]
    pub const fn per_mille(self) -> u16 {
        self.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = String;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number from 0 to 1,000")]
    fn try_from(share: f64) -> Result<Self, String> {
        if (0.0..=1.0).contains(&share) {
            return Ok(Self((share * 1_000.0).round() as u16));
        }
        Err(format!("confidence is a number from 0 to 1, not {share}"))
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        Self::from(confidence.0) / 1_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_is_a_share_in_thousandths() {
        for (share, per_mille) in [(0.0, 0), (0.85, 850), (0.1234, 123), (1.0, 1_000)] {
            assert_eq!(Confidence::try_from(share).unwrap().per_mille(), per_mille);
        }
        for wrong in [-0.1, 1.001, f64::NAN, f64::INFINITY] {
            assert!(Confidence::try_from(wrong).is_err(), "{wrong}");
        }
        let written = serde_json::to_string(&Confidence::try_from(0.85).unwrap()).unwrap();
        assert_eq!(written, "0.85");
        assert_eq!(serde_json::from_str::<Confidence>(&written).unwrap().per_mille(), 850);
        assert!(serde_json::from_str::<Confidence>("2").is_err());
    }
}
