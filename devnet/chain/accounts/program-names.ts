/** Owners of accounts by number, so that a row names one in four bytes. A number is free again when no row holds it. */
export class ProgramNames {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #held: number[] = [];
  readonly #released: number[] = [];

  /** The program's number, held once more. */
  hold(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#released.pop() ?? this.#names.length;
      this.#numbers.set(name, number);
      this.#names[number] = name;
      this.#held[number] = 0;
    }
    this.#held[number] = (this.#held[number] ?? 0) + 1;
    return number;
  }

  release(number: number): void {
    const held = (this.#held[number] ?? 1) - 1;
    this.#held[number] = held;
    if (held > 0) return;
    this.#numbers.delete(this.name(number));
    this.#released.push(number);
  }

  /** How many rows hold the program. */
  held(number: number): number {
    return this.#held[number] ?? 0;
  }

  number(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  name(number: number): string {
    return this.#names[number] ?? "";
  }
}
