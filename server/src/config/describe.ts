import type { Config } from "./config.ts";
import { flagName, keyNames, keys, type Mode } from "./keys.ts";

/** What a server with a configuration would open, as the room that opens it says. */
export interface Opened {
  readonly endpoints: readonly {
    readonly name: string;
    /** What people are told. */
    readonly url: string;
    readonly listensAt: string;
    readonly protocol: string;
  }[];
  /** Those of the configuration's roles that run. */
  readonly roles: readonly string[];
}

/**
 * What `sluice config check` prints: the mode, the roles and the endpoints that would be opened, then each key with its
 * value, secrets masked, and where the value came from.
 */
export function describeConfig(config: Config, { endpoints, roles }: Opened): string {
  const width = Math.max(...config.settings.map(({ name }) => name.length));
  const lines = config.settings.map(({ name, shown, source }) => {
    const origin = source === "default" ? "" : `  (${source})`;
    return `${name.padEnd(width)}  ${shown ?? "-"}${origin}`;
  });
  const idle = config.roles.filter((role) => !roles.includes(role));
  const head = [
    `mode   ${config.mode}`,
    `roles  ${roles.length === 0 ? "none" : roles.join(", ")}`,
    ...(idle.length === 0
      ? []
      : [`       not run, since the configuration leaves them nothing to do: ${idle.join(", ")}`]),
  ];
  const names = Math.max(...endpoints.map(({ name }) => name.length));
  const opened = endpoints.map(({ name, url, listensAt, protocol }) => {
    const told = url === listensAt ? "" : `, told as ${url}`;
    return `opens  ${name.padEnd(names)}  ${listensAt}  (${protocol}${told})`;
  });
  return [...head, ...opened, "", ...lines, ""].join("\n");
}

/** Text for one cell of a Markdown table. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

function showDefault(defaults: { readonly [M in Mode]: string | null }): string {
  const code = (text: string | null): string => (text === null ? "none" : `\`${text}\``);
  return defaults.dev === defaults.serve
    ? code(defaults.dev)
    : `dev ${code(defaults.dev)}, serve ${code(defaults.serve)}`;
}

/** docs/reference/configuration.md, generated from the table of keys. */
export function renderConfigurationReference(): string {
  const lines = [
    "# Configuration",
    "",
    "A key is set in the environment, in a TOML file, or as a flag. The file is the one that `SLUICE_CONFIG` or `--config`",
    "names, else `sluice.toml` of the working directory where there is one. A flag overrides the environment, and the",
    "environment overrides the file. An empty value counts as none. `sluice config check` reads the whole configuration as",
    "`sluice serve` does (`--mode dev`: as `sluice dev`) without starting a server, and reports all of its faults.",
    "",
  ];
  for (const section of new Set(keyNames.map((name) => keys[name].section))) {
    lines.push(`## ${section}`, "");
    for (const name of keyNames) {
      const { toml, parser, defaults, flag, description, secrecy } = keys[name];
      if (keys[name].section !== section) continue;
      lines.push(`### ${name}`, "", description, "");
      lines.push("| | |", "|---|---|");
      lines.push(`| accepts | ${cell(parser.expects)} |`);
      lines.push(`| default | ${cell(showDefault(defaults))} |`);
      if (toml !== null) lines.push(`| in TOML | \`${toml}\` |`);
      if (flag) lines.push(`| flag | \`--${flagName(name)}\` |`);
      if (secrecy !== "open") lines.push("| secret | masked wherever it is shown; not accepted as a flag |");
      lines.push("");
    }
  }
  return lines.join("\n");
}
