//! The child's part: gives up what reading does not need, takes its order and the document, and answers.

use std::cell::RefCell;
use std::io::{self, StdinLock, StdoutLock};

use kybern_core::document::{DocumentFault, PageImageRequest, PageText, limits};
use serde::Serialize;

use super::super::pdf::{Packed, Unpacked};
use super::super::picture::Picture;
use super::super::{File, STACK_BYTES};
use super::wire::{self, Frame, Tag};
use super::{ChildOrder, ReaderServices, SIZE, confine, json};
use crate::workers::StopFlag;

/// The first argument with which a server starts this program to read. Bytes of memory and seconds follow.
pub const READER_VERB: &str = "__read";

/// Bytes of an order, and of what OCR says of a page.
const MAX_JSON: u64 = 64 * 1024 * 1024;

/// Reads one document, for the server at the other end of standard input and output, in a process that has nothing else
/// to do. `arguments` are those after [`READER_VERB`].
///
/// # Errors
/// When the process cannot be limited, and when whoever started it is gone or says what it does not know.
pub fn read_as_child(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let mut number = || arguments.next()?.parse::<u64>().ok();
    let (Some(memory), Some(seconds)) = (number(), number()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a server starts this, with the limits of its child"));
    };
    // Deep, for what the libraries do with deep documents; and begun before no thread may begin.
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let is_isolated = confine::confine(memory, seconds)?;
        read(is_isolated)
    })?;
    thread.join().map_err(|_| io::Error::other("it panicked"))?
}

fn read(is_isolated: bool) -> io::Result<()> {
    let mut line = ServerPipe { input: io::stdin().lock(), output: io::stdout().lock() };
    let order = line.receive(Tag::Order, MAX_JSON)?;
    let order = serde_json::from_slice(&order)?;
    if matches!(order, ChildOrder::Isolation) {
        return wire::send(&mut line.output, Tag::Answer, &[&json(&is_isolated)?]);
    }
    if matches!(order, ChildOrder::Unpack) {
        let packed = wire::receive(&mut line.input, MAX_DOCUMENT)?;
        let unpacked = Packed::from_wire(packed.tag, &packed.payload).and_then(|packed| packed.decode());
        let (size, bytes) = unpacked.map(Unpacked::into_wire).unwrap_or_default();
        return wire::send(&mut line.output, Tag::Unpacked, &[&size, &bytes]);
    }
    let bytes = line.receive(Tag::Document, MAX_DOCUMENT)?;
    let file = |name, content_type| File { name, content_type, bytes: bytes.into() };
    // Who stops this process ends it.
    let stop = StopFlag::default();
    let server = Server(RefCell::new(line));
    match order {
        ChildOrder::Read { name, content_type, sees } => {
            let read = file(name, content_type).read(sees.then_some(&server as &dyn ReaderServices), &stop);
            server.answer(&read)
        }
        ChildOrder::Looks { name, content_type } => server.answer(&file(name, content_type).looks(&stop)),
        ChildOrder::Picture { name, content_type, page, longest } => {
            match file(name, content_type).picture(PageImageRequest { page, longest }, &server, &stop) {
                Ok(picture) => wire::send(&mut server.0.borrow_mut().output, Tag::Drawn, &[&picture.bytes]),
                Err(fault) => server.answer(&Err::<(), DocumentFault>(fault)),
            }
        }
        ChildOrder::Unpack | ChildOrder::Isolation => Ok(()),
    }
}

/// Bytes of a document, or of a picture of one unpacked as far as its last packing.
const MAX_DOCUMENT: u64 = 160 * 1024 * 1024;

/// Both directions of the talk with the server.
struct ServerPipe {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
}

impl ServerPipe {
    fn receive(&mut self, tag: Tag, most: u64) -> io::Result<Vec<u8>> {
        let Frame { tag: found, payload } = wire::receive(&mut self.input, most)?;
        if found == tag { Ok(payload) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

/// The server, as whoever reads here asks it.
struct Server(RefCell<ServerPipe>);

impl Server {
    fn answer(&self, answer: &impl Serialize) -> io::Result<()> {
        wire::send(&mut self.0.borrow_mut().output, Tag::Answer, &[&json(answer)?])
    }

    fn ask(&self, tag: Tag, parts: &[&[u8]], answered: Tag, most: u64) -> io::Result<Vec<u8>> {
        let line = &mut *self.0.borrow_mut();
        wire::send(&mut line.output, tag, parts)?;
        line.receive(answered, most)
    }
}

impl ReaderServices for Server {
    fn words(&self, picture: &Picture, _stop: &StopFlag) -> Result<Option<PageText>, String> {
        let said = self.ask(Tag::Words, &[&picture.wire_head(), &picture.pixels], Tag::Words, MAX_JSON);
        let said = said.map_err(|error| error.to_string())?;
        serde_json::from_slice(&said).map_err(|error| error.to_string())?
    }

    fn unpack(&self, packed: &Packed<'_>, _stop: &StopFlag) -> Option<Unpacked> {
        let (tag, head, [first, second]) = packed.to_wire();
        let most = SIZE + limits::MAX_PIXELS;
        Unpacked::from_wire(self.ask(tag, &[&head, first, second], Tag::Unpacked, most).ok()?)
    }
}
