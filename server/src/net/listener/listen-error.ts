import { createServer } from "node:net";
import { CodedError } from "@sluice/contract/errors";

/** A port that cannot be had, nearly always because another server has it. */
export class ListenError extends CodedError<"CANNOT_LISTEN", { readonly endpoint: string; readonly port: number }> {
  constructor(endpoint: string, port: number, cause: unknown) {
    const message = `The ${endpoint} endpoint cannot listen on port ${port}`;
    super("CANNOT_LISTEN", { message, details: { endpoint, port }, cause });
  }
}

/**
 * Runs what listens.
 *
 * @throws {ListenError} with the name and the port of the endpoint, when that throws.
 */
export function listening<T>(endpoint: string, port: number, listen: () => T): T {
  try {
    return listen();
  } catch (error) {
    throw new ListenError(endpoint, port, error);
  }
}

/** Ports that are free on loopback now, all different: for children that have to be found again after a restart. */
export async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    probes.map(
      (probe) =>
        new Promise<number>((resolve, reject) => {
          probe.once("error", reject);
          probe.listen(0, "127.0.0.1", () => {
            const address = probe.address();
            resolve(typeof address === "object" && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
}

const rangeAttemptsMax = 50;

/** The first of `count` ports in a row that are free on loopback now; throws when none are found in 50 attempts. */
export async function freePortRange(count: number): Promise<number> {
  for (let attempt = 0; attempt < rangeAttemptsMax; attempt += 1) {
    const [first = 0] = await freePorts(1);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if (first + count <= 65_536 && (await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
  throw new Error(`there are no ${count} free ports in a row`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return await new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
