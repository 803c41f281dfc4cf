import type { NameSuffix } from "@sluice/wire";

/** What is wrong with an account that stands where a name's registry belongs. */
export type Flaw =
  /** It names another parent than the one its address follows from. */
  | "parent"
  /** Another program owns it. */
  | "program"
  /** It is shorter than its layout. */
  | "truncated"
  /** It was closed: an account of the system program without data. */
  | "closed"
  /** It has room and no owner, as a registry that was deleted in place. */
  | "unowned"
  /** A handle's account that carries another handle's name. */
  | "name";

export interface DomainEntry {
  readonly suffix: NameSuffix;
  /** From the one below the suffix down. */
  readonly labels: readonly string[];
  /** Whose it is; the same text is the same key pair on every development chain. */
  readonly owner: string;
  /** Its owner is an address that nobody can sign for. */
  readonly token?: boolean;
  readonly flaw?: Flaw;
}

export interface HandleEntry {
  readonly handle: string;
  readonly owner: string;
  readonly flaw?: Flaw;
}

/** Domains of the development chain. One label has different owners under different suffixes, as on a real chain. */
export const domains: readonly DomainEntry[] = [
  { suffix: "x1", labels: ["alice"], owner: "alice" },
  { suffix: "x1", labels: ["alice", "blog"], owner: "alice" },
  { suffix: "x1", labels: ["alice", "blog", "drafts"], owner: "bob" },
  { suffix: "xnt", labels: ["alice"], owner: "carol" },
  { suffix: "xen", labels: ["alice"], owner: "dave" },
  { suffix: "x1", labels: ["bob"], owner: "bob" },
  { suffix: "x1", labels: ["jack"], owner: "jack" },
  { suffix: "x1", labels: ["under_score"], owner: "carol" },
  { suffix: "x1", labels: ["münchen"], owner: "carol" },
  { suffix: "x1", labels: ["💎"], owner: "dave" },
  { suffix: "xnt", labels: ["treasury"], owner: "treasury", token: true },
  { suffix: "x1", labels: ["misplaced"], owner: "mallory", flaw: "parent" },
  { suffix: "x1", labels: ["foreign"], owner: "mallory", flaw: "program" },
  { suffix: "x1", labels: ["cut"], owner: "mallory", flaw: "truncated" },
  { suffix: "x1", labels: ["closed"], owner: "mallory", flaw: "closed" },
  { suffix: "x1", labels: ["deleted"], owner: "mallory", flaw: "unowned" },
  // Sound in themselves, under parents that are not.
  { suffix: "x1", labels: ["misplaced", "sub"], owner: "mallory" },
  { suffix: "x1", labels: ["foreign", "sub"], owner: "mallory" },
  { suffix: "x1", labels: ["closed", "sub"], owner: "mallory" },
  { suffix: "x1", labels: ["nobody", "sub"], owner: "mallory" },
];

export const handles: readonly HandleEntry[] = [
  { handle: "alice", owner: "alice" },
  { handle: "bob", owner: "bob" },
  { handle: "x1", owner: "carol" },
  { handle: "alice-bob", owner: "dave" },
  { handle: "stolen", owner: "mallory", flaw: "name" },
  { handle: "foreign", owner: "mallory", flaw: "program" },
  { handle: "cut", owner: "mallory", flaw: "truncated" },
  { handle: "closed", owner: "mallory", flaw: "closed" },
  { handle: "deleted", owner: "mallory", flaw: "unowned" },
];
