import { type Command, Option } from 'commander'
import { GO_LIVE_LABELS as EN } from '#shared/contracts/go-live-labels.ts'
import type { GoLiveLine, GoLiveReport } from '#shared/contracts/go-live-report.ts'
import { ASSET_IDS, type AssetId, MODES, type Mode } from '#shared/domain/enumerations.ts'
import type { WorkspaceStatus } from '#shared/domain/workspace-status.ts'
import type { QueueNotifier } from '#shared/ports/runtime.ts'
import { readGoLive } from '#shared/usecases/golive/read-go-live.ts'
import {
  confirmAddress,
  sendTestMail,
  startGoLivePayment,
  stateMasterKey,
} from '#shared/usecases/golive/state-go-live.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoices/invoice-numbers.ts'
import { createQuotes } from '#shared/usecases/quotes/create-quotes.ts'
import { manualAction } from './session/actor.ts'
import { goLiveDeps } from './session/go-live-deps.ts'
import { type Installation, withInstallation } from './session/installation.ts'
import { requireWorkspace } from './session/require-workspace.ts'
import { withNotifier } from './session/with-notifier.ts'
import { type OutputOptions, print } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'

interface Scoped extends OutputOptions {
  readonly workspace: string
  readonly mode: Mode
}

const MARKS = { passed: '✓', failed: '✗', out_of_date: '↻', open: '·' } as const

type Deps = ReturnType<typeof depsOf>

function depsOf(installation: Installation & { readonly notifier: QueueNotifier }) {
  const invoicing = { ...installation, ...createQuotes(installation), numbers: createInvoiceNumbers(installation) }
  return { ...installation, ...goLiveDeps(installation), notifier: installation.notifier, invoicing }
}

/** Runs one step on the scope of the options, then shows all items. */
async function run(
  options: Scoped,
  step: (deps: Deps, scope: { workspaceId: string; mode: Mode }) => Promise<unknown>,
  worksWhile: WorkspaceStatus = 'restricted',
): Promise<void> {
  await withInstallation(async (installation) => {
    const workspace = await requireWorkspace(installation, options.workspace, worksWhile)
    await withNotifier(installation, async (connected) => {
      const deps = depsOf(connected)
      const scope = { workspaceId: workspace.id, mode: options.mode }
      await step(deps, scope)
      show(options, await readGoLive(deps, scope))
    })
  })
}

function show(options: OutputOptions, report: GoLiveReport): void {
  const { lines, passed, isReady } = report
  const text = [
    ...lines.map(describe),
    isReady ? 'Everything has passed.' : `${passed} of ${lines.length} passed.`,
  ].join('\n')
  print(options, snakeCase({ ready: isReady, passed, items: lines }), text)
  if (!isReady) process.exitCode = 1
}

function describe({ item, kind, state, at, by, reason, about, path, steps }: GoLiveLine): string {
  const words = EN.items[kind]
  const when = at === null || by === null ? '' : `, ${new Date(at).toISOString().slice(0, 16)}Z by ${by}`
  const head = `${MARKS[state]} ${words.title} [${item}]: ${EN.states[state]}${when}`
  if (state === 'passed') return head
  const why = reason === null ? [] : [`    ${EN.reasons[reason](about)}`]
  const place = path === null ? [] : [`    Address to compare: ${path}`]
  const progress = steps === null ? [] : [`    invoice ${steps.number} (${steps.invoiceId}): ${stepsText(steps)}`]
  return [head, ...why, ...place, ...progress, `    Why: ${words.why}`, `    How: ${words.mend}`].join('\n')
}

const stepsText = (steps: NonNullable<GoLiveLine['steps']>): string =>
  (['seen', 'confirming', 'paid', 'delivered'] as const)
    .map((step) => `${steps[step] ? '✓' : '·'} ${EN.steps[step]}`)
    .join(', ')

function scoped(command: Command): Command {
  return command
    .requiredOption('--workspace <id>', 'workspace that goes live')
    .addOption(new Option('--mode <mode>', 'test rehearses on the nodes of test mode').choices(MODES).default('live'))
    .option('--json', 'print one JSON value')
}

/** `go-live check | confirm-address | state-master-key | send-mail | pay`; status 1 until everything has passed. */
export function addGoLiveCommands(program: Command): void {
  const goLive = program.command('go-live').description('Guided check before real money arrives.')
  scoped(goLive.command('check', { isDefault: true }).description('Check everything now.')).action((options: Scoped) =>
    run(options, async () => undefined),
  )
  scoped(
    goLive
      .command('confirm-address <walletId> <address>')
      .description('Compare the address that your own wallet shows at the stated path.'),
  ).action((walletId: string, address: string, options: Scoped) =>
    run(options, (deps, scope) => confirmAddress(deps, scope, { walletId, address, ...manualAction(deps) })),
  )
  scoped(
    goLive.command('state-master-key').description('State that the master key is kept at another place as well.'),
  ).action((options: Scoped) => run(options, (deps, scope) => stateMasterKey(deps, scope, manualAction(deps))))
  scoped(goLive.command('send-mail').description('Send a test mail to an owner.')).action((options: Scoped) =>
    run(options, (deps, scope) => sendTestMail(deps, scope, manualAction(deps))),
  )
  scoped(goLive.command('pay').description('Create a real invoice for a small payment of your own.'))
    .addOption(new Option('--asset <asset>', 'coin or token to pay with').choices(ASSET_IDS).makeOptionMandatory())
    .option('--amount <usd>', 'amount in US dollars', '2.00')
    .action((options: Scoped & { readonly asset: AssetId; readonly amount: string }) =>
      run(
        options,
        async (deps, scope) => {
          const { asset, amount } = options
          const request = { asset, amount, requestId: 'cli', ...manualAction(deps) }
          const { invoiceId } = await startGoLivePayment(deps, scope, request)
          const checkout = `${deps.config.checkout.baseUrl}/i/${invoiceId}`
          process.stderr.write(`Pay this invoice, then run the check again: ${checkout}\n`)
        },
        'active',
      ),
    )
}
