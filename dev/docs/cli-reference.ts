import type { Command, Option } from 'commander'
import { createProgram } from '#scripts/cli/main.ts'
import { OPERATIONS } from '#scripts/cli/operations/table.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** Text of `docs/cli.md`: every command of `paymesh` with its operands and options, from the definitions of the program itself. */
export function cliReference(): string {
  const program = createProgram()
  return `# The command line

\`paymesh …\`, or \`npm run cli -- …\`, works on the installation of \`--data DIR\`, of the environment, or of \`.data\`. \`--json\` prints one JSON value;
errors go to stderr, with status 1. A command that names a procedure runs that procedure of the dashboard API: its options are the fields
of that input, and \`--json\` prints its output. It needs no log-in and no code, works in every workspace, also in suspended ones, and is
in the audit log as \`cli:USER\`.

${program.commands.map((command) => group(command)).join('\n')}`
}

function group(command: Command): string {
  const head = `## ${command.name()}\n\n${command.description()}\n`
  const leaves = command.commands.filter((child) => child.name() !== 'help')
  if (leaves.length === 0) return `${head}\n${body(command, command.name())}`
  return `${head}\n${leaves.map((leaf) => `### ${command.name()} ${leaf.name()}\n\n${leaf.description()}\n\n${body(leaf, `${command.name()} ${leaf.name()}`)}`).join('\n')}`
}

function body(command: Command, words: string): string {
  const operands = command.registeredArguments.map((operand) =>
    operand.required ? `<${operand.name()}>` : `[${operand.name()}]`,
  )
  const { procedure, also } = OPERATIONS[words] ?? {}
  const usage = `\`\`\`sh\npaymesh ${[words, ...operands].join(' ')}\n\`\`\`\n`
  const origin =
    procedure === undefined ? '' : `\nProcedure: \`${procedure}\`${also === undefined ? '' : ` and \`${also}\``}.\n`
  const rows = command.options.filter(({ hidden }) => !hidden).map(row)
  return `${usage}${origin}${rows.length === 0 ? '' : `\n| option | |\n|---|---|\n${rows.join('\n')}\n`}`
}

function row({ flags, description, mandatory, argChoices, defaultValue }: Option): string {
  const notes = [
    ...(mandatory ? ['required'] : []),
    ...(argChoices === undefined ? [] : [argChoices.map((choice) => `\`${choice}\``).join(', ')]),
    ...(defaultValue === undefined ? [] : [`default: \`${String(defaultValue)}\``]),
  ]
  return `| \`${cell(flags)}\` | ${cell([description, ...notes].join('; '))} |`
}
