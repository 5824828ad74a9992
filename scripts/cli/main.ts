import { Command, CommanderError } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { addBackupCommands } from './backup.ts'
import { addChainCommands } from './chain.ts'
import { addCheckBooksCommand } from './check-books.ts'
import { addDeliveryCommands } from './delivery.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEndpointCommands } from './endpoint.ts'
import { addExceptionCommands } from './exceptions.ts'
import { addInvoiceCommands } from './invoice.ts'
import { addKeyCommands } from './key.ts'
import { addKeysCommands } from './keys.ts'
import { addMigrateCommand } from './migrate.ts'
import { addOperatorCommands } from './operator.ts'
import { addPayCommand } from './pay.ts'
import { addPaymentCommand } from './payment.ts'
import { addRestoreCommands } from './restore.ts'
import { addTxCommand } from './tx.ts'
import { addVerifyAuditCommand } from './verify-audit.ts'
import { addWalletCommands } from './wallet.ts'
import { addWorkspaceCommands } from './workspace.ts'

/** The whole command tree of `paymesh`; each leaf takes `--json` and has `--help`. */
export function createProgram(): Command {
  const program = new Command('paymesh')
    .description('Operates a Paymesh installation: the one started here (.data), or the one MONGO_URL points at.')
    .option('--data <dir>', 'data folder of an installation that `npm start` runs (default: .data)')
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
  addWorkspaceCommands(program)
  addKeyCommands(program)
  addKeysCommands(program)
  addOperatorCommands(program)
  addWalletCommands(program)
  addInvoiceCommands(program)
  addTxCommand(program)
  addPaymentCommand(program)
  addExceptionCommands(program)
  addEndpointCommands(program)
  addDeliveryCommands(program)
  addChainCommands(program)
  addMigrateCommand(program)
  addBackupCommands(program)
  addRestoreCommands(program)
  addDoctorCommand(program)
  addVerifyAuditCommand(program)
  addCheckBooksCommand(program)
  addPayCommand(program)
  return program
}

/** Text for a person: the public message, then each offending field. */
function describeError(error: unknown): string {
  if (error instanceof PaymeshError) {
    const details = (error.details ?? []).map((detail) => `  ${detail.path}: ${detail.message}`)
    return [`${error.code}: ${error.message}`, ...details].join('\n')
  }
  return error instanceof Error ? error.message : String(error)
}

/** Runs one command line; returns the exit status. Errors go to stderr, as JSON when `--json` was given. */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    const text = args.includes('--json')
      ? JSON.stringify({
          error: {
            code: error instanceof PaymeshError ? error.code : 'ERROR',
            message: error instanceof Error ? error.message : String(error),
            details: error instanceof PaymeshError ? (error.details ?? []) : [],
          },
        })
      : describeError(error)
    process.stderr.write(`${text}\n`)
    return 1
  }
}
