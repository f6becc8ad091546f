//! Documents read in a process of their own, so that one that exhausts memory or time, or brings a reader down, costs
//! nothing but itself.
//!
//! [`ReaderProgram`] is the server's part: it starts this program once more for each document ([`child`]), which gives up
//! memory, time and the network before it reads a byte ([`confine`]) and then does what [`worker`] says. The two talk in
//! frames of bounded size ([`wire`]). What reading needs beside the child, Tesseract and the decoders of pictures, are
//! children of the server: the one that reads may start nothing, and asks for it ([`ChildOrder`]).
//!
//! A child reads one document of one tenant and ends. Starting it takes a few milliseconds, so none is kept for the next.

pub(super) mod child;
mod confine;
mod wire;
mod worker;

use std::io;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

use kybern_core::document::{DocumentFault, FaultKind, PageText, limits};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::child::ChildFault;
use self::wire::Frame;
use super::File;
use super::ocr::Tesseract;
use super::pdf::{Packed, Unpacked};
use super::picture::Picture;
use crate::workers::StopFlag;

pub(super) use self::wire::Tag;
pub use self::worker::{READER_VERB, read_as_child};

/// Bytes of the memory of a child: all that it maps, the program itself and its stack of 64 MiB among it.
const MEMORY: u64 = 1024 * 1024 * 1024;
/// What unpacking one picture may take: the largest needs some three seconds.
const PICTURE_TIME: Duration = Duration::from_secs(15);
/// Bytes of a child's answer: the most text that a document may have, with the places of its lines.
const MAX_ANSWER: u64 = 64 * 1024 * 1024;
/// Times that one document may ask for what it cannot do itself.
const MAX_REQUESTS: usize = 1_000;

/// What reading a document needs that is not done in the process that reads it.
pub(super) trait ReaderServices {
    /// What OCR reads on a picture; `None` when there are no words in it.
    ///
    /// # Errors
    /// Why it could not be read, for the log.
    fn words(&self, picture: &Picture, stop: &StopFlag) -> Result<Option<PageText>, String>;

    /// A picture in JPEG 2000 or JBIG2; `None` when it is damaged, goes over a limit, or nothing here unpacks it.
    fn unpack(&self, packed: &Packed<'_>, stop: &StopFlag) -> Option<Unpacked>;
}

/// The server's aids: children of its own.
#[derive(Clone, Copy, Default)]
pub(super) struct ServerAids<'a> {
    pub(super) tesseract: Option<&'a Tesseract>,
    pub(super) program: Option<&'a ReaderProgram>,
}

impl ReaderServices for ServerAids<'_> {
    fn words(&self, picture: &Picture, stop: &StopFlag) -> Result<Option<PageText>, String> {
        let tesseract = self.tesseract.ok_or_else(|| "there is no OCR".to_owned())?;
        tesseract.read(picture, stop).map_err(|fault| fault.to_string())
    }

    fn unpack(&self, packed: &Packed<'_>, stop: &StopFlag) -> Option<Unpacked> {
        let program = self.program?;
        let (tag, head, [first, second]) = packed.to_wire();
        let talk = |mut to: ChildStdin, mut from: ChildStdout| -> io::Result<Vec<u8>> {
            wire::send(&mut to, Tag::Order, &[&json(&ChildOrder::Unpack)?])?;
            wire::send(&mut to, tag, &[&head, first, second])?;
            Ok(wire::receive(&mut from, SIZE + limits::MAX_PIXELS)?.payload)
        };
        match program.converse(PICTURE_TIME, stop, talk) {
            Ok(picture) => Unpacked::from_wire(picture),
            Err(fault) => {
                tracing::warn!(error.message = %fault, "a picture of a document could not be unpacked");
                None
            }
        }
    }
}

/// Bytes of a picture's width and height.
const SIZE: u64 = 8;

/// The program that reads documents: this one, started with [`READER_VERB`].
#[derive(Clone, Debug)]
pub struct ReaderProgram {
    program: PathBuf,
    memory: u64,
    time: Duration,
}

/// What a child is to do with the bytes that follow.
#[derive(Debug, Serialize, Deserialize)]
enum ChildOrder {
    /// Read it; pictures are looked at where there is OCR.
    Read { name: String, content_type: String, sees: bool },
    /// Say what there is to see on each page.
    Looks { name: String, content_type: String },
    /// Draw a page.
    Picture { name: String, content_type: String, page: u32, longest: Option<u32> },
    /// Unpack a picture.
    Unpack,
    /// Say whether it is isolated.
    Isolation,
}

impl ReaderProgram {
    /// A program that calls [`read_as_child`] when it is started with [`READER_VERB`].
    #[must_use]
    pub const fn new(program: PathBuf) -> Self {
        Self { program, memory: MEMORY, time: super::TIME_LIMIT }
    }

    /// The same with other limits for one document: bytes of memory, and how long it may take.
    #[must_use]
    pub fn limited_to(self, memory: u64, time: Duration) -> Self {
        Self { memory, time, ..self }
    }

    /// How long a document without pictures may take.
    pub(super) const fn time(&self) -> Duration {
        self.time
    }

