/** JSON lines of a parent's, one by one, until it ends. */
export async function* ordersOf<T>(stream: ReadableStream<Uint8Array>): AsyncGenerator<T, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as T;
  }
}

/** A program of a benchmark in a process of its own, with orders to it and answers of it as lines of JSON. */
export function startOrdered<Order, Answer>(path: string, args: readonly string[]) {
  const child = Bun.spawn([process.execPath, path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = ordersOf<Record<string, Answer>>(child.stdout);
  return {
    pid: child.pid,
    next: async () => (await lines.next()).value ?? {},
    order: (order: Order) => {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      child.stdin.flush();
    },
    end: async () => {
      child.kill();
      await child.exited;
    },
  };
}
