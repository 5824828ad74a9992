import { Command, CommanderError } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { versionHere } from '../service/version-here.ts'
import { addApiKeyCommands } from './api-key.ts'
import { addAuditCommands } from './audit.ts'
import { addBackupCommands } from './backup.ts'
import { addChainCommands } from './chain.ts'
import { addDeliveryCommands } from './delivery.ts'
import { addDoctorCommand } from './doctor/command.ts'
import { addEndpointCommands } from './endpoint.ts'
import { addListenCommand } from './events/listen.ts'
import { addTriggerCommand } from './events/trigger.ts'
import { addExceptionCommands } from './exception.ts'
import { addGoLiveCommands } from './go-live.ts'
import { addInvoiceCommands } from './invoice.ts'
import { addMasterKeyCommands } from './master-key.ts'
import { addMigrateCommand } from './migrate.ts'
import { addOperatorCommands } from './operator.ts'
import { addPayCommand } from './pay.ts'
import { addPaymentCommand } from './payment.ts'
import { addReconcileCommand } from './reconcile.ts'
import { addServeCommand } from './serve.ts'
import { addTxCommand } from './tx.ts'
import { addWalletCommands } from './wallet.ts'
import { addWorkspaceCommands } from './workspace.ts'

/** The whole command tree of `paymesh`; each leaf has `--help`, and takes `--json` if it prints a value. */
export function createProgram(): Command {
  const program = new Command('paymesh')
    .description('Operates a Paymesh installation: the one started here (.data), or the one at MONGO_URL.')
    .version(versionHere(), '--version', 'print the version')
    .option('--data <dir>', 'data folder of an installation that `npm start` runs (default: .data)')
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
  addWorkspaceCommands(program)
  addApiKeyCommands(program)
  addMasterKeyCommands(program)
  addOperatorCommands(program)
  addWalletCommands(program)
  addInvoiceCommands(program)
  addTxCommand(program)
  addPaymentCommand(program)
  addExceptionCommands(program)
  addEndpointCommands(program)
  addDeliveryCommands(program)
  addListenCommand(program)
  addTriggerCommand(program)
  addChainCommands(program)
  addMigrateCommand(program)
  addServeCommand(program)
  addBackupCommands(program)
  addDoctorCommand(program)
  addGoLiveCommands(program)
  addAuditCommands(program)
  addReconcileCommand(program)
  addPayCommand(program)
  return program
}

/** Readable text: the public message, then each invalid field. */
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
