//! `purlin-bindgen MODULE.wasm FOLDER`: writes the JavaScript around a compiled module, for browsers.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(module), Some(folder), None) = (args.next(), args.next(), args.next()) else {
        eprintln!("error: usage: purlin-bindgen MODULE.wasm FOLDER");
        return ExitCode::FAILURE;
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let written = bindgen.input_path(module).web(true).and_then(|bindgen| {
        bindgen.typescript(false).omit_default_module_path(false).remove_name_section(true).generate(folder)
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
