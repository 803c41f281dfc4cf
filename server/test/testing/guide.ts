/** Follows a guide as its reader does: every command and sample of its Markdown, in order, in a fresh folder. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { descendants, freePortOffset, isAlive, plainEnvironment, root } from "./network.ts";

/** A fenced block of a page, with what the comment above it tells the follower. */
export interface Block {
  /** The line of the opening fence, from 1. */
  readonly line: number;
  /** `sh`, `ts` and `js` are executed, `json` is compared or read, `text` is not for execution; empty is a mistake. */
  readonly language: string;
  readonly text: string;
  /** Why it cannot be executed; null when it can. */
  readonly notRun: string | null;
  /** The file that the reader makes of it. */
  readonly saveAs: string | null;
  /** Whether it is what the command above answers. */
  readonly isAnswer: boolean;
}

/** The fenced blocks of a page, in their order. */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const opening = /^```(\w*)\s*$/.exec(lines[at] ?? "");
    if (opening === null) continue;
    const end = lines.indexOf("```", at + 1);
    if (end < 0) throw new Error(`the block at line ${at + 1} has no end`);
    const above = lines.slice(0, at).findLast((line) => line.trim() !== "") ?? "";
    const comment = /^<!-- (.+) -->$/.exec(above.trim())?.[1] ?? "";
    blocks.push({
      line: at + 1,
      language: opening[1] ?? "",
      text: lines.slice(at + 1, end).join("\n"),
      notRun: /^not run: (.+)$/.exec(comment)?.[1] ?? null,
      saveAs: /^save as: ([\w.-]+)$/.exec(comment)?.[1] ?? null,
      isAnswer: comment === "answer",
    });
    at = end;
  }
  return blocks;
}

const ports = [8899, 8900, 7435, 7440, 7441, 7450, 8691, 9464];
/** A command that stays in the foreground: the reader leaves it running and goes on in a second terminal. */
const serverPattern = /^(npm start\b|npx sluice (dev|serve|resolver)\b)/;
/** A block may have a dozen commands, each a process of its own, beside other tests. */
const blockTimeoutMs = 180_000;

/** What `npx sluice` runs, without the half second of processor that npx takes to find it. */
const found = `npx() { if [ "$1" = sluice ]; then shift; sh bin/sluice "$@"; else command npx "$@"; fi; }`;

/**
 * Around each block: a failure of any command fails it, variables last to the next block as they do in a terminal, and
 * an HTTP answer of 400 or more counts as a failure, which a reader would see. A 503 is asked again when it says so, as
 * a reader would.
 */
const wrapped = (text: string, usesNpx: boolean): string => `set -euo pipefail; set -a
if [ -f .terminal ]; then . ./.terminal; fi
curl() { command curl --silent --show-error --fail --retry 3 --max-time 20 "$@"; }
${usesNpx ? "" : found}
${text}
unset -f curl npx
export -p > .terminal
`;

interface Ran {
  readonly out: string;
  readonly error: string;
  readonly code: number;
}

