import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
  readonly forms: ReadonlyMap<"br" | "gzip", Uint8Array<ArrayBuffer>>;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const filesMax = 200;

/** The paths that the console's one document answers; the pages find their own way. `*` stands for one segment. */
export const pagePaths = [
  "/",
  "/live",
  "/explorer",
  "/webhooks",
  "/webhooks/*",
  "/bundles",
  "/bundles/*",
  "/stake-pool",
  "/prices",
  "/names",
  "/sql",
  "/docs/errors",
] as const;

const document = "/index.html";

/** Whether a person came here with a browser. What lies under /api is for programs, whatever they accept. */
const isVisit = ({ method, headers }: Request, path: string): boolean =>
  (method === "GET" || method === "HEAD") &&
  headers.get("accept")?.includes("text/html") === true &&
  !path.startsWith("/api/") &&
  !path.startsWith("/assets/");

/**
 * Serves the console's bundled files from memory: `null` for a path that is none of them. A path of a page is answered
 * with the one document, since the pages find their own way; so is, with 404, a browser on a path that is unknown.
 */
export class ConsolePages {
  readonly #files: ReadonlyMap<string, PageFile>;
  readonly #pages: ReadonlySet<string>;

  constructor(options: { directory: string; pages: readonly string[] }) {
    this.#files = readFiles(options.directory);
    this.#pages = new Set(options.pages);
  }

  answer(request: Request): Response | null {
    const path = new URL(request.url).pathname;
    const isPage = this.#pages.has(path) || this.#pages.has(path.replace(/[^/]+$/, "*"));
    const file = this.#files.get(isPage ? document : path);
    if (file === undefined) {
      const lost = isVisit(request, path) ? this.#files.get(document) : undefined;
      return lost === undefined ? null : answerOf(request, lost, { status: 404, "Cache-Control": "no-store" });
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    // Names under /assets hold a hash of what is in them, so they never change.
    const cacheControl = path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    return answerOf(request, file, { status: 200, ETag: file.etag, "Cache-Control": cacheControl });
  }
}

interface Answered {
  readonly status: 200 | 404;
  readonly "Cache-Control": string;
  readonly ETag?: string;
}

function answerOf(request: Request, file: PageFile, { status, ...caching }: Answered): Response {
  const headers: Record<string, string> = {
    "Content-Type": file.type,
    ...caching,
    Vary: "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
  };
  if (file.type.startsWith("text/html")) headers["Content-Security-Policy"] = contentSecurityPolicy;
  if (caching.ETag !== undefined && request.headers.get("if-none-match") === caching.ETag) {
    return new Response(null, { status: 304, headers });
  }
  const accepted = request.headers.get("accept-encoding") ?? "";
  const encoding = (["br", "gzip"] as const).find((name) => accepted.includes(name) && file.forms.has(name));
  if (encoding !== undefined) headers["Content-Encoding"] = encoding;
  const bytes = (encoding === undefined ? undefined : file.forms.get(encoding)) ?? file.bytes;
  return new Response(request.method === "HEAD" ? null : bytes, { status, headers });
}

function readFiles(directory: string): Map<string, PageFile> {
  const files = new Map<string, PageFile>();
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  for (const name of names.slice(0, filesMax * 3)) {
    const path = join(directory, name);
    const type = types[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined || !statSync(path).isFile() || files.size >= filesMax) continue;
    const bytes = new Uint8Array(readFileSync(path));
    const forms = new Map<"br" | "gzip", Uint8Array<ArrayBuffer>>();
    if (existsSync(`${path}.br`)) forms.set("br", new Uint8Array(readFileSync(`${path}.br`)));
    if (existsSync(`${path}.gz`)) forms.set("gzip", new Uint8Array(readFileSync(`${path}.gz`)));
    files.set(`/${name.split(sep).join("/")}`, { bytes, type, etag: `"${Bun.hash(bytes).toString(36)}"`, forms });
  }
  return files;
}
