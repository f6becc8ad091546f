use fax::encoder::Encoder;
use fax::{Color, VecWriter};
use lopdf::dictionary;

use super::super::super::process::ServerAids;
use super::*;

const WIDTH: u16 = 16;
const HEIGHT: u16 = 8;
/// The picture of the tests in JPEG 2000, without loss: its left half is black.
const JPEG_2000: &str = "ff4fff510029000000000010000000080000000000000000000000100000000800000000000000000001070101ff5200\
    0c00000001000004040001ff5c00044040ff90000a0000000000640001ff93df8298115053190aac5ccd73c2e6000061\
    21281a00000000308d61f63f453847dca688fb94d11f729a23ee53447dca688fb94d11f729a23ee53447dca688fb94d1\
    1f729a23ee53447dca688fb94d11f729a23ee53447ffd9";

fn half() -> Vec<u8> {
    (0..HEIGHT).flat_map(|_| (0..WIDTH).map(|x| if x < WIDTH / 2 { 0 } else { 255 })).collect()
}

/// Without a child.
struct InThisProcess;

impl ReaderServices for InThisProcess {
    fn words(&self, _: &Picture, _: &StopFlag) -> Result<Option<kybern_core::document::PageText>, String> {
        Ok(None)
    }

    fn unpack(&self, packed: &Packed<'_>, _: &StopFlag) -> Option<Unpacked> {
        packed.decode()
    }
}

fn unpacked_here(stream: &Stream, work: &mut PixelBudget) -> Option<Grey> {
    let tools = Tools { aids: &InThisProcess, stop: &StopFlag::default() };
    unpack(&Document::new(), stream, tools, work).unwrap()
}

#[test]
fn no_picture_is_unpacked_that_there_is_no_work_left_for() {
    let dict = || dictionary! { "Width" => 16, "Height" => 8, "BitsPerComponent" => 8 };
    let mut work = PixelBudget::of(256);
    assert!(unpacked_here(&Stream::new(dict(), vec![0; 128]), &mut work).is_some() && !work.is_over());
    assert!(unpacked_here(&Stream::new(dict(), vec![0; 128]), &mut work).is_none() && work.is_over());
    // A small picture out of many bytes is work, too.
    let mut work = PixelBudget::of(1_000);
    assert!(unpacked_here(&Stream::new(dict(), vec![0; 2_000]), &mut work).is_none() && work.is_over());
}

#[test]
fn a_picture_is_paid_at_its_own_size_and_a_child_process_whatever_it_does() {
    let claims = |filter: &str| dictionary! { "Width" => 1, "Height" => 1, "Filter" => filter };
    let mut jpeg = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new(&mut jpeg);
    image::GrayImage::new(300, 200).write_with_encoder(encoder).unwrap();
    let packed = u64::try_from(jpeg.len()).unwrap();
    let paper = Stream::new(claims("DCTDecode"), jpeg);
    let mut work = PixelBudget::of(packed + 300 * 200);
    assert!(unpacked_here(&paper, &mut work).is_some() && !work.is_over());
    let mut work = PixelBudget::of(packed + 300 * 200 - 1);
    assert!(unpacked_here(&paper, &mut work).is_none() && work.is_over(), "it says that it has one pixel");
    for filter in ["JPXDecode", "JBIG2Decode"] {
        let damaged = Stream::new(claims(filter), vec![0; 10]);
        let mut work = PixelBudget::of(11 + u64::try_from(CHILD).unwrap());
        assert!(unpacked_here(&damaged, &mut work).is_none() && !work.is_over());
        assert!(unpacked_here(&damaged, &mut work).is_none() && work.is_over(), "{filter} has paid");
    }
}

#[test]
fn no_picture_is_unpacked_when_nobody_waits_any_more() {
    let stream = Stream::new(dictionary! { "Width" => 16, "Height" => 8, "BitsPerComponent" => 8 }, vec![0; 128]);
    let tools = Tools { aids: &InThisProcess, stop: &StopFlag::set() };
    unpack(&Document::new(), &stream, tools, &mut PixelBudget::of(u64::MAX)).unwrap_err();
}

#[test]
fn without_a_program_for_them_hard_packings_are_not_unpacked() {
    let dict = dictionary! { "Width" => 16, "Height" => 8, "Filter" => "JPXDecode" };
    let tools = Tools { aids: &ServerAids::default(), stop: &StopFlag::default() };
    let stream = Stream::new(dict, hex(JPEG_2000));
    assert_eq!(unpack(&Document::new(), &stream, tools, &mut PixelBudget::of(u64::MAX)).unwrap(), None);
}

