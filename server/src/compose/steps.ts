import { invariant } from "@sluice/lib";

/**
 * One step of the start: opens one part from the parts that it needs. The types of a step allow it no other part, so
 * the table of steps states all dependencies.
 */
export interface Step<Parts, Shared> {
  readonly name: keyof Parts & string;
  readonly needs: readonly (keyof Parts & string)[];
  readonly open: (parts: Parts, shared: Shared) => unknown;
}

/** Gives the function that declares steps of one table. */
export function stepsOf<Parts, Shared>() {
  return <Name extends keyof Parts & string, Need extends keyof Parts & string = never>(
    name: Name,
    needs: readonly Need[],
    open: (parts: Pick<Parts, Need>, shared: Shared) => Parts[Name] | Promise<Parts[Name]>,
  ): Step<Parts, Shared> => ({ name, needs, open });
}

/**
 * Opens the parts one after the other, in the order of the table. Rejects with the error of the first step that fails.
 * @throws {InvariantError} when a step comes before one that it needs
 */
export async function runSteps<Parts extends object, Shared>(
  steps: readonly Step<Parts, Shared>[],
  shared: Shared,
): Promise<Parts> {
  // Empty until the steps have run; a step reads only the parts that it needs, which are set by then.
  const opened = {} as Parts;
  invariant(unmetNeeds(steps).length === 0, "a step of the start comes before one that it needs");
  for (const { name, open } of steps) {
    Reflect.set(opened, name, await open(opened, shared));
  }
  return opened;
}

/** The needs that no earlier step opens, as `step: need`. */
export function unmetNeeds(steps: readonly { readonly name: string; readonly needs: readonly string[] }[]): string[] {
  const opened = new Set<string>();
  return steps.flatMap(({ name, needs }) => {
    const unmet = needs.filter((need) => !opened.has(need)).map((need) => `${name}: ${need}`);
    opened.add(name);
    return unmet;
  });
}
