use kybern_core::ports::{DocumentReader, MailParser};
#[tokio::main]
async fn main() {
    let reader = kybern_adapters::documents::Reader::new();
    for path in std::env::args().skip(1) {
        let raw = std::fs::read(&path).unwrap();
        if path.ends_with(".eml") {
            let t = std::time::Instant::now();
            let mail = kybern_adapters::mail::parse::Mime.parse(&raw);
            let Ok(mail) = mail else { println!("#### {path}: {mail:?}"); continue };
            println!("######## {path} [{:?}] id={:?} from={:?} to={:?} date={:?} subject={:?} html={}\n{}", t.elapsed(), mail.message_id, mail.from, mail.to, mail.date, mail.subject, mail.from_html, mail.text);
            for part in mail.parts {
                println!("==== {} {} {} inline={} depth={}", part.filename, part.content_type, part.bytes.len(), part.inline, part.depth);
                if part.inline { continue }
                show(&reader, &part.filename, &part.content_type, part.bytes).await;
            }
        } else {
            println!("==== {path}");
            show(&reader, &path, "", raw.into()).await;
        }
    }
}
async fn show(reader: &kybern_adapters::documents::Reader, name: &str, kind: &str, bytes: bytes::Bytes) {
    let t = std::time::Instant::now();
    match reader.read(name, kind, bytes).await {
        Ok(text) => { println!("---- {:?} [{:?}]", text.format, t.elapsed()); for page in text.pages { println!("---- page {} {} lines={}", page.number, page.label, page.lines.len()); println!("{}", page.text); } }
        Err(fault) => println!("!!!! {fault} [{:?}]", t.elapsed()),
    }
}