fn unpacked(filter: &str, parms: Dictionary, bits: i64, bytes: Vec<u8>) -> Option<Vec<u8>> {
    let dict = dictionary! {
        "Width" => i64::from(WIDTH), "Height" => i64::from(HEIGHT), "BitsPerComponent" => bits,
        "ColorSpace" => "DeviceGray", "Filter" => filter, "DecodeParms" => parms,
    };
    let grey = unpacked_here(&Stream::new(dict, bytes), &mut PixelBudget::of(u64::MAX))?;
    assert_eq!((grey.width, grey.height), (u32::from(WIDTH), u32::from(HEIGHT)));
    Some(grey.pixels)
}

fn group_4() -> Vec<u8> {
    let mut encoder = Encoder::new(VecWriter::new());
    for _ in 0..HEIGHT {
        let row = (0..WIDTH).map(|x| if x < WIDTH / 2 { Color::Black } else { Color::White });
        encoder.encode_line(row, WIDTH).unwrap();
    }
    encoder.finish().unwrap().finish()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(&two.iter().collect::<String>(), 16).unwrap()).collect()
}

#[test]
fn a_fax_is_unpacked() {
    let parms = || dictionary! { "K" => -1, "Columns" => i64::from(WIDTH) };
    assert_eq!(unpacked("CCITTFaxDecode", parms(), 1, group_4()), Some(half()));
    let mut turned = parms();
    turned.set("BlackIs1", true);
    let light: Vec<u8> = half().iter().map(|pixel| 255 - pixel).collect();
    assert_eq!(unpacked("CCITTFaxDecode", turned, 1, group_4()), Some(light));
    let other = dictionary! { "K" => -1, "Columns" => 64 };
    assert_eq!(unpacked("CCITTFaxDecode", other, 1, group_4()), None);
}

#[test]
fn jbig2_is_unpacked() {
    let size = [u32::from(WIDTH).to_be_bytes(), u32::from(HEIGHT).to_be_bytes()].concat();
    let segment = |number: u8, kind: u8, data: &[u8]| {
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&[0, 0, 0, number, kind, 0, 1][..], &length, data].concat()
    };
    let page = segment(0, 48, &[&size[..], &[0; 11]].concat());
    // A region that is packed as a fax is.
    let region = segment(1, 38, &[&size[..], &[0; 9], &[1], &group_4()].concat());
    assert_eq!(unpacked("JBIG2Decode", Dictionary::new(), 1, [page, region].concat()), Some(half()));
    assert_eq!(unpacked("JBIG2Decode", Dictionary::new(), 1, b"torn".to_vec()), None);
}

#[test]
fn jpeg_2000_is_unpacked() {
    assert_eq!(unpacked("JPXDecode", Dictionary::new(), 8, hex(JPEG_2000)), Some(half()));
    assert_eq!(unpacked("JPXDecode", Dictionary::new(), 8, hex(JPEG_2000)[..60].to_vec()), None);
}

#[test]
fn samples_of_every_width_and_space_are_read() {
    let rows = |row: &[u8]| row.repeat(usize::from(HEIGHT));
    let plain = |space: Object, bits: i64, row: &[u8]| {
        let dict = dictionary! {
            "Width" => 2, "Height" => i64::from(HEIGHT), "BitsPerComponent" => bits, "ColorSpace" => space,
        };
        unpacked_here(&Stream::new(dict, rows(row)), &mut PixelBudget::of(u64::MAX)).unwrap().pixels[..2].to_vec()
    };
    let name = |name: &str| Object::Name(name.as_bytes().to_vec());
    assert_eq!(plain(name("DeviceGray"), 1, &[0b0100_0000]), [0, 255]);
    assert_eq!(plain(name("DeviceGray"), 2, &[0b0110_0000]), [85, 170]);
    assert_eq!(plain(name("DeviceGray"), 4, &[0x0F]), [0, 255]);
    assert_eq!(plain(name("DeviceGray"), 16, &[7, 0, 9, 0]), [7, 9]);
    assert_eq!(plain(name("DeviceRGB"), 8, &[0, 0, 0, 255, 255, 255]), [0, 255]);
    assert_eq!(plain(name("DeviceCMYK"), 8, &[0, 0, 0, 255, 0, 0, 0, 0]), [0, 255]);
    let palette = Object::Array(vec![
        name("Indexed"),
        name("DeviceRGB"),
        Object::Integer(1),
        Object::string_literal(b"\xFF\xFF\xFF\0\0\0".to_vec()),
    ]);
    assert_eq!(plain(palette, 1, &[0b0100_0000]), [255, 0]);
}
