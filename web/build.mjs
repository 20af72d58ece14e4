// Bundles the scripts and the style of the HTML report. The same sources give the same bytes: esbuild is pinned.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const argument = process.argv[2];

if (argument === "--tests") {
  const tests = readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: tests.map((name) => join(here, "test", name)),
    outdir: join(here, "build"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
  });
} else {
  await build({
    entryPoints: [
      { in: join(here, "src/main.ts"), out: "report" },
      { in: join(here, "src/report.css"), out: "report" },
    ],
    outdir: argument ?? join(here, "../tracekit/render/assets"),
    bundle: true,
    minify: true,
    format: "iife",
    charset: "ascii",
    target: ["chrome111", "firefox113", "safari16.4"],
    legalComments: "none",
    banner: {
      js: "/* Generated from web/src by web/build.mjs; do not edit. */",
      css: "/* Generated from web/src by web/build.mjs; do not edit. */",
    },
  });
}
