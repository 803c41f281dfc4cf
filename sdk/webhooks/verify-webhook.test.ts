import { describe, expect, test } from "bun:test";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { verifyWebhook, type WebhookFault, WebhookVerificationError } from "./verify-webhook.ts";

const now = 1_790_000_000_000;
const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString("base64")}`;
const secret = secretOf(new Uint8Array(32).fill(7));
const other = secretOf(new Uint8Array(32).fill(8));
const body =
  '{"event_id":"e1","event":"transaction.confirmed","timestamp":"2026-09-21T14:13:20.000Z","network":"devnet",' +
  '"data":{"slot":9007199254740993,"signature":"☃"}}';

/** The signature of Standard Webhooks, by another implementation of HMAC than the one that verifies. */
function signed(text: string | Uint8Array, { by = [secret], id = "e1", atMs = now } = {}): Record<string, string> {
  const stamp = String(Math.floor(atMs / 1_000));
  const signature = by.map((each) => {
    const hmac = createHmac("sha256", Buffer.from(each.slice(6), "base64"));
    return `v1,${hmac.update(`${id}.${stamp}.`).update(text).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": signature.join(" ") };
}

async function faultOf(promise: Promise<unknown>): Promise<WebhookFault | "taken"> {
  try {
    await promise;
    return "taken";
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

describe("a delivery", () => {
  test("that is signed is taken, with its whole numbers exact, whatever form headers and body have", async () => {
    const headers = signed(body);
    const event = await verifyWebhook({ secret, headers, body, now });
    expect(event).toEqual({
      event_id: "e1",
      event: "transaction.confirmed",
      timestamp: "2026-09-21T14:13:20.000Z",
      network: "devnet",
      data: { slot: 9_007_199_254_740_993n, signature: "☃" },
    });
    const nodes = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    expect(await verifyWebhook({ secret, headers: new Headers(headers), body: Buffer.from(body), now })).toEqual(event);
    expect(await verifyWebhook({ secret, headers: nodes, body, now })).toEqual(event);
  });

  test("is taken during a rotation with the old, the new or both secrets", async () => {
    const headers = signed(body, { by: [secret, other] });
    for (const held of [secret, other, [other, secret]]) {
      expect((await verifyWebhook({ secret: held, headers, body, now })).event_id).toBe("e1");
    }
    expect(
      (await verifyWebhook({ secret: [secret, other], headers: signed(body, { by: [other] }), body, now })).event,
    ).toBe("transaction.confirmed");
  });

  test.each<[string, WebhookFault, Parameters<typeof verifyWebhook>[0]]>([
    ["without headers", "MISSING_HEADER", { secret, headers: {}, body, now }],
    [
      "with an empty signature",
      "MISSING_HEADER",
      { secret, headers: { ...signed(body), "webhook-signature": "" }, body, now },
    ],
    ["of another secret", "SIGNATURE_MISMATCH", { secret: other, headers: signed(body), body, now }],
    ["with another body", "SIGNATURE_MISMATCH", { secret, headers: signed(body), body: `${body} `, now }],
    ["with another id", "SIGNATURE_MISMATCH", { secret, headers: { ...signed(body), "webhook-id": "e2" }, body, now }],
    [
      "with another time",
      "SIGNATURE_MISMATCH",
      {
        ...{ secret, body, now },
        headers: { ...signed(body), "webhook-timestamp": String(now / 1_000 + 1) },
      },
    ],
    [
      "of another version",
      "SIGNATURE_MISMATCH",
      {
        ...{ secret, body, now },
        headers: { ...signed(body), "webhook-signature": signed(body)["webhook-signature"]?.replace("v1,", "v2,") },
      },
    ],
    [
      "with a signature that is no base64",
      "SIGNATURE_MISMATCH",
      {
        ...{ secret, body, now },
        headers: { ...signed(body), "webhook-signature": "v1,%" },
      },
    ],
    ["that is old", "STALE", { secret, headers: signed(body, { atMs: now - 301_000 }), body, now }],
    ["of the future", "STALE", { secret, headers: signed(body, { atMs: now + 301_000 }), body, now }],
    [
      "with a time that is none",
      "STALE",
      { secret, headers: { ...signed(body), "webhook-timestamp": "NaN" }, body, now },
    ],
    ["that is signed and no JSON", "MALFORMED_BODY", { secret, headers: signed("{"), body: "{", now }],
    ["that is signed and no event", "MALFORMED_BODY", { secret, headers: signed("[]"), body: "[]", now }],
    [
      "that is signed and no UTF-8",
      "MALFORMED_BODY",
      {
        ...{ secret, now },
        headers: signed(Uint8Array.of(0xff)),
        body: Uint8Array.of(0xff),
      },
    ],
    ["for a secret that is none", "MALFORMED_SECRET", { secret: "abc", headers: signed(body), body, now }],
    ["for an empty secret", "MALFORMED_SECRET", { secret: "whsec_", headers: signed(body), body, now }],
  ])("%s is refused", async (_what, code, options) => {
    expect(await faultOf(verifyWebhook(options))).toBe(code);
  });

  test("within a tolerance of one's own is taken", async () => {
    const late = signed(body, { atMs: now - 10_000 });
    expect(await faultOf(verifyWebhook({ secret, headers: late, body, now, toleranceSeconds: 9 }))).toBe("STALE");
    expect(await faultOf(verifyWebhook({ secret, headers: late, body, now, toleranceSeconds: 11 }))).toBe("taken");
  });

  test("with any one bit of its body or signature changed is refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(7), fc.boolean(), async (place, bit, inBody) => {
        const bytes = Buffer.from(body);
        const headers = signed(body);
        if (inBody) {
          const index = place % bytes.length;
          bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
        } else {
          const raw = Buffer.from((headers["webhook-signature"] ?? "").slice(3), "base64");
          const index = place % raw.length;
          raw[index] = (raw[index] ?? 0) ^ (1 << bit);
          headers["webhook-signature"] = `v1,${raw.toString("base64")}`;
        }
        expect(await faultOf(verifyWebhook({ secret, headers, body: bytes, now }))).toBe("SIGNATURE_MISMATCH");
      }),
      { numRuns: 200 },
    );
  });

  test("of any bytes and any secret verifies as another implementation signs it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary" }),
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        async (text, key) => {
          const data = JSON.stringify({ ...JSON.parse(body), data: { text } });
          const own = secretOf(key);
          expect(
            (await verifyWebhook({ secret: own, headers: signed(data, { by: [own] }), body: data, now })).data,
          ).toEqual({
            text,
          });
        },
      ),
      { numRuns: 100 },
    );
  });
});

