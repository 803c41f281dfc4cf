/**
 * The receiver of bench/webhooks, a process of its own: HTTPS on one port, which answers 200, or not at all below
 * `/hang`. It keeps when each delivery came, checks the signature of one in a hundred, and tells on request.
 */
import { createHmac } from "node:crypto";
import { ordersOf } from "../orders.ts";

interface Report {
  /** Unix milliseconds with fractions, by delivery. */
  readonly arrivals: readonly (readonly [string, number])[];
  readonly cpuMs: number;
  readonly badSignatures: number;
}

const [certificate = "", key = "", secret = ""] = Bun.argv.slice(2);
let arrivals: [string, number][] = [];
let badSignatures = 0;
let count = 0;

const nowMs = (): number => performance.timeOrigin + performance.now();

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  tls: { cert: Bun.file(certificate), key: Bun.file(key) },
  fetch: async (request) => {
    const at = nowMs();
    if (request.url.endsWith("/hang")) return await new Promise<never>(() => undefined);
    arrivals.push([request.headers.get("x-service-delivery-id") ?? "", at]);
    count += 1;
    const body = await request.text();
    if (count % 100 === 0) {
      const expected = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      if (request.headers.get("x-service-signature") !== expected) badSignatures += 1;
    }
    return new Response(null, { status: 200 });
  },
});

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
say({ port: server.port });
let cpuBefore = process.cpuUsage();
for await (const order of ordersOf<{ readonly report: true }>(Bun.stdin.stream())) {
  if (!order.report) continue;
  const { user, system } = process.cpuUsage(cpuBefore);
  const report: Report = { arrivals, cpuMs: (user + system) / 1_000, badSignatures };
  arrivals = [];
  cpuBefore = process.cpuUsage();
  say(report);
}
server.stop(true);
