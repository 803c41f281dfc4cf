import type { Network } from "@sluice/contract/tiers";
import type { StoredHead } from "../head-codec.ts";

/** Where the records of one network are in JetStream. */
export interface StreamLayout {
  readonly stream: string;
  /** Begins every subject. */
  readonly root: string;
}

/** The header that holds a record's head, and that with the number of parts of a body that is too large for one. */
export const headers = { head: "Sluice-Head", parts: "Sluice-Parts" } as const;

export function layoutOf(network: Network, prefix: string): StreamLayout {
  const before = prefix === "" ? "" : `${prefix}-`;
  return { stream: `${before}chain-${network}`, root: `${before}chain.${network}` };
}

/** A record's own subject, so that the stream refuses it a second time. */
export function subjectOf({ root }: StreamLayout, head: StoredHead): string {
  switch (head.kind) {
    case "block":
      return `${root}.block.${head.header.slot}.${head.header.blockhash}`;
    case "stage":
      return `${root}.${head.stage}.${head.header.slot}.${head.header.blockhash}`;
    case "gap":
      return `${root}.gap.${head.from}.${head.to}`;
    case "floor":
      return `${root}.floor.${head.slot}`;
  }
}

/** Begins the subjects of a body's parts; bodies that differ, as of two nodes, have different parts. */
export const partsSubject = (blockSubject: string, digest: string): string =>
  `${blockSubject.replace(".block.", ".part.")}.${digest}`;

export const partSubject = (blockSubject: string, digest: string, part: number): string =>
  `${partsSubject(blockSubject, digest)}.${part}`;

/** The part of which a subject is; null for another one. `body` is what `partsSubject` gives. */
export function partIn(
  { root }: StreamLayout,
  subject: string,
): { readonly body: string; readonly number: number } | null {
  const end = subject.lastIndexOf(".");
  if (!subject.startsWith(`${root}.part.`)) return null;
  return { body: subject.slice(0, end), number: Number(subject.slice(end + 1)) };
}
