/** Bundles the console into a directory: hashed names, minified, and each text file in Brotli and gzip beside it. */
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";

const require = createRequire(import.meta.url);
/** The cuts of the typeface that the pages use; theme.css names the same files. */
const fonts = ["sans-latin-400", "sans-latin-500", "sans-latin-600", "mono-latin-400"];
const compressible = /\.(html|js|css|svg|json)$/;

/** Writes the pages to `directory`, all of them or none: they are made aside and moved in place. */
export async function buildConsole(directory: string): Promise<void> {
  const aside = `${directory}.${process.pid}`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, "index.html")],
    outdir: aside,
    minify: true,
    target: "browser",
    publicPath: "/",
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
    external: ["/fonts/*"],
    plugins: [tailwind],
  });
  if (!result.success) throw new Error(result.logs.map(String).join("\n"));
  for (const output of result.outputs) {
    if (!compressible.test(output.path)) continue;
    const bytes = readFileSync(output.path);
    const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    writeFileSync(join(dirname(output.path), `${basename(output.path)}.br`), brotliCompressSync(bytes, brotli));
    writeFileSync(join(dirname(output.path), `${basename(output.path)}.gz`), gzipSync(bytes, { level: 9 }));
  }
  mkdirSync(join(aside, "fonts"));
  for (const font of fonts) {
    const file = `ibm-plex-${font}-normal.woff2`;
    const family = font.split("-", 1)[0];
    copyFileSync(require.resolve(`@fontsource/ibm-plex-${family}/files/${file}`), join(aside, "fonts", file));
  }
  rmSync(directory, { recursive: true, force: true });
  renameSync(aside, directory);
}

const directory = process.argv[2];
if (import.meta.main) {
  if (directory === undefined) throw new Error("usage: build.ts <directory>");
  await buildConsole(directory);
}
