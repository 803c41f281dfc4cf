import { isAddress } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import { decodeArguments } from "./decode.ts";
import { FileValue, IdlFault, idlLimits } from "./file-value.ts";
import { readAnchor } from "./read-anchor.ts";
import { readCodama } from "./read-codama.ts";
import type { IdlInstruction, IdlProgram } from "./types.ts";

/** An instruction as a file of its program tells it. */
interface DecodedInstruction {
  readonly program: string;
  readonly name: string;
  /** Null where the data are not of the form that the file states. */
  readonly args: { readonly [name: string]: JsonValue } | null;
  /** Addresses by the names of the file; accounts beyond them have none, nor have optional ones that are not given. */
  readonly accounts: { readonly [name: string]: string };
}

/** An instruction of a transaction. */
interface PlainInstruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

interface Known {
  readonly program: IdlProgram;
  /** Those with more bytes to be known by first. */
  readonly instructions: readonly IdlInstruction[];
}

/**
 * Programs of the files of an operator: instructions that no code of Sluice knows get names, named arguments and named
 * accounts. Types of transactions do not change by them: what a program does is not in such a file.
 */
export class IdlPrograms {
  readonly #programs = new Map<string, Known>();

  /**
   * @param programs - one for each address; of two the last one stands
   */
  constructor(programs: readonly IdlProgram[]) {
    const markedBytes = ({ marks }: IdlInstruction): number => marks.reduce((sum, { bytes }) => sum + bytes.length, 0);
    for (const program of programs) {
      const instructions = program.instructions.toSorted((one, other) => markedBytes(other) - markedBytes(one));
      this.#programs.set(program.address, { program, instructions });
    }
  }

  get size(): number {
    return this.#programs.size;
  }

  /** The name of an instruction; null where no file tells it. */
  nameOf(programId: string, data: Uint8Array): string | null {
    return find(this.#programs.get(programId), data)?.name ?? null;
  }

  /** Never throws, whatever the data are. */
  decode({ programId, accounts, data }: PlainInstruction): DecodedInstruction | null {
    const known = this.#programs.get(programId);
    const instruction = find(known, data);
    if (known === undefined || instruction === undefined) return null;
    return {
      program: known.program.name,
      name: instruction.name,
      args: decodeArguments(known.program, instruction, data),
      accounts: namedAccounts(instruction, programId, accounts),
    };
  }
}

function namedAccounts(
  { accounts: stated, dropsOptional }: IdlInstruction,
  programId: string,
  given: readonly string[],
): { readonly [name: string]: string } {
  const named: [string, string][] = [];
  // Of optional accounts without places, the first ones are there: as many as there are more than has to be.
  let optional = given.length - stated.filter(({ isOptional }) => !isOptional).length;
  let at = 0;
  for (const { name, isOptional } of stated) {
    if (at >= given.length) break;
    if (isOptional && dropsOptional) {
      optional -= 1;
      if (optional < 0) continue;
    }
    const address = given[at] ?? "";
    at += 1;
    if (!isOptional || dropsOptional || address !== programId) named.push([name, address]);
  }
  return Object.fromEntries(named);
}

export const noPrograms = new IdlPrograms([]);

const find = (known: Known | undefined, data: Uint8Array): IdlInstruction | undefined =>
  known?.instructions.find(({ marks }) => marks.every((mark) => isAt(data, mark)));

function isAt(data: Uint8Array, { offset, bytes }: { offset: number; bytes: Uint8Array }): boolean {
  for (let at = 0; at < bytes.length; at += 1) if (data[offset + at] !== bytes[at]) return false;
  return true;
}

/**
 * Reads a file: of Anchor in its form before version 0.30 or since, or a root node of Codama.
 *
 * @param address - of the program, where an old file of Anchor does not name it; null where nothing does
 * @throws {IdlFault} with the path in the file
 */
export function readIdl(text: string, address: string | null): readonly IdlProgram[] {
  if (text.length > idlLimits.bytes) throw new IdlFault("", `must have at most ${idlLimits.bytes} bytes`);
  const file = new FileValue(parseJson(text), "");
  if (!file.isObject) throw file.fault("must be a JSON object");
  const programs =
    file.member("kind").value === "rootNode" ? readCodama(file) : [readAnchor(file, addressIn(file, address))];
  for (const program of programs) {
    if (!isAddress(program.address)) throw new IdlFault("", `names no address of a program: ${program.address}`);
  }
  return programs;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new IdlFault("", `is no JSON: ${error instanceof Error ? error.message : "it cannot be read"}`);
  }
}

function addressIn(file: FileValue, address: string | null): string {
  const metadata = file.member("metadata");
  const stated = [file.member("address"), ...(metadata.isObject ? [metadata.member("address")] : [])];
  const found = stated.find(({ isThere }) => isThere)?.text() ?? address;
  if (found === null) throw file.fault("names no address; name it <address>.json");
  return found;
}
