import { createServer } from "node:net";

/** A server of another program, which ends with the tests however they end. */
export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  /** SIGSTOP makes it silent, SIGCONT lets it go on. */
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGHUP"): void;
}

/**
 * The shell ends the server when its own input ends, so that no server outlives the tests; when the shell itself is
 * killed, the system does.
 */
const supervise =
  'end=$1; shift; "$@" & server=$!; echo $server; read _; kill -CONT $server; kill -$end $server; wait $server';
const setpriv = Bun.which("setpriv");

/**
 * Starts a server, whose outputs are dropped. As root it runs as `user` when one is given, since some servers refuse to
 * run as root. It ends by `end`.
 */
export async function startServerProcess(
  command: readonly string[],
  options: { readonly user?: string; readonly end?: "KILL" | "QUIT"; readonly directory?: string } = {},
): Promise<ServerProcess> {
  const { user, end = "KILL", directory } = options;
  const bound = setpriv === null ? command : [setpriv, `--pdeathsig=${end}`, ...command];
  const words = user === undefined ? bound : asUser(user, bound);
  const child = Bun.spawn(["sh", "-c", `exec 2>/dev/null; ${supervise}`, "sh", end, ...words], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    ...(directory === undefined ? {} : { cwd: directory }),
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const pid = Number(
    Buffer.from(value ?? [])
      .toString()
      .split("\n")[0],
  );
  if (!Number.isSafeInteger(pid) || pid < 2) throw new Error(`${command[0]} did not start.`);
  return {
    pid,
    signal: (name) => process.kill(pid, name),
    [Symbol.asyncDispose]: async () => {
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** The command as another user's, where this one is root; as it is for any other user. */
export function asUser(user: string, command: readonly string[]): readonly string[] {
  if (process.getuid?.() !== 0) return command;
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", ...command];
}

/** A port of this machine that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("there is no free port");
  return address.port;
}
