import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@sluice/lib";
import { eventually, freePort, startServerProcess } from "@sluice/lib/testing";
import { newAuthority } from "../tls/testing/private-authority.ts";
import { createAddressRules } from "./address-rules.ts";
import { EgressEndpoint } from "./egress-endpoint.ts";
import { readEgressUrl } from "./egress-url.ts";

const openssl = Bun.which("openssl");

if (openssl === null) console.warn("NOT RUN: receivers with TLS before 1.2 (there is no openssl)");
else {
  test("a receiver that speaks no TLS from 1.2 on is not called, though others may call it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-egress-tls-"));
    const authority = await newAuthority(directory);
    const { certificate, key } = await authority.server("hooks", ["hooks.example"]);
    const rules = createAddressRules(["127.0.0.0/8"]);
    for (const [version, expected] of [
      ["-tls1", "unreachable"],
      ["-tls1_1", "unreachable"],
      ["-tls1_2", "timeout"],
      ["-tls1_3", "timeout"],
    ] as const) {
      const port = await freePort();
      const suites = ["-cipher", "ALL:@SECLEVEL=0", version];
      const place = ["-accept", `127.0.0.1:${port}`, "-cert", certificate, "-key", key];
      await using _ = await startServerProcess([openssl, "s_server", ...place, ...suites, "-HTTP", "-quiet"]);
      // A client that takes every version shows that the server is there.
      const own = [openssl, "s_client", "-connect", `127.0.0.1:${port}`, ...suites];
      await eventually("the server", () => Bun.spawnSync(own, { stdin: Buffer.from("") }).exitCode === 0);
      const read = readEgressUrl(`https://hooks.example:${port}/`, { allowHttp: false });
      if (!read.ok) throw new Error(read.fault);
      using endpoint = new EgressEndpoint(
        { url: read.url, connectionsMax: 1, answerBytesMax: 10, authorities: [readFileSync(authority.caFile, "utf8")] },
        { clock: systemClock, rules, resolver: { addressesOf: async () => ["127.0.0.1"] } },
      );
      // Once it has taken the connection it waits for a GET, and answers no POST.
      const { kind } = await endpoint.post({ fields: [], body: "", timeoutMs: 2_000 });
      expect([version, kind]).toEqual([version, expected]);
    }
    rmSync(directory, { recursive: true });
  }, 60_000);
}
