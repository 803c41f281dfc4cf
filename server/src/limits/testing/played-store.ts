import type { SharedStore } from "../shared-interfaces.ts";

type LeaseRequest = Parameters<SharedStore["leaseTokens"]>[1];

/** A lease that a process has asked for, and that a test answers. */
export interface AskedLease {
  readonly key: string;
  readonly request: LeaseRequest;
  /** Grants tokens, with so many left in the shared bucket. */
  readonly grant: (granted: number, left?: number) => Promise<void>;
  readonly fail: () => Promise<void>;
}

/** Shared buckets whose answers a test gives by hand, one by one. */
export class PlayedStore implements SharedStore {
  readonly leases: AskedLease[] = [];
  /** The times to live of all heartbeats so far, the last 0 where the process has ended. */
  readonly beats: number[] = [];
  replicas = 1;
  isLost = false;
  #heldBeats: (() => void)[] | null = null;

  leaseTokens(key: string, request: LeaseRequest): ReturnType<SharedStore["leaseTokens"]> {
    const { promise, resolve, reject } = Promise.withResolvers<{ granted: number; thousandths: number }>();
    const grant = async (granted: number, left = 0): Promise<void> => {
      resolve({ granted, thousandths: left * 1_000 });
      await turn();
    };
    const fail = async (): Promise<void> => {
      reject(new Error("out of reach"));
      await turn();
    };
    this.leases.push({ key, request, grant, fail });
    return promise;
  }

  async attend(_key: string, _holder: string, ttlMs: number): Promise<number> {
    this.beats.push(ttlMs);
    if (this.isLost) throw new Error("out of reach");
    const held = this.#heldBeats;
    if (held !== null) await new Promise<void>((resolve) => held.push(resolve));
    return this.replicas;
  }

  /** From now on heartbeats are not answered until the function that is returned is called. */
  holdBeats(): () => Promise<void> {
    const held: (() => void)[] = [];
    this.#heldBeats = held;
    return async () => {
      this.#heldBeats = null;
      for (const answer of held) answer();
      await turn();
    };
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
