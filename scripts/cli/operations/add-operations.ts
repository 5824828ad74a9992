import { type Command, Option } from 'commander'
import { MODES } from '#shared/domain/enumerations.ts'
import { wholeNumber } from '../text/whole-number.ts'
import { addWalletFundsCommand } from '../wallet-funds.ts'
import { addFlags, fieldsOf, isScoped } from './input-flags.ts'
import type { Operation } from './operation.ts'
import { proceduresOf, runOperation } from './run-operation.ts'
import { GROUPS, OPERATIONS } from './table.ts'

/** Adds every command of the table, with flags from the inputs of its procedures, and `wallet funds`, which reads many pages. */
export function addOperations(program: Command): void {
  for (const [group, help] of Object.entries(GROUPS)) {
    const parent = program.command(group).description(help)
    for (const [words, operation] of Object.entries(OPERATIONS)) {
      const [first, name = ''] = words.split(' ')
      if (first === group) addOperation(parent.command(name, { isDefault: words === 'go-live check' }), operation)
    }
    if (group === 'wallet') addWalletFundsCommand(parent)
  }
}

const parseSeconds = wholeNumber(/^\d{1,4}$/, 'a whole number of seconds')

function addOperation(command: Command, operation: Operation): void {
  const { procedure, help, operands = [], about, isList, mode, takesMode, dryRun, flags } = operation
  command.description(help)
  const fields = proceduresOf(operation).flatMap((one) => fieldsOf(one, flags))
  for (const operand of operands) {
    const field = fields.find(({ path }) => path.join('.') === operand)
    command.argument(`<${operand}>`, field?.choices?.join(', ') ?? '')
  }
  if (about === undefined && isScoped(procedure)) {
    const workspace = new Option('--workspace <id>', isList ? 'only of this workspace' : 'workspace it concerns')
    command.addOption(isList ? workspace : workspace.makeOptionMandatory())
    const modes = new Option('--mode <mode>', isList ? 'only of this mode' : 'live or test').choices(MODES)
    command.addOption(mode !== undefined ? modes.default(mode) : isList ? modes : modes.makeOptionMandatory())
  }
  if (takesMode)
    command.addOption(new Option('--mode <mode>', 'for endpoints of both modes (default: test)').choices(MODES))
  addFlags(
    command,
    operation.with === undefined ? fields : fields.map((one) => ({ ...one, isRequired: false })),
    operands,
  )
  if (dryRun !== undefined) command.option('--dry-run', 'show what it concerns, or the effect; change nothing')
  if (operation.waits) {
    const help = 'how long to wait for the request before leaving it to the scanner'
    command.option('--wait <seconds>', help, parseSeconds, 15)
  }
  command.option('--json', 'print one JSON value: the output of the procedure')
  command.action(() => runOperation(command, operation))
}
