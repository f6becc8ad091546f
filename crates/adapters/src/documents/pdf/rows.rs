//! Rows of bits, as a picture of one bit has them, filled by a decoder.

/// Never more rows than the picture has, whatever the decoder finds.
pub(super) struct Rows {
    bytes: Vec<u8>,
    row_bytes: usize,
    most: usize,
    /// What a black pixel is written as.
    black: bool,
    row: Vec<u8>,
    x: usize,
}

impl Rows {
    pub(super) fn new(columns: u32, rows: u32, black: bool) -> Option<Self> {
        let row_bytes = usize::try_from(columns).ok()?.div_ceil(8);
        let most = usize::try_from(rows).ok()?.checked_mul(row_bytes)?;
        Some(Self { bytes: Vec::new(), row_bytes, most, black, row: vec![0; row_bytes], x: 0 })
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn blacken(&mut self, from: usize, to: usize) {
        for x in from..to {
            if let Some(byte) = self.row.get_mut(x / 8) {
                *byte |= 0x80 >> (x % 8);
            }
        }
    }

    fn end_row(&mut self) {
        let flip = if self.black { 0 } else { u8::MAX };
        if self.bytes.len() < self.most {
            self.bytes.extend(self.row.iter().map(|byte| byte ^ flip));
        }
        self.row.fill(0);
        self.x = 0;
    }
}

impl hayro_ccitt::Decoder for Rows {
    fn push_row(&mut self, changes: &[u32]) {
        for pair in changes.chunks(2) {
            let place = |at: Option<&u32>| at.and_then(|at| usize::try_from(*at).ok());
            let from = place(pair.first()).unwrap_or(0);
            let to = place(pair.get(1)).unwrap_or(self.row_bytes * 8);
            self.blacken(from, to.min(self.row_bytes * 8));
        }
        self.end_row();
    }
}

impl hayro_jbig2::Decoder for Rows {
    fn push_pixel(&mut self, black: bool) {
        if black {
            self.blacken(self.x, self.x + 1);
        }
        self.x += 1;
    }

    fn push_pixel_chunk(&mut self, black: bool, chunk_count: u32) {
        let to = self.x.saturating_add(usize::try_from(chunk_count).unwrap_or(0).saturating_mul(8));
        if black {
            self.blacken(self.x, to.min(self.row_bytes * 8));
        }
        self.x = to;
    }

    fn next_line(&mut self) {
        self.end_row();
    }
}
