import { buildProgram } from "../program.ts";

export interface Outcome {
  readonly ok: boolean;
  /** What was printed, or the refusal. */
  readonly text: string;
  /** What of it went to standard error. */
  readonly aside: string;
}

/** Runs a command line in this process, as `main` does, on a machine without any setting. */
export const runProgram = (...args: readonly string[]): Promise<Outcome> => runProgramWith({}, ...args);

/** The same with settings in the environment; the working directory has no file of settings. */
export async function runProgramWith(env: Record<string, string>, ...args: readonly string[]): Promise<Outcome> {
  const said: string[] = [];
  const aside: string[] = [];
  const terminal = {
    out: (text: string) => void said.push(text),
    error: (text: string) => {
      said.push(text);
      aside.push(text);
    },
  };
  const program = buildProgram(terminal, { env, directory: "/nonexistent" });
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)]) {
    command.exitOverride();
  }
  try {
    await program.parseAsync([...args], { from: "user" });
    return { ok: true, text: said.join("\n"), aside: aside.join("\n") };
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error), aside: aside.join("\n") };
  }
}