    /// Whether the processes that read can do nothing but compute. Otherwise this machine lets them reach files and the
    /// network, and they are only limited.
    ///
    /// # Errors
    /// When none can be started, in a sentence.
    pub fn is_isolated(&self) -> Result<bool, String> {
        let talk = |mut to: ChildStdin, mut from: ChildStdout| {
            wire::send(&mut to, Tag::Order, &[&json(&ChildOrder::Isolation)?])?;
            let answer = wire::receive(&mut from, MAX_ANSWER)?;
            Ok(serde_json::from_slice(&answer.payload)?)
        };
        self.converse(self.time, &StopFlag::default(), talk).map_err(|fault| fault.to_string())
    }

    /// Reads a document; `aids` see its pictures when they are asked to.
    pub(super) fn read(
        &self,
        file: &File,
        seeing: Option<(ServerAids<'_>, Duration)>,
        stop: &StopFlag,
    ) -> Result<super::pdf::PdfReading, DocumentFault> {
        let File { name, content_type, .. } = file.clone();
        let order = ChildOrder::Read { name, content_type, sees: seeing.is_some() };
        let (aids, time) = seeing.unwrap_or((ServerAids::default(), self.time));
        answer(&self.ask(&order, file, aids, time, stop)?)?
    }

    /// What there is to see on its pages.
    pub(super) fn looks(
        &self,
        file: &File,
        stop: &StopFlag,
    ) -> Result<Vec<kybern_core::document::PageLook>, DocumentFault> {
        let File { name, content_type, .. } = file.clone();
        let order = ChildOrder::Looks { name, content_type };
        answer(&self.ask(&order, file, ServerAids::default(), self.time, stop)?)?
    }

    /// A page as a picture.
    pub(super) fn picture(
        &self,
        file: &File,
        view: kybern_core::document::PageImageRequest,
        stop: &StopFlag,
    ) -> Result<kybern_core::document::PagePicture, DocumentFault> {
        let File { name, content_type, .. } = file.clone();
        let order = ChildOrder::Picture { name, content_type, page: view.page, longest: view.longest };
        let aids = ServerAids { program: Some(self), tesseract: None };
        let frame = self.ask(&order, file, aids, self.time, stop)?;
        if frame.tag == Tag::Drawn {
            return Ok(super::picture::png(frame.payload));
        }
        answer::<Result<(), DocumentFault>>(&frame)?.and_then(|()| Err(stopped()))
    }

    /// Gives a child its order and the document, does what it asks for, and gives its answer.
    fn ask(
        &self,
        order: &ChildOrder,
        file: &File,
        aids: ServerAids<'_>,
        time: Duration,
        stop: &StopFlag,
    ) -> Result<Frame, DocumentFault> {
        let talk = |mut to: ChildStdin, mut from: ChildStdout| -> io::Result<Frame> {
            wire::send(&mut to, Tag::Order, &[&json(order)?])?;
            wire::send(&mut to, Tag::Document, &[&file.bytes])?;
            for _ in 0..MAX_REQUESTS {
                let frame = wire::receive(&mut from, MAX_ANSWER)?;
                match frame.tag {
                    Tag::Words => {
                        let picture = Picture::from_wire(frame.payload).ok_or(io::ErrorKind::InvalidData)?;
                        wire::send(&mut to, Tag::Words, &[&json(&aids.words(&picture, stop))?])?;
                    }
                    Tag::Jpeg2000 | Tag::Jbig2 => {
                        let packed = Packed::from_wire(frame.tag, &frame.payload).ok_or(io::ErrorKind::InvalidData)?;
                        let unpacked = aids.unpack(&packed, stop).map(Unpacked::into_wire);
                        let (size, bytes) = unpacked.unwrap_or_default();
                        wire::send(&mut to, Tag::Unpacked, &[&size, &bytes])?;
                    }
                    Tag::Answer | Tag::Drawn => return Ok(frame),
                    Tag::Order | Tag::Document | Tag::Unpacked => return Err(io::ErrorKind::InvalidData.into()),
                }
            }
            Err(io::ErrorKind::QuotaExceeded.into())
        };
        self.converse(time, stop, talk).map_err(|fault| {
            tracing::warn!(error.message = %fault, "the process that read a document had no answer");
            self.fault(&fault)
        })
    }

    fn converse<T: Send>(
        &self,
        time: Duration,
        stop: &StopFlag,
        talk: impl FnOnce(ChildStdin, ChildStdout) -> io::Result<T> + Send,
    ) -> Result<T, ChildFault> {
        let mut command = std::process::Command::new(&self.program);
        command.arg(READER_VERB).arg(self.memory.to_string()).arg(time.as_secs().max(1).to_string());
        command.stderr(std::process::Stdio::piped());
        child::converse(command, time, stop, talk)
    }

    fn fault(&self, fault: &ChildFault) -> DocumentFault {
        match fault {
            ChildFault::TooLong(limit) => crate::workers::WorkerFault::TooLong(*limit).into(),
            ChildFault::OutOfMemory => {
                let megabytes = self.memory / (1024 * 1024);
                DocumentFault::new(FaultKind::TooLarge, format!("reading it takes more than {megabytes} MB of memory"))
            }
            ChildFault::Ended(_) => stopped(),
            // Nothing is wrong with the document.
            ChildFault::Start(_) => DocumentFault::new(FaultKind::Busy, "no process could be started to read it"),
        }
    }
}

fn stopped() -> DocumentFault {
    crate::workers::WorkerFault::Panicked.into()
}

fn answer<T: DeserializeOwned>(frame: &Frame) -> Result<T, DocumentFault> {
    serde_json::from_slice(&frame.payload).map_err(|_| stopped())
}

fn json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}

#[cfg(test)]
mod tests;
