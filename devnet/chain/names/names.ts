import type { NameSuffix } from "@sluice/wire/name-services";

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
  /** Whose it is: an address, or the name of a key pair, which is the same on every development chain. */
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

/** Names as a genesis file gives them. */
export interface NameEntries {
  readonly domains: readonly DomainEntry[];
  readonly handles: readonly HandleEntry[];
}
