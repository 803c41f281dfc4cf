import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConsolePages, pagePaths } from "./console-pages.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-pages-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
mkdirSync(join(directory, "assets"));
writeFileSync(join(directory, "index.html"), "<html lang=en>the document</html>");
writeFileSync(join(directory, "assets", "a.js"), "1");
const pages = new ConsolePages({ directory, pages: pagePaths });

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  pages.answer(new Request(`http://127.0.0.1:8899${path}`, { method, headers }));
const browser = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" };

test("a page and a file are answered, and again with 304", async () => {
  for (const path of ["/", "/bundles/abc", "/docs/errors"]) {
    expect([path, ask(path)?.status, await ask(path)?.text()]).toEqual([
      path,
      200,
      expect.stringContaining("document"),
    ]);
  }
  const etag = ask("/")?.headers.get("etag") ?? "";
  expect(ask("/", { "if-none-match": etag })?.status).toBe(304);
  expect(ask("/assets/a.js")?.headers.get("cache-control")).toContain("immutable");
});

test("a browser on an unknown page gets the console's own, with 404; a program and what is under /api do not", async () => {
  const etag = ask("/")?.headers.get("etag") ?? "";
  const lost = ask("/nope", { ...browser, "if-none-match": etag });
  expect([lost?.status, lost?.headers.get("etag"), lost?.headers.get("cache-control")]).toEqual([
    404,
    null,
    "no-store",
  ]);
  expect(lost?.headers.get("content-type")).toContain("text/html");
  expect(await lost?.text()).toContain("document");
  expect(ask("/nope", browser, "HEAD")?.status).toBe(404);
  for (const [path, headers, method] of [
    ["/nope", {}, "GET"],
    ["/nope", { accept: "application/json" }, "GET"],
    ["/nope", browser, "POST"],
    ["/api/v1/nope", browser, "GET"],
    ["/assets/old.js", browser, "GET"],
  ] as const) {
    expect([path, method, ask(path, headers, method)]).toEqual([path, method, null]);
  }
});
