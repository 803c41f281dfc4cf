/** How many there are of what follows: told by a number before it, fixed by the interface, or up to the end. */
export type CountOf =
  | { readonly kind: "prefix"; readonly bytes: number; readonly bigEndian: boolean }
  | { readonly kind: "short" }
  | { readonly kind: "fixed"; readonly count: number }
  | { readonly kind: "rest" };

/** The type of an argument, whichever form of file states it. */
export type IdlType =
  | { readonly kind: "number"; readonly bytes: number; readonly signed: boolean; readonly bigEndian: boolean }
  | { readonly kind: "short" }
  | { readonly kind: "float"; readonly bytes: 4 | 8; readonly bigEndian: boolean }
  | { readonly kind: "bool"; readonly bytes: number }
  | { readonly kind: "address" }
  | { readonly kind: "text" | "bytes"; readonly size: CountOf }
  | { readonly kind: "list"; readonly item: IdlType; readonly count: CountOf }
  /** A fixed one takes its room also where it is none. */
  | { readonly kind: "option"; readonly item: IdlType; readonly bytes: number; readonly isFixed: boolean }
  | { readonly kind: "map"; readonly key: IdlType; readonly value: IdlType; readonly count: CountOf }
  | { readonly kind: "fields"; readonly fields: readonly IdlField[] }
  | { readonly kind: "tuple"; readonly items: readonly IdlType[] }
  | { readonly kind: "choice"; readonly bytes: number; readonly variants: readonly IdlVariant[] }
  /** A type of the file by its name. */
  | { readonly kind: "named"; readonly name: string }
  /** One that nothing here reads; what has it is told without its arguments. */
  | { readonly kind: "unread" };

export interface IdlField {
  readonly name: string;
  readonly type: IdlType;
}

interface IdlVariant {
  readonly name: string;
  /** The number by which data have it. */
  readonly number: number;
  /** Null where it has no value. */
  readonly value: IdlType | null;
}

/** Bytes by which an instruction is known. */
export interface IdlMark {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface IdlInstruction {
  readonly name: string;
  readonly marks: readonly IdlMark[];
  /** All of the data in order; what is not shown is what it is known by. */
  readonly fields: readonly (IdlField & { readonly isShown: boolean })[];
  /** In order. */
  readonly accounts: readonly IdlAccount[];
  /** Whether an optional account that is not given has no place; else the program's own address stands there. */
  readonly dropsOptional: boolean;
}

export interface IdlAccount {
  readonly name: string;
  readonly isOptional: boolean;
}

/** What a file says of one program. */
export interface IdlProgram {
  readonly address: string;
  readonly name: string;
  readonly instructions: readonly IdlInstruction[];
  readonly types: ReadonlyMap<string, IdlType>;
}
