import type { Address } from "@sluice/wire/identifiers";
import type { NameService } from "@sluice/wire/name-services";
import type { AccountView } from "./chain-reader.ts";
import type { NamesEvents } from "./events.ts";

export interface ProgramsOptions {
  /** In the order of preference. */
  readonly services: readonly NameService[];
  /** The operator's word; the chain is not asked then. */
  readonly nameProgram: Address | null;
  readonly handleProgram: Address | null;
}

/** A chain without handles may get them: asked again at most this often, in a call that is made anyway. */
const askAgainMs = 60_000;

type AccountAt = (address: Address) => AccountView | null | undefined;

/**
 * Which of the known programs the chain carries. It makes no call of its own: as long as something is unknown,
 * `questions` names the program accounts to add to a call for a name, and `learn` reads them from its answer.
 */
export class ProgramsFound {
  readonly #options: ProgramsOptions;
  readonly #events: NamesEvents;
  readonly #now: () => number;
  #nameProgram: Address | null;
  #handleProgram: Address | null;
  #askedAt: number | null = null;

  constructor(options: ProgramsOptions, dependencies: { readonly events: NamesEvents; readonly now: () => number }) {
    this.#options = options;
    this.#events = dependencies.events;
    this.#now = dependencies.now;
    this.#nameProgram = options.nameProgram;
    this.#handleProgram = options.handleProgram;
  }

  /** Name programs that a name may belong to: the chain's own, or every known one while that is unknown. */
  get namePrograms(): readonly Address[] {
    return this.#nameProgram === null ? this.#known("nameProgram") : [this.#nameProgram];
  }

  get handlePrograms(): readonly Address[] {
    return this.#handleProgram === null ? this.#known("handleProgram") : [this.#handleProgram];
  }

  /** The class under which the names of a program are kept as text; null when none is known. */
  reverseClassOf(nameProgram: Address): Address | null {
    return this.#options.services.find((service) => service.nameProgram === nameProgram)?.reverseClass ?? null;
  }

  /** Program accounts to ask for beside a name. */
  questions(): readonly Address[] {
    if (this.#nameProgram !== null && this.#handleProgram !== null) return [];
    const due = this.#askedAt === null || this.#now() - this.#askedAt >= askAgainMs;
    return [
      ...(this.#nameProgram === null ? this.namePrograms : []),
      ...(this.#handleProgram === null && due ? this.handlePrograms : []),
    ];
  }

  /** The chain's name program; null while none was seen. */
  get nameProgram(): Address | null {
    return this.#nameProgram;
  }

  get handleProgram(): Address | null {
    return this.#handleProgram;
  }

  /**
   * Learns from the answer to `questions`. Only an executable account counts: any account can send lamports to an
   * address.
   */
  learn(questions: readonly Address[], accountAt: AccountAt): void {
    const isThere = (program: Address): boolean =>
      questions.includes(program) && accountAt(program)?.executable === true;
    const first = this.#askedAt === null;
    if (questions.length > 0) this.#askedAt = this.#now();
    const names = this.#nameProgram === null ? this.namePrograms.filter(isThere) : [];
    const handles = this.#handleProgram === null ? this.handlePrograms.filter(isThere) : [];
    this.#nameProgram ??= names[0] ?? null;
    this.#handleProgram ??= handles[0] ?? null;
    if (names.length > 1) this.#events.severalServices(names.map((program) => this.#labelOf(program)));
    if ((first && questions.length > 0) || names.length > 0 || handles.length > 0) {
      this.#events.programsFound({ nameProgram: this.#nameProgram, handleProgram: this.#handleProgram });
    }
  }

  #known(kind: "nameProgram" | "handleProgram"): readonly Address[] {
    return this.#options.services.map((service) => service[kind]).filter((program) => program !== null);
  }

  #labelOf(program: Address): string {
    return this.#options.services.find((service) => service.nameProgram === program)?.label ?? program;
  }
}
