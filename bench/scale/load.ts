/**
 * The load, a separate process: keep-alive connections, each with one call under way at a time. Connections go to the
 * ports in turn, and have the keys in turn. Arguments: one JSON object (ScalePlan). A line on standard input begins the
 * counting, for the given time; then one JSON line (ScaleResult) is printed.
 */
export interface ScalePlan {
  readonly ports: readonly number[];
  readonly keys: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  readonly method: string;
  /** JSON text. */
  readonly params: string;
}

export interface ScaleResult {
  readonly calls: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were no result while it counted; the last of them, or how a connection ended. */
  readonly refused: number;
  readonly fault: string | null;
}

const plan = JSON.parse(process.argv[2] ?? "{}") as ScalePlan;
const body = `{"jsonrpc":"2.0","id":1,"method":"${plan.method}","params":${plan.params}}`;
const latencies: number[] = [];
let isCounting = false;
let isOver = false;
let fault: string | null = null;
let refused = 0;

function requestOf(key: string): string {
  const head = `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-API-Key: ${key}\r\n`;
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

async function open(index: number): Promise<void> {
  const request = requestOf(plan.keys[index % plan.keys.length] ?? "");
  let text = "";
  let sentAt = 0;
  const send = (socket: Bun.Socket<undefined>): void => {
    sentAt = performance.now();
    socket.write(request);
  };
  await Bun.connect<undefined>({
    hostname: "127.0.0.1",
    port: plan.ports[index % plan.ports.length] ?? 0,
    socket: {
      open: send,
      data: (socket, bytes) => {
        text += bytes.toString("latin1");
        const split = text.indexOf("\r\n\r\n");
        const length = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? Number.NaN);
        if (split < 0 || !(text.length >= split + 4 + length)) return;
        const isGood = text.startsWith("HTTP/1.1 200") && text.includes('"result"');
        if (isCounting && isGood) latencies.push(performance.now() - sentAt);
        else if (isCounting) {
          refused += 1;
          fault = text.slice(0, 600);
        }
        text = "";
        if (isOver) socket.end();
        else send(socket);
      },
      close: () => {
        if (!isOver) fault ??= "a connection was closed";
      },
      error: (_socket, error) => {
        fault ??= error.message;
      },
    },
  });
}

await Promise.all(Array.from({ length: plan.connections }, (_, index) => open(index)));
for await (const _ of Bun.stdin.stream()) break;
isCounting = true;
const startedAt = performance.now();
await Bun.sleep(plan.seconds * 1_000);
const seconds = (performance.now() - startedAt) / 1_000;
isCounting = false;
isOver = true;
const sorted = latencies.toSorted((left, right) => left - right);
const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
const result: ScaleResult = { calls: sorted.length, seconds, p50Ms: at(0.5), p99Ms: at(0.99), refused, fault };
console.log(JSON.stringify(result));
process.exit(0);
