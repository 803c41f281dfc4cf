import { connect } from "node:net";

export interface RunningChild {
  readonly pid: number;
  readonly isOver: () => boolean;
  /** The next line of its standard output; throws when it ends first. */
  readonly line: () => Promise<string>;
  readonly write: (text: string) => void;
  readonly stop: () => Promise<void>;
  /** SIGKILL, as a host dies. */
  readonly kill: () => Promise<void>;
}

const stopMs = 10_000;
const startMs = 30_000;

/**
 * A child process whose standard input ends with this one, stopped by SIGTERM and, when that does not help, SIGKILL.
 */
export function spawnChild(command: string[], environment: Record<string, string> = {}): RunningChild {
  const child = Bun.spawn(command, {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, ...environment },
  });
  const lines = linesOf(child.stdout);
  return {
    pid: child.pid,
    isOver: () => child.exitCode !== null || child.signalCode !== null,
    line: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${command[0]} ended before it said anything`);
      return value;
    },
    write: (text) => {
      child.stdin.write(text);
      child.stdin.flush();
    },
    stop: async () => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
      await child.exited;
      clearTimeout(timer);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/** Resolves when something listens; throws when the child ends or does not listen in time. */
export async function waitForPort(port: number, child: RunningChild): Promise<void> {
  for (const until = Date.now() + startMs; Date.now() < until; await Bun.sleep(20)) {
    if (child.isOver()) throw new Error("the program ended before it listened");
    if (await canConnect(port)) return;
  }
  await child.stop();
  throw new Error("the program did not listen in time");
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
