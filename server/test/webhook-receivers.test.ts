/** The receivers of the guide, as they stand there: each takes what is signed, and refuses everything else. */
import { afterAll, expect, test } from "bun:test";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { blocksOf } from "./testing/guide.ts";
import { freePortOffset, root } from "./testing/network.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-receivers-"));
symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const blocks = blocksOf(readFileSync(join(root, "docs/guides/webhooks.md"), "utf8"));
const secret = `whsec_${randomBytes(32).toString("base64")}`;
const body = JSON.stringify({
  event_id: "e1",
  event: "transaction.confirmed",
  timestamp: "2026-09-21T14:13:20.000Z",
  network: "devnet",
  data: { signature: "☃", slot: 7 },
});

function signed(text: string, { by = secret, atMs = Date.now() } = {}): Record<string, string> {
  const stamp = String(Math.floor(atMs / 1_000));
  const hmac = createHmac("sha256", Buffer.from(by.slice(6), "base64"))
    .update(`e1.${stamp}.${text}`)
    .digest("base64");
  const other = `v1,${randomBytes(32).toString("base64")}`;
  return { "webhook-id": "e1", "webhook-timestamp": stamp, "webhook-signature": `${other} v1,${hmac}` };
}

interface GuideReceiver {
  readonly name: string;
  /** What has to be installed. */
  readonly needs: string;
  /** Makes what is run of a language that is compiled: `go run` leaves its child behind when it is killed. */
  readonly build?: (path: string) => string[];
  readonly command: (path: string) => string[];
}

const receivers: readonly GuideReceiver[] = [
  { name: "receiver.ts", needs: process.execPath, command: (path) => [process.execPath, path] },
  { name: "receiver.py", needs: "python3", command: (path) => ["python3", path] },
  {
    name: "receiver.go",
    needs: "go",
    build: (path) => ["go", "build", "-o", `${path}.run`, path],
    command: (path) => [`${path}.run`],
  },
];

for (const { name, needs, build, command } of receivers) {
  const isThere = Bun.which(needs) !== null;
  if (!isThere) console.warn(`NOT RUN: ${name} of the guide (${needs} is not installed)`);
  test.skipIf(!isThere)(
    `${name} takes a signed event, once and again, and refuses what is forged, changed, replayed or unsigned`,
    async () => {
      const block = blocks.find(({ saveAs }) => saveAs === name);
      if (block === undefined) throw new Error(`the guide has no ${name}`);
      writeFileSync(join(directory, name), block.text);
      if (build !== undefined) {
        // Where its cache and its library are, if they are told; else below the directory of the test.
        const { PATH = "", GOROOT, GOCACHE = join(directory, "cache") } = process.env;
        const env = { PATH, HOME: directory, GOCACHE, ...(GOROOT === undefined ? {} : { GOROOT }) };
        const built = Bun.spawn(build(join(directory, name)), { cwd: directory, env, stderr: "inherit" });
        expect(await built.exited).toBe(0);
      }
      const port = 20_000 + (await freePortOffset());
      const child = Bun.spawn(command(join(directory, name)), {
        cwd: directory,
        env: { PATH: process.env["PATH"] ?? "", HOME: directory, PORT: String(port), WEBHOOK_SECRET: secret },
        stdout: "pipe",
        stderr: "pipe",
      });
      try {
        const post = async (headers: Record<string, string>, text = body): Promise<number | null> => {
          const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: text }).catch(
            () => null,
          );
          return answer?.status ?? null;
        };
        await eventually(`${name} listens`, async () => (await post({})) === 401, 60_000);
        expect([await post(signed(body)), await post(signed(body))]).toEqual([204, 204]);
        const other = `whsec_${randomBytes(32).toString("base64")}`;
        const late = Date.now() - 400_000;
        expect(await post(signed(body, { by: other }))).toBe(401);
        expect(await post(signed(body), body.replace("7", "8"))).toBe(401);
        expect(await post(signed(body, { atMs: late }))).toBe(401);
        expect(await post({ ...signed(body), "webhook-id": "e2" })).toBe(401);
        expect(await post({ ...signed(body), "webhook-signature": "" })).toBe(401);
        expect(await post({ ...signed(body), "webhook-timestamp": "soon" })).toBe(401);
      } finally {
        child.kill();
        await child.exited;
      }
      const said = await new Response(child.stdout).text();
      expect(said.split("transaction.confirmed").length - 1).toBe(1);
    },
    240_000,
  );
}
