import type { Command } from "commander";
import { wordsOf } from "./arguments.ts";
import type { CommandContext } from "./context.ts";

/** Completion of the command line in three shells, written from the tree of commands, so that no word is missing. */

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

interface Flag {
  /** Every form, such as `-V` and `--version`. */
  readonly names: readonly string[];
  readonly takesValue: boolean;
  /** The values that it takes, where these are a list. */
  readonly choices: readonly string[];
  readonly description: string;
}

interface Place {
  /** The words before, such as `accounts create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  /** The values of the first argument, where these are a list. */
  readonly choices: readonly string[];
}

export function addCompletionCommand(program: Command, context: CommandContext): void {
  const completion = program.command("completion").description("print what completes commands in a shell");
  for (const shell of shells) {
    completion
      .command(shell)
      .description(`for ${shell}: ${installs[shell]}`)
      .action(() => context.terminal.out(writers[shell](placesOf(program)).trimEnd()));
  }
}

const installs: Readonly<Record<Shell, string>> = {
  bash: "source <(sluice completion bash), or into /etc/bash_completion.d/sluice",
  zsh: "into a file _sluice of a directory in $fpath",
  fish: "into ~/.config/fish/completions/sluice.fish",
};

/** Every command that is shown, the program first. */
function placesOf(command: Command, path = ""): readonly Place[] {
  const help = command.createHelp();
  const shown = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const place: Place = {
    path,
    commands: shown.map((each) => ({ name: each.name(), description: each.description() })),
    flags: help.visibleOptions(command).map((option) => ({
      names: [option.short, option.long].filter((name) => name !== undefined && name !== null),
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? wordsOf(option.parseArg),
      description: option.description,
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [place, ...shown.flatMap((each) => placesOf(each, `${path} ${each.name()}`.trim()))];
}

/** One word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A `case` over the path and what follows it; the last arm is for what no arm names. */
function cases(arms: readonly (readonly [pattern: string, body: string])[], last: string): string {
  return [...arms.map(([pattern, body]) => `    ${pattern}) ${body} ;;`), `    *) ${last} ;;`].join("\n");
}

/** Arms that list the values of each option that takes one; the option is the word behind the path. */
function valueArms(places: readonly Place[]): (readonly [string, string])[] {
  return places.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ names, choices }) =>
        names.map((name) => [quoted(`${path} ${name}`.trim()), `echo ${quoted(choices.join(" "))}`] as const),
      ),
  );
}

const pathArms = (places: readonly Place[]): (readonly [string, string])[] =>
  places.filter(({ path }) => path !== "").map(({ path }) => [quoted(path), "return 0"]);

/** What bash and zsh share: functions that say what is a command, what takes a value, and which. */
const shared = (places: readonly Place[]): string => `_sluice_is_command() {
  case "$1" in
${cases(pathArms(places), "return 1")}
  esac
}

# Prints the values of an option that takes one, none where any will do; fails for one that takes none.
_sluice_values() {
  case "$1" in
${cases(valueArms(places), "return 1")}
  esac
}`;

const header = (shell: Shell, sign = "#"): string =>
  `${sign} Completion of sluice for ${shell}, written by \`sluice completion ${shell}\`.`;

const wordArms = (places: readonly Place[]): (readonly [string, string])[] =>
  places.map(({ path, commands, choices, flags }) => {
    const words = [...commands.map(({ name }) => name), ...choices, ...flags.flatMap(({ names }) => names)];
    return [quoted(path), `echo ${quoted(words.join(" "))}`];
  });

