import { BoundedMap } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import type { NameSuffix } from "@sluice/wire/name-services";
import { isOnCurve } from "@sluice/wire/program-address";
import { addressOfHandle, bytesOfAddress, NameTree } from "./addresses.ts";
import type { AccountView, ChainReader } from "./chain-reader.ts";
import { evaluateDomain, evaluateHandle, type NameVerdict } from "./evaluate.ts";
import type { NameOutcome, NameShape, Namespace } from "./name.ts";
import type { ProgramsFound } from "./programs-found.ts";

type WellFormed = Exclude<NameShape, { kind: "refused" }>;
type AccountAt = (address: Address) => AccountView | null | undefined;

/** Owners and handles of which something is remembered. */
const remembered = 8_192;

/** Where a name would lie under one program, and how its accounts there are evaluated. */
interface Candidate {
  readonly program: Address;
  readonly addresses: readonly Address[];
  readonly evaluate: (accountAt: AccountAt) => NameVerdict;
}

/**
 * Reads names from the chain: one getMultipleAccounts for a name, whatever its depth. While it is unknown which
 * programs the chain carries, the same call also asks for their accounts and for the name's place under each of them.
 */
export class NameLookup {
  readonly #reader: Pick<ChainReader, "getMultipleAccounts">;
  readonly #programs: ProgramsFound;
  readonly #trees = new Map<Address, NameTree>();
  readonly #handles = new BoundedMap<string, Address>({ max: remembered });
  readonly #wallets = new BoundedMap<string, boolean>({ max: remembered });

  constructor(dependencies: {
    readonly reader: Pick<ChainReader, "getMultipleAccounts">;
    readonly programs: ProgramsFound;
  }) {
    this.#reader = dependencies.reader;
    this.#programs = dependencies.programs;
  }

  tree(program: Address): NameTree {
    let tree = this.#trees.get(program);
    if (tree === undefined) {
      tree = new NameTree(program);
      this.#trees.set(program, tree);
    }
    return tree;
  }

  /** Asks which programs the chain carries, unless that is known; false when the node did not answer. */
  async findPrograms(): Promise<boolean> {
    const questions = this.#programs.questions();
    return questions.length === 0 || (await this.#ask(questions, [])) !== null;
  }

  async find(name: WellFormed): Promise<NameOutcome> {
    const questions = this.#programs.questions();
    const candidates = this.#candidates(name);
    const accountAt = await this.#ask(
      questions,
      candidates.flatMap((candidate) => candidate.addresses),
    );
    if (accountAt === null) return { kind: "failed", error: "rpc unreachable" };
    const candidate = this.#choose(name.kind, candidates, accountAt);
    if (candidate === undefined) return { kind: "absent", of: name.kind, programMissing: true };
    const verdict = candidate.evaluate(accountAt);
    if (verdict.kind === "absent") return { kind: "absent", of: name.kind, programMissing: false };
    if (verdict.kind === "malformed") return { kind: "failed", error: "malformed account" };
    const namespace: Namespace = name.kind === "handle" ? "handle" : name.suffix;
    const { owner } = verdict;
    const ownerOnCurve = this.#wallets.getOrCreate(owner, () => isOnCurve(bytesOfAddress(owner)));
    return { kind: "resolved", resolution: { name: name.name, namespace, owner, ownerOnCurve } };
  }

  async #ask(questions: readonly Address[], others: readonly Address[]): Promise<AccountAt | null> {
    const addresses = [...new Set([...questions, ...others])];
    const accounts = addresses.length === 0 ? [] : await this.#reader.getMultipleAccounts(addresses);
    if (accounts === null) return null;
    const byAddress = new Map(addresses.map((address, index) => [address, accounts[index]]));
    const accountAt: AccountAt = (address) => byAddress.get(address);
    this.#programs.learn(questions, accountAt);
    return accountAt;
  }

  #candidates(name: WellFormed): readonly Candidate[] {
    if (name.kind === "domain") {
      return this.#programs.namePrograms.map((program) => this.#domainCandidate(program, name.suffix, name.labels));
    }
    return this.#programs.handlePrograms.map((program) => {
      const address = this.#handles.getOrCreate(`${name.name}@${program}`, () => addressOfHandle(name.name, program));
      const evaluate = (accountAt: AccountAt): NameVerdict => evaluateHandle(name.name, program, accountAt(address));
      return { program, addresses: [address], evaluate };
    });
  }

  #domainCandidate(program: Address, suffix: NameSuffix, labels: readonly string[]): Candidate {
    const path = this.tree(program).path(suffix, labels);
    return { program, addresses: path.levels, evaluate: (accountAt) => evaluateDomain(path, program, accountAt) };
  }

  /**
   * The candidate of the program that the chain carries. Where no program account was seen (a node that prunes them,
   * say) an account that a program owns at an address derived from that program's id is as good a sign: no other
   * program can make one there.
   */
  #choose(kind: WellFormed["kind"], candidates: readonly Candidate[], accountAt: AccountAt): Candidate | undefined {
    const carried = kind === "domain" ? this.#programs.nameProgram : this.#programs.handleProgram;
    if (carried !== null) return candidates.find((candidate) => candidate.program === carried);
    return candidates.find(({ program, addresses }) =>
      addresses.some((address) => accountAt(address)?.program === program),
    );
  }
}
