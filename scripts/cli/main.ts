import { TRPCError } from '@trpc/server'
import { Command, CommanderError } from 'commander'
import { errorText } from '#shared/contracts/error-text.ts'
import { type ErrorDetail, PaymeshError } from '#shared/contracts/errors.ts'
import { versionHere } from '../service/version-here.ts'
import { addAuditCommands } from './audit.ts'
import { addBackupCommands } from './backup.ts'
import { addDoctorCommand } from './doctor/diagnoses.ts'
import { addListenCommand } from './events/listen.ts'
import { addTriggerCommand } from './events/trigger.ts'
import { addMasterKeyCommands } from './master-key.ts'
import { addMigrateCommand } from './migrate.ts'
import { addOperations } from './operations/add-operations.ts'
import { addOperatorCommands } from './operator.ts'
import { addPayCommand } from './pay.ts'
import { addReconcileCommand } from './reconcile.ts'
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
  addMasterKeyCommands(program)
  addOperatorCommands(program)
  addOperations(program)
  addListenCommand(program)
  addTriggerCommand(program)
  addMigrateCommand(program)
  addServeCommand(program)
  addBackupCommands(program)
  addDoctorCommand(program)
  addAuditCommands(program)
  addReconcileCommand(program)
  addPayCommand(program)
  return program
}

/** An error with its code: our own, or of the procedure that refused. */
function reportOf(error: unknown): {
  readonly code: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
} {
  const own = error instanceof TRPCError && error.cause instanceof PaymeshError ? error.cause : error
  if (own instanceof PaymeshError) return { code: own.code, message: own.message, details: own.details ?? [] }
  const message = errorText(error)
  const code = error instanceof TRPCError && error.code !== 'INTERNAL_SERVER_ERROR' ? error.code : 'ERROR'
  return { code, message, details: [] }
}

/** Readable text: the public message, then each invalid field. */
function describeError(error: unknown): string {
  const { code, message, details } = reportOf(error)
  const head = code === 'ERROR' ? message : `${code}: ${message}`
  return [head, ...details.map((detail) => `  ${detail.path}: ${detail.message}`)].join('\n')
}

/** Runs one command line; returns the exit status. Errors go to stderr, as JSON when `--json` was given. */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    const text = args.includes('--json') ? JSON.stringify({ error: reportOf(error) }) : describeError(error)
    process.stderr.write(`${text}\n`)
    return 1
  }
}

/** `serve`: every process in one; it ends with its process. */
function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description(
      'Run everything in one process until SIGTERM: workers, REST API, checkout and dashboard, without Redis. Configured by its environment (.env.example).',
    )
    .action(async () => {
      // Loaded only for this command.
      const { runServe } = await import('../service/serve.ts')
      await runServe()
    })
}
