//! Reads the ports of the core and writes what each store of the test kit does with those that nobody wrote by hand:
//! the faulty store hands every call on, and the in-memory store keeps nothing of what is not the kernel's. Reads the
//! conformance suite and writes the lists of its behaviours.

#![expect(clippy::expect_used, reason = "a port that cannot be read is a failed build")]

use std::path::{Path, PathBuf};

use quote::{ToTokens, format_ident, quote};
use syn::{
    FnArg, GenericArgument, Ident, Item, ItemFn, ItemTrait, PathArguments, PathSegment, ReturnType, TraitItem,
    TraitItemFn, Type, Visibility,
};

/// Methods that the faulty store writes by hand.
const BY_HAND: [&str; 4] = ["commit", "commit_again", "settle_and_reserve", "time"];
/// What a store that keeps nothing of a noun answers with: no more than the noun's absence.
const ABSENT: [&str; 4] = ["Arc", "ModelPolicy", "Option", "Vec"];

fn main() {
    write("ports.rs", &stores());
    write("behaviours.rs", &behaviours());
}

fn write(name: &str, text: &str) {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where")).join(name);
    std::fs::write(out, text).expect("cargo's folder is writable");
}

/// Every behaviour by its file and name: those that the in-memory store has too, which take a `Harness`, and the others.
fn behaviours() -> String {
    let folder = Path::new("src/conformance");
    println!("cargo:rerun-if-changed={}", folder.display());
    let (mut kernel, mut beyond) = (String::new(), String::new());
    for path in rust_files(folder) {
        let items = syn::parse_file(&read(&path)).expect("a behaviour is Rust").items;
        let taking = |harness: &str| {
            let names = items.iter().filter_map(|item| behaviour(item, harness));
            names.map(|name| format!("{name},\n")).collect::<String>()
        };
        let noun = path.file_stem().expect("a name").to_string_lossy();
        for (list, harness) in [(&mut kernel, "Harness"), (&mut beyond, "FullHarness")] {
            let names = taking(harness);
            if !names.is_empty() {
                list.push_str(&format!("{noun} {{\n{names}}}\n"));
            }
        }
    }
    let list = |name: &str, of: &str| {
        let run = format!("$crate::conformance_tests! {{ $make {of} }}");
        format!("#[doc(hidden)] #[macro_export] macro_rules! {name} {{ ($make:ident) => {{ {run} }}; }}\n")
    };
    list("kernel_behaviours", &kernel) + &list("other_behaviours", &beyond)
}

/// The name of a public function that takes such a harness.
fn behaviour<'a>(item: &'a Item, harness: &str) -> Option<&'a Ident> {
    let Item::Fn(ItemFn { vis: Visibility::Public(_), sig, .. }) = item else { return None };
    let Some(FnArg::Typed(taken)) = sig.inputs.first() else { return None };
    last(&taken.ty).filter(|of| of.ident == harness).map(|_| &sig.ident)
}

fn stores() -> String {
    let ports = Path::new("../core/src/ports");
    println!("cargo:rerun-if-changed={}", ports.display());
    println!("cargo:rerun-if-changed=src/mem");
    let kept: String = rust_files(Path::new("src/mem")).map(|path| read(&path)).collect();
    let mut written = String::new();
    for path in rust_files(ports) {
        // The same paths, seen from this crate.
        let text = read(&path).replace("crate::", "kybern_core::").replace("super::", "kybern_core::ports::");
        let items = syn::parse_file(&text).expect("a port is Rust").items;
        let Some(port) = items.iter().find_map(store_port) else { continue };
        let (name, module) = (&port.ident, format_ident!("{}", path.file_stem().expect("a name").to_string_lossy()));
        let uses = items.iter().filter(|item| matches!(item, Item::Use(_)));
        let handed_on = methods(port).map(handed_on);
        let is_kept = kept.contains(&format!("impl {name} for MemStore"));
        let unkept = (!is_kept).then(|| {
            let refused = methods(port).map(|method| unkept(name, method));
            quote! { #[async_trait] impl #name for crate::MemStore { #(#refused)* } }
        });
        let implemented = quote! {
            mod #module {
                #(#uses)*
                use kybern_core::ports::#module::*;
                #[async_trait] impl<S: kybern_core::ports::Store + ?Sized> #name for crate::FaultyStore<S> { #(#handed_on)* }
                #unkept
            }
        };
        written.push_str(&implemented.to_string());
    }
    written
}

fn rust_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "rs")).collect();
    files.sort();
    files.into_iter()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a source can be read")
}

/// The trait of a file that [`kybern_core::ports::Store`] is made of.
fn store_port(item: &Item) -> Option<&ItemTrait> {
    match item {
        Item::Trait(port) if port.ident.to_string().ends_with("Store") && port.ident != "Store" => Some(port),
        _ => None,
    }
}

fn methods(port: &ItemTrait) -> impl Iterator<Item = &TraitItemFn> {
    port.items.iter().filter_map(|item| if let TraitItem::Fn(method) = item { Some(method) } else { None })
}

/// The types of a method's arguments.
fn arguments(method: &TraitItemFn) -> Vec<&Type> {
    let inputs = method.sig.inputs.iter();
    inputs.filter_map(|arg| if let FnArg::Typed(typed) = arg { Some(&*typed.ty) } else { None }).collect()
}

fn handed_on(method: &TraitItemFn) -> impl ToTokens {
    let (name, output, types) = (&method.sig.ident, &method.sig.output, arguments(method));
    let args: Vec<Ident> = (0..types.len()).map(|n| format_ident!("arg{n}")).collect();
    let label = name.to_string();
    let call = if BY_HAND.contains(&label.as_str()) {
        let by_hand = format_ident!("{name}_by_hand");
        quote! { self.#by_hand(#(#args),*).await }
    } else if answer(output).is_none() {
        // What cannot fail does not.
        quote! { self.inner.#name(#(#args),*).await }
    } else {
        quote! { self.call(#label, self.inner.#name(#(#args),*)).await }
    };
    quote! { async fn #name(&self, #(#args: #types),*) #output { #call } }
}

fn unkept(port: &Ident, method: &TraitItemFn) -> impl ToTokens {
    let (name, output, types) = (&method.sig.ident, &method.sig.output, arguments(method));
    let may_be_absent = |of: &PathSegment| ABSENT.iter().any(|absent| of.ident == absent);
    let answer = match answer(output).and_then(last).is_some_and(may_be_absent) {
        true => quote! { Ok(Default::default()) },
        false => {
            let what = port.to_string();
            quote! { Err(crate::mem::not_kept(#what)) }
        }
    };
    quote! { async fn #name(&self, #(_: #types),*) #output { #answer } }
}

/// What a method that may fail answers with.
fn answer(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, result) = output else { return None };
    let PathArguments::AngleBracketed(of) = &last(result).filter(|segment| segment.ident == "Result")?.arguments else {
        return None;
    };
    if let GenericArgument::Type(answer) = of.args.first()? { Some(answer) } else { None }
}

fn last(of: &Type) -> Option<&PathSegment> {
    if let Type::Path(path) = of { path.path.segments.last() } else { None }
}
