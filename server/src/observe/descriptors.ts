import { readdirSync, readFileSync } from "node:fs";
import type { Clock, Timer } from "@sluice/lib";

/** The files and sockets that this process may open, and those that it has open. */
export interface Descriptors {
  /** Null where the system does not say it in /proc. */
  readonly limit: number | null;
  /** Null where the system does not say it in /proc. */
  readonly open: () => number | null;
}

/** The process's files and sockets run out. */
export interface DescriptorEvents {
  descriptorsScarce(fields: { readonly open: number; readonly limit: number }): void;
  descriptorsSufficient(fields: { readonly open: number; readonly limit: number }): void;
}

export function processDescriptors(): Descriptors {
  const limit = readLimit();
  return { limit, open: () => countOpen(limit) };
}

function readLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

function countOpen(limit: number | null): number | null {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch (error) {
    // To list them takes one.
    return error instanceof Error && "code" in error && error.code === "EMFILE" ? limit : null;
  }
}

/** To count 10,000 takes 3 ms. */
const countMs = 10_000;
const scarceShare = 0.9;
const sufficientShare = 0.8;

/**
 * Reports when nine tenths of the descriptors are open, and when it is less than eight again. Where none are left, no
 * call of the runtime says so: connections wait in the kernel.
 */
export function watchDescriptors(
  { limit, open }: Descriptors,
  { clock, events }: { readonly clock: Pick<Clock, "every">; readonly events: DescriptorEvents },
): Timer | null {
  if (limit === null) return null;
  let isScarce = false;
  return clock.every(countMs, () => {
    const share = (open() ?? 0) / limit;
    if (!isScarce && share >= scarceShare) events.descriptorsScarce({ open: Math.round(share * limit), limit });
    if (isScarce && share < sufficientShare) events.descriptorsSufficient({ open: Math.round(share * limit), limit });
    isScarce = share >= (isScarce ? sufficientShare : scarceShare);
  });
}
