//! Makes a failing input smaller.

/// Runs that may be spent on it.
const MAX_RUNS: usize = 1_500;

/// The smallest input that was found to fail still, by leaving out pieces, long ones first.
pub(super) fn shrink(mut input: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut runs = 0;
    let mut piece = input.len().div_ceil(2).max(1);
    loop {
        let (mut at, before) = (0, input.len());
        while at < input.len() {
            if runs >= MAX_RUNS {
                return input;
            }
            runs += 1;
            let mut smaller = input.clone();
            smaller.drain(at..(at + piece).min(input.len()));
            if fails(&smaller) {
                input = smaller;
            } else {
                at += piece;
            }
        }
        if piece == 1 && input.len() == before {
            return input;
        }
        piece = (piece / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fails_is_left() {
        let long = [vec![b'x'; 5_000], b"a hidden mine".to_vec(), vec![b'y'; 700]].concat();
        assert_eq!(shrink(long, |input| input.contains(&b'h') && input.contains(&b'm')), b"hm");
    }
}
