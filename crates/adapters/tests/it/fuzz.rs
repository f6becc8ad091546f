//! Fuzz targets of what strangers send: mail and documents, and what model providers and mail servers answer.
//! `cargo xtask fuzz` plays them a million times.

mod documents;
mod enclosed;
mod mail;
mod office;
mod paper;
mod providers;
mod servers;

/// The files of a folder of the samples, by name.
fn samples(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = super::documents::samples().join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// The attachments of the sample mails with that ending, and the faulty documents of the kind.
fn documents(ending: &str) -> Vec<Vec<u8>> {
    let mails = super::mime::mails();
    let attached = mails.into_iter().flat_map(|(_, mail)| mail.parts).filter(|part| part.filename.ends_with(ending));
    let faulty = samples(&format!("faults/{ending}")).into_iter().map(|(_, bytes)| bytes);
    // Whoever begins with small inputs gets around more.
    let mut all: Vec<Vec<u8>> = attached.map(|part| part.bytes.to_vec()).chain(faulty).collect();
    all.sort_by_key(Vec::len);
    all.dedup();
    all
}