test("the sub-path needs WebCrypto alone: it verifies where neither Node nor Bun nor Buffer is", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-verify-"));
  try {
    const entrypoints = [join(import.meta.dir, "verify-webhook.ts")];
    const built = await Bun.build({ entrypoints, target: "browser", outdir: directory });
    expect([built.success, built.outputs.length]).toEqual([true, 1]);
    const code = await built.outputs[0]?.text();
    expect(code).not.toMatch(/\brequire\(|node:|\bBuffer\b|\bprocess\b/);
    const own = secretOf(randomBytes(32));
    const sent = { secret: own, headers: signed(body, { by: [own] }), body, now };
    const program = `
      const given = ${JSON.stringify(sent)};
      // What an edge runtime has: the standards of the web, and nothing of Node.
      for (const name of ["Buffer", "process", "require", "Bun"]) delete globalThis[name];
      const { verifyWebhook } = await import("./verify-webhook.js");
      const event = await verifyWebhook(given);
      console.log(event.event_id, String(event.data.slot));
    `;
    writeFileSync(join(directory, "program.mjs"), program);
    const node = Bun.spawn(["node", "program.mjs"], { cwd: directory, stdout: "pipe", stderr: "pipe" });
    const [out, error] = await Promise.all([new Response(node.stdout).text(), new Response(node.stderr).text()]);
    expect([out, error]).toEqual(["e1 9007199254740993\n", ""]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, 30_000);
