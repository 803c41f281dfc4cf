import { join } from "node:path";

/** What a worker learns from its parent before it starts. */
export interface WorkerOrders {
  /** 0 runs the roles other than the gateway; those from 1 on serve the gateway. */
  readonly number: number;
  /** What is its own: a bundle of the console, the socket for commands. */
  readonly directory: string;
  readonly socketPath: string;
  /** Identifies this life of it wherever processes know of each other. */
  readonly processId: string;
  /** The life before, when that did not end in order. */
  readonly predecessor: string | null;
}

/** The line that a worker prints when it listens. */
export const openLine = '{"sluice_worker":"open"}';

export const writeOrders = (orders: WorkerOrders): string => JSON.stringify(orders);

/** @throws {TypeError} for text that are no orders: nobody but a parent starts a worker */
export function readOrders(line: string): WorkerOrders {
  const value: unknown = JSON.parse(line);
  if (typeof value === "object" && value !== null && "number" in value && "directory" in value) {
    const { number, directory, socketPath, processId, predecessor } = { socketPath: "", processId: "", ...value } as {
      [Member in keyof WorkerOrders]: unknown;
    };
    if (
      typeof number === "number" &&
      typeof directory === "string" &&
      typeof socketPath === "string" &&
      typeof processId === "string" &&
      (predecessor === null || typeof predecessor === "string")
    ) {
      return { number, directory, socketPath, processId, predecessor };
    }
  }
  throw new TypeError("these are no orders of a parent");
}

/**
 * The socket of a worker's turn. A worker and the one that takes over from it have different ones, and there are never
 * more than these two.
 */
export const socketOf = (directory: string, turn: number): string => join(directory, turn === 0 ? "a.sock" : "b.sock");