/** A clone of the repository that nobody has used yet, and the reader's terminals in it. */
export class GuideReader implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "sluice-guide-"));
  readonly #usesNpx: boolean;
  #offset = 0;
  #server: Bun.Subprocess | null = null;
  #said = "";
  #lastOut = "";

  private constructor(usesNpx: boolean) {
    this.#usesNpx = usesNpx;
  }

  /** With `usesNpx` npx itself finds the command. */
  static async open({ usesNpx }: { readonly usesNpx: boolean }): Promise<GuideReader> {
    const reader = new GuideReader(usesNpx);
    for (const name of readdirSync(root)) {
      if (!name.startsWith(".")) symlinkSync(join(root, name), join(reader.directory, name));
    }
    reader.#offset = await freePortOffset();
    return reader;
  }

  /** Does what a block says. Rejects with what went wrong, and where. */
  async follow(block: Block): Promise<void> {
    const text = this.#moved(block.text);
    try {
      if (block.saveAs !== null) writeFileSync(join(this.directory, block.saveAs), text);
      else if (block.language === "sh") await this.#shell(text);
      else if (block.language === "ts" || block.language === "js") await this.#sample(block.language, text);
      else if (block.isAnswer) requireLike(JSON.parse(this.#lastOut), JSON.parse(block.text), "the answer");
      else if (block.language === "json") JSON.parse(block.text);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`the ${block.language} block at line ${block.line}: ${why}\n${block.text}`);
    }
  }

  /** The addresses of the page are those of a server without an offset. */
  #moved(text: string): string {
    return text.replace(/:(\d{4})\b/g, (whole, port) => {
      return ports.includes(Number(port)) ? `:${Number(port) + this.#offset}` : whole;
    });
  }

  async #shell(text: string): Promise<void> {
    const lines = text.split("\n");
    const at = lines.findIndex((line) => serverPattern.test(line));
    if (at < 0) return await this.#run(text);
    if (lines.slice(at + 1).some((line) => line.trim() !== ""))
      throw new Error("commands follow one that does not end");
    if (at > 0) await this.#run(lines.slice(0, at).join("\n"));
    await this.#endServer();
    await this.#startServer(lines[at] ?? "");
  }

  async #run(text: string): Promise<void> {
    const { code, out, error } = await this.#execute(["bash", "-c", wrapped(text, this.#usesNpx)]);
    this.#lastOut = out;
    if (code !== 0) throw new Error(`ended with ${code}: ${out}${error}${this.#said.slice(-2_000)}`);
  }

  async #sample(language: "ts" | "js", text: string): Promise<void> {
    const path = join(this.directory, language === "ts" ? "sample.ts" : "sample.mjs");
    writeFileSync(path, text);
    const { code, out, error } = await this.#execute([language === "ts" ? process.execPath : "node", path]);
    this.#lastOut = out;
    if (code !== 0) throw new Error(`ended with ${code}: ${out}${error}${this.#said.slice(-2_000)}`);
  }

  async #execute(command: string[]): Promise<Ran> {
    const child = Bun.spawn(command, {
      cwd: this.directory,
      env: this.#environment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: blockTimeoutMs,
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out, error };
  }

  #environment(): Record<string, string> {
    return plainEnvironment({ PORT_OFFSET: String(this.#offset), NO_COLOR: "1" });
  }

  async #startServer(command: string): Promise<void> {
    const file = join(this.directory, ".sluice", "dev.json");
    const before = existsSync(file) ? readFileSync(file, "utf8") : null;
    const child = Bun.spawn(["bash", "-c", `set -a; if [ -f .terminal ]; then . ./.terminal; fi; ${command}`], {
      cwd: this.directory,
      env: this.#environment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#server = child;
    this.#said = "";
    void this.#listen(child.stdout);
    void this.#listen(child.stderr);
    const isDev = !/sluice (serve|resolver)/.test(command);
    const port = (command.includes("sluice resolver") ? 8691 : 8899) + this.#offset;
    await eventually(
      `the start of '${command}'`,
      async () => {
        if (child.exitCode !== null) return true;
        if (isDev && (!existsSync(file) || readFileSync(file, "utf8") === before)) return false;
        return await fetch(`http://127.0.0.1:${port}/health`).then(
          (response) => response.status < 600,
          () => false,
        );
      },
      blockTimeoutMs,
    );
    if (child.exitCode !== null) throw new Error(`'${command}' ended with ${child.exitCode}: ${this.#said}`);
  }

  async #listen(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of stream) this.#said = (this.#said + decoder.decode(part, { stream: true })).slice(-50_000);
  }

  /** Ctrl-C reaches every process of a terminal. */
  async #endServer(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const family = [server.pid, ...descendants(server.pid)];
    for (const pid of family) if (isAlive(pid)) process.kill(pid, "SIGINT");
    await eventually("the end of a server", () => !family.some(isAlive), 20_000).catch(() => {
      for (const pid of family) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endServer();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Each member of the expected value is in the actual one and equal, but for a text with an ellipsis: any text. */
function requireLike(actual: unknown, expected: unknown, at: string): void {
  if (typeof expected === "string" && expected.includes("…")) {
    if (typeof actual !== "string") throw new Error(`${at} is ${JSON.stringify(actual)}, not a text`);
    return;
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof actual !== "object" || actual === null) throw new Error(`${at} is ${JSON.stringify(actual)}`);
    for (const [name, value] of Object.entries(expected))
      requireLike(Reflect.get(actual, name), value, `${at}.${name}`);
    return;
  }
  if (actual !== expected) throw new Error(`${at} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}
