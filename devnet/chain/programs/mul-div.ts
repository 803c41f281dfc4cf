import type { Label } from "./assembler/assembler.ts";
import type { Register } from "./assembler/instructions.ts";
import type { ProgramWriter } from "./program-writer.ts";
import { runtimeErrors } from "./runtime.ts";

/**
 * Exact `a * b / c` of unsigned 64-bit numbers with a 128-bit product, by schoolbook multiplication and 64 steps of
 * long division: about 700 compute units. A quotient of more than 64 bits, and a division by zero, end the call with
 * ArithmeticOverflow.
 */
export class MulDiv {
  readonly #writer: ProgramWriter;
  readonly #routine: Label;
  readonly #quotient: number;
  readonly #remainder: number;

  constructor(writer: ProgramWriter) {
    this.#writer = writer;
    this.#quotient = writer.slot();
    this.#remainder = writer.slot();
    this.#routine = writer.routine("mul-div", () => this.#body());
  }

  /** Puts a quotient of three slots into another. Spoils r0 to r5. */
  quotient(a: number, b: number, c: number, result: number, round: "down" | "up"): void {
    const { asm } = this.#writer;
    for (const [register, slot] of [
      ["r1", a],
      ["r2", b],
      ["r3", c],
    ] as const)
      asm.load(8, register, "r9", slot);
    asm.call(this.#routine);
    const overflow = this.#writer.failure(runtimeErrors.arithmeticOverflow);
    asm.branch("ne", "r0", 0, overflow);
    asm.load(8, "r1", "r9", this.#quotient);
    if (round === "up") {
      const exact = asm.label("exact");
      asm.load(8, "r2", "r9", this.#remainder);
      asm.branch("eq", "r2", 0, exact);
      asm.add("r1", 1);
      asm.branch("eq", "r1", 0, overflow);
      asm.place(exact);
    }
    asm.store(8, "r9", result, "r1");
  }

  #lowHalf(register: Register): void {
    this.#writer.asm.arithmetic("lsh", register, 32);
    this.#writer.asm.arithmetic("rsh", register, 32);
  }

  /** r1 * r2 as r1 (high) and r6 (low), of 32-bit halves. */
  #multiply(): void {
    const { asm } = this.#writer;
    asm.mov("r4", "r1");
    this.#lowHalf("r4");
    asm.arithmetic("rsh", "r1", 32);
    asm.mov("r5", "r2");
    this.#lowHalf("r5");
    asm.arithmetic("rsh", "r2", 32);
    asm.mov("r6", "r4");
    asm.arithmetic("mul", "r6", "r5");
    asm.mov("r7", "r4");
    asm.arithmetic("mul", "r7", "r2");
    asm.mov("r8", "r1");
    asm.arithmetic("mul", "r8", "r5");
    asm.arithmetic("mul", "r1", "r2");
    // What the low product and the low halves of both crossed ones put into the middle.
    asm.mov("r4", "r6");
    asm.arithmetic("rsh", "r4", 32);
    for (const crossed of ["r7", "r8"] as const) {
      asm.mov("r5", crossed);
      this.#lowHalf("r5");
      asm.add("r4", "r5");
      asm.arithmetic("rsh", crossed, 32);
      asm.add("r1", crossed);
    }
    this.#lowHalf("r6");
    asm.mov("r5", "r4");
    asm.arithmetic("lsh", "r5", 32);
    asm.arithmetic("or", "r6", "r5");
    asm.arithmetic("rsh", "r4", 32);
    asm.add("r1", "r4");
  }

  #body(): void {
    const { asm } = this.#writer;
    const [loop, subtract, next, overflow] = ["loop", "subtract", "next", "overflow"].map((name) =>
      asm.label(name),
    ) as [Label, Label, Label, Label];
    this.#multiply();
    asm.branch("ge", "r1", "r3", overflow);
    asm.mov("r7", 64);
    asm.place(loop);
    asm.mov("r8", "r1");
    asm.arithmetic("rsh", "r8", 63);
    asm.arithmetic("lsh", "r1", 1);
    asm.mov("r5", "r6");
    asm.arithmetic("rsh", "r5", 63);
    asm.arithmetic("or", "r1", "r5");
    asm.arithmetic("lsh", "r6", 1);
    // A bit shifted out means that the remainder is above any divisor.
    asm.branch("ne", "r8", 0, subtract);
    asm.branch("lt", "r1", "r3", next);
    asm.place(subtract);
    asm.arithmetic("sub", "r1", "r3");
    asm.arithmetic("or", "r6", 1);
    asm.place(next);
    asm.add("r7", -1);
    asm.branch("ne", "r7", 0, loop);
    asm.store(8, "r9", this.#quotient, "r6");
    asm.store(8, "r9", this.#remainder, "r1");
    asm.mov("r0", 0);
    asm.exit();
    asm.place(overflow);
    asm.mov("r0", 1);
    asm.exit();
  }
}
