import { expect, test } from "bun:test";
import { compileAddressSet } from "@sluice/lib";
import { isForwardedTls } from "./forwarded-scheme.ts";

const proxies = compileAddressSet(["10.0.0.0/8"]);

test("a client is on TLS when the outermost of trusted proxies says so, and nobody else is believed", () => {
  const isTls = (forwarded: string | null, peer = "10.0.0.1"): boolean =>
    isForwardedTls({ get: (name) => (name === "x-forwarded-proto" ? forwarded : null) }, peer, proxies);
  for (const forwarded of ["https", " HTTPS ", "https, http"]) expect(isTls(forwarded)).toBe(true);
  for (const forwarded of ["http", "http, https", "", null]) expect(isTls(forwarded)).toBe(false);
  expect(isTls("https", "203.0.113.9")).toBe(false);
});