const writeBash = (places: readonly Place[]): string => `${header("bash")}
${shared(places)}

_sluice_words() {
  case "$1" in
${cases(wordArms(places), ":")}
  esac
}

_sluice() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} path= word values skips= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    [[ $word == = ]] && continue
    if [[ -n $skips ]]; then skips=; continue; fi
    if _sluice_values "\${path:+$path }$word" > /dev/null; then skips=yes
    elif [[ $word != -* ]] && _sluice_is_command "\${path:+$path }$word"; then path="\${path:+$path }$word"
    fi
  done
  [[ $current == = ]] && current=
  [[ $before == = && $COMP_CWORD -ge 2 ]] && before=\${COMP_WORDS[COMP_CWORD - 2]}
  if values=$(_sluice_values "\${path:+$path }$before"); then
    if [[ -n $values ]]; then COMPREPLY=($(compgen -W "$values" -- "$current"))
    else COMPREPLY=($(compgen -f -- "$current"))
    fi
    return
  fi
  COMPREPLY=($(compgen -W "$(_sluice_words "$path")" -- "$current"))
}
complete -o filenames -o bashdefault -F _sluice sluice
`;

/** With \`:\` between word and description, which is how \`_describe\` takes them. */
const described = (word: string, description: string): string =>
  quoted(`${word.replaceAll(":", "\\:")}:${description.replaceAll("\n", " ")}`);

const zshArms = (places: readonly Place[]): (readonly [string, string])[] =>
  places.map(({ path, commands, choices, flags }) => {
    const words = [
      ...commands.map(({ name, description }) => described(name, description)),
      ...choices.map((choice) => described(choice, "")),
      ...flags.flatMap(({ names, description }) => names.map((name) => described(name, description))),
    ];
    return [quoted(path), `words_here=(${words.join(" ")})`];
  });

const writeZsh = (places: readonly Place[]): string => `#compdef sluice
${header("zsh")}
${shared(places)}

_sluice() {
  local at= word values skips= i
  local -a words_here
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $skips ]]; then skips=; continue; fi
    if _sluice_values "\${at:+$at }$word" > /dev/null; then skips=yes
    elif [[ $word != -* ]] && _sluice_is_command "\${at:+$at }$word"; then at="\${at:+$at }$word"
    fi
  done
  if values=$(_sluice_values "\${at:+$at }\${words[CURRENT - 1]}"); then
    if [[ -n $values ]]; then compadd -- \${=values}; else _files; fi
    return
  fi
  case "$at" in
${cases(zshArms(places), "return 1")}
  esac
  _describe sluice words_here
}
if [[ $funcstack[1] == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
`;

/** fish takes a backslash and a quote as they are written behind a backslash. */
const ofFish = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

function fishLines({ path, commands, choices, flags }: Place): string[] {
  const here = `complete -c sluice -n ${ofFish(`__sluice_at ${ofFish(path)}`)}`;
  return [
    ...commands.map(({ name, description }) => `${here} -f -a ${ofFish(name)} -d ${ofFish(description)}`),
    ...choices.map((choice) => `${here} -f -a ${ofFish(choice)}`),
    ...flags.map(({ names, takesValue, choices: values, description }) => {
      const forms = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
      const value = !takesValue ? [] : values.length === 0 ? ["-r"] : ["-x", "-a", ofFish(values.join(" "))];
      return [here, ...forms, ...value, "-d", ofFish(description)].join(" ");
    }),
  ];
}

const fishCases = (places: readonly Place[]): string => {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => ofFish(path));
  const valued = places.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ names }) => names.map((name) => ofFish(`${path} ${name}`.trim()))),
  );
  return `    switch "$next"
      case ${valued.join(" ")}
        set skips yes
      case ${paths.join(" ")}
        set at "$next"
    end`;
};

const writeFish = (places: readonly Place[]): string => `${header("fish")}
function __sluice_at
  set -l at ''
  set -l skips ''
  for word in (commandline -opc)[2..-1]
    if test -n "$skips"
      set skips ''
      continue
    end
    set -l next (string trim "$at $word")
${fishCases(places)}
  end
  test "$at" = "$argv[1]"
end

complete -c sluice -f
${places.flatMap(fishLines).join("\n")}
`;

const writers: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: writeBash,
  zsh: writeZsh,
  fish: writeFish,
};
