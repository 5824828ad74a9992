import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { MODES, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import { CHAIN_COMMAND_KINDS, type ChainCommand, type ChainCommandKind } from '#shared/ports/chain-commands.ts'
import { type ScanPlan, scanPlans } from '#shared/usecases/diagnostics/scan-plans.ts'
import { type ChainStatus, chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { nodeCosts } from '#shared/usecases/networks/node-costs.ts'
import { troubleSentence } from '#shared/usecases/networks/stuck-network.ts'
import type { RescanPreview } from '#shared/usecases/scanning/preview-rescan.ts'
import {
  type CommandInput,
  type CommandResult,
  cancelChainCommands,
  requestCommand,
} from '#shared/usecases/scanning/request-chain-command.ts'
import { costLines, withCosts } from './chain-costs.ts'
import { nodeNotes } from './doctor/node-faults.ts'
import { factsText, factWarnings } from './fact-notes.ts'
import { addReleaseCommand } from './release-deadlines.ts'
import { previewText, readAhead } from './rescan-preview.ts'
import { actorName } from './session/actor.ts'
import { type Installation, withInstallation } from './session/installation.ts'
import { type OutputOptions, print, table } from './text/output.ts'
import { parseHeight, parseNetwork, pickMode } from './text/pick-mode.ts'
import { snakeCase } from './text/snake-case.ts'

const POLL_EVERY_MS = 200

interface RequestOptions extends OutputOptions {
  readonly mode?: Mode
  readonly from?: number
  readonly to?: number
  readonly acceptReorg?: boolean
  readonly reason?: string
  readonly dryRun?: boolean
  readonly wait: number
}

const seconds = (ms: number | null): string => (ms === null ? '-' : `${Math.max(0, Math.round(ms / 1_000))} s`)

async function status(options: OutputOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const found = await chainStatus(installation)
    const rows = found.map((one) => [
      `${one.mode} ${one.network}`,
      one.hasNode ? one.status : `${one.status}, no node`,
      String(one.height ?? '-'),
      String(one.headHeight ?? '-'),
      String(one.lagBlocks ?? '-'),
      String(one.finalizedHeight ?? '-'),
      seconds(one.headAgeMs),
      seconds(one.mempoolAgeMs),
      one.lease === null ? '-' : `${one.lease.epoch} ${one.lease.owner}${one.lease.expired ? ' (expired)' : ''}`,
    ])
    const notes = found.flatMap((one) => [
      ...stuckNotes(one),
      ...(one.haltReason === null ? [] : [`${one.mode} ${one.network} is halted: ${one.haltReason}`]),
      ...(one.waitReason === null ? [] : [`${one.mode} ${one.network} is waiting: ${one.waitReason}`]),
      ...(one.recheckThrough === null
        ? []
        : [`${one.mode} ${one.network} checks stored payments up to block ${one.recheckThrough}`]),
      ...missingNotes(one),
      ...(one.height === null ? [] : [`${one.mode} ${one.network}: ${factsText(one)}`]),
      ...factWarnings(one).map((warning) => `WARNING: ${one.mode} ${one.network}: ${warning}`),
      ...one.open.map((command) => `${one.mode} ${one.network}: ${describe(command)}`),
    ])
    const head = ['NETWORK', 'STATUS', 'BLOCK', 'HEAD', 'LAG', 'FINAL', 'NODE HEARD', 'MEMPOOL', 'LEASE']
    const costs = await nodeCosts(installation)
    const plans = await scanPlans(installation)
    const nodes = await nodeNotes(installation, found)
    const planned = scanPlanNotes(plans, installation.clock.now())
    const lines = [table(head, rows, 'no network is connected'), ...notes, ...nodes, ...planned, ...costLines(costs)]
    print(options, snakeCase(withPlans(withCosts(found, costs), plans)), lines.join('\n'))
  })
}

function missingNotes({ mode, network, missingTokens }: ChainStatus): readonly string[] {
  if (missingTokens.length === 0) return []
  const names = missingTokens.join(', ')
  return [`${mode} ${network}: its node has no contract of ${names}; invoices in it are refused, other assets go on`]
}

/** Why a network does not advance, and the remedy: from the first failure on, before it counts as stuck. */
function stuckNotes({
  mode,
  network,
  height,
  stuck,
  trouble,
  released,
  lease,
  hasNode,
}: ChainStatus): readonly string[] {
  const name = `${mode} ${network}`
  const expired = lease?.expired === true && stuck?.cause !== 'no_scanner' && hasNode
  const tries = trouble === null ? '' : ` ${trouble.tries} attempts since ${new Date(trouble.firstAt).toISOString()}.`
  return [
    ...(stuck === null || stuck.cause === 'halted'
      ? []
      : [
          `${name} is stuck at block ${height}: ${stuck.sentence}${tries} Its invoices do not expire until this is fixed. ${stuck.advice}`,
        ]),
    ...(stuck !== null || trouble === null ? [] : [`${name} is failing: ${troubleSentence(trouble)}${tries}`]),
    ...(expired
      ? [`${name}: the lease of its scanner expired; another scanner takes it within seconds if one is running`]
      : []),
    ...(released === null
      ? []
      : [`${name}: deadlines were released up to ${new Date(released.through).toISOString()} by ${released.by}`]),
  ]
}

function describe(command: ChainCommand): string {
  const { kind, from, to, status: state, outcome, nextHeight, changed, id } = command
  const range = `${from === null ? '' : ` from ${from}`}${to === null ? '' : ` to ${to}`}`
  if (state !== 'open') return `${kind}${range} is ${state}: ${outcome}`
  const progress = nextHeight === null ? '' : `, next block ${nextHeight}, ${changed} payments so far`
  return `${kind}${range} is open${progress} (${id})`
}

/** Stores a request, and waits a while for a scanner to run it. */
async function storeRequest(kind: CommandInput['kind'], network: NetworkId, options: RequestOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const mode = pickMode(installation, network, options.mode)
    const input: CommandInput = {
      mode,
      network,
      kind,
      from: options.from ?? null,
      to: options.to ?? null,
      acceptReorg: options.acceptReorg ?? false,
      dryRun: options.dryRun ?? false,
      actor: actorName(),
      reason: options.reason ?? null,
    }
    const result = await requestCommand(installation, input)
    const preview = input.dryRun ? await readAhead(installation, input, result) : null
    const ended = input.dryRun ? result.command : await lookAfter(installation, result.command, options.wait)
    const { plan, repeated } = result
    const value = { plan, command: ended, repeated, dryRun: input.dryRun, ...(preview !== null && { preview }) }
    print(options, snakeCase(value), textOf(result, { ended, preview, kind }))
    if (ended?.status === 'refused') process.exitCode = 1
  })
}

async function lookAfter(
  { commands }: Installation,
  command: ChainCommand | null,
  waitSeconds: number,
): Promise<ChainCommand | null> {
  if (command === null) return null
  const until = performance.now() + waitSeconds * 1_000
  for (;;) {
    const now = await commands.findById(command.id)
    if (now === null || now.status !== 'open' || performance.now() >= until) return now
    await wait(POLL_EVERY_MS)
  }
}

interface CommandOutcome {
  readonly ended: ChainCommand | null
  readonly preview: RescanPreview | null
  readonly kind: ChainCommandKind
}

function textOf({ plan }: CommandResult, { ended, preview, kind }: CommandOutcome): string {
  const { from, to, height, status: state, livePayments, confirmedPayments } = plan
  const range =
    from === null || to === null
      ? `The scanner is at block ${height} and is ${state === 'halted' ? 'halted' : 'not halted'}.`
      : `Blocks ${from} to ${to} (${to - from + 1}) contain ${livePayments} stored payments, ${confirmedPayments} confirmed.`
  if (preview !== null) {
    const open = ended === null ? '' : `\n${describe(ended)}`
    return `${range}\n${previewText(preview)}\nThis was a dry run: no request was made.${open}`
  }
  if (ended === null) {
    return kind === 'resume' && state !== 'halted'
      ? `${range} There is nothing to resume.`
      : `${range} This was a dry run: no request was made.`
  }
  const hint = ended.status === 'open' ? '. A running scanner starts it; `chain status` shows its progress.' : ''
  return `${range}\n${describe(ended)}${hint}`
}

interface CancelOptions extends OutputOptions {
  readonly mode?: Mode
  readonly kind?: ChainCommandKind
  readonly dryRun?: boolean
}

async function cancel(network: NetworkId, options: CancelOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const mode = pickMode(installation, network, options.mode)
    const dryRun = options.dryRun ?? false
    const scope = { mode, network, kind: options.kind ?? null, dryRun, actor: actorName() }
    const { cancelled, tooLate } = await cancelChainCommands(installation, scope)
    const lines = [
      ...cancelled.map((one) => (dryRun ? `would be cancelled: ${describe(one)}` : describe(one))),
      ...tooLate.map((one) => `too late to cancel: ${describe(one)}`),
    ]
    const none = `no request is open for ${network} in ${mode} mode; no changes were made`
    print(options, snakeCase({ cancelled, tooLate, dryRun }), lines.length === 0 ? none : lines.join('\n'))
    if (tooLate.length > 0) process.exitCode = 1
  })
}

function parseSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('a whole number of seconds')
  return Number(text)
}

/** Options of every request to a scanner. */
function withCommonOptions(command: Command): Command {
  return command
    .addOption(new Option('--mode <mode>', 'default: the mode in which the network has a node').choices(MODES))
    .option('--dry-run', 'read the blocks and show what would change; change nothing')
    .option('--wait <seconds>', 'how long to wait for the request before leaving it to the scanner', parseSeconds, 15)
    .option('--json', 'print one JSON value')
}

/** `chain status | rescan | rewind | resume | skip | cancel | release-deadlines`. */
export function addChainCommands(program: Command): void {
  const chain = program
    .command('chain')
    .description('Show the state of scanners, and request rescans, rewinds and resumes.')
  chain
    .command('status')
    .description(
      'Show every network: block, head, lag, finality, age of its mempool view, lease owner, why it is waiting, stuck or halted, its pace beside what this version states, and what its nodes cost.',
    )
    .option('--json', 'print one JSON value')
    .action(status)
  withCommonOptions(
    chain
      .command('rescan')
      .argument('<network>', 'network id, as in asset ids', parseNetwork)
      .description('Rescan blocks: finds missed payments, sends no webhook twice and reverses nothing. Safe to repeat.')
      .requiredOption('--from <height>', 'first block', parseHeight)
      .option('--to <height>', 'last block; default: the block of the scanner', parseHeight),
  ).action((network: NetworkId, options: RequestOptions) => storeRequest('rescan', network, options))
  withCommonOptions(
    chain
      .command('rewind')
      .argument('<network>', 'network id, as in asset ids', parseNetwork)
      .description(
        'Move the scanner back. Payments are reversed only if their block is gone and the scan does not find them.',
      )
      .requiredOption('--to <height>', 'last block that stays scanned', parseHeight)
      .option('--accept-reorg', 'for a halted scanner: accept the node’s chain although it differs'),
  ).action((network: NetworkId, options: RequestOptions) => storeRequest('rewind', network, options))
  withCommonOptions(
    chain
      .command('resume')
      .argument('<network>', 'network id, as in asset ids', parseNetwork)
      .description('Resume a halted scanner from the newest block that the node still has.')
      .option('--accept-reorg', 'also below finality, once you have decided that the node’s chain is the right one'),
  ).action((network: NetworkId, options: RequestOptions) => storeRequest('resume', network, options))
  withCommonOptions(
    chain
      .command('skip')
      .argument('<network>', 'network id, as in asset ids', parseNetwork)
      .description(
        'Skip the blocks after the scanner’s that no node has any more, because all of them are pruned or keep a limited ledger, up to the first that can be read. Stores what they paid that is still unspent (Bitcoin, Litecoin), opens an inbox row, and holds deadlines back until release-deadlines. Refused while the next block can be read.',
      )
      .option('--to <height>', 'last block that may be skipped; default: up to the first that can be read', parseHeight)
      .requiredOption('--reason <text>', 'reason for the audit log'),
  ).action((network: NetworkId, options: RequestOptions) => storeRequest('skip', network, options))
  chain
    .command('cancel')
    .argument('<network>', 'network id, as in asset ids', parseNetwork)
    .description(
      'Cancel open requests. Payments that a rescan has already found stay. Safe to repeat. Exits with 1 if a request is already running.',
    )
    .addOption(new Option('--mode <mode>', 'default: the mode in which the network has a node').choices(MODES))
    .addOption(new Option('--kind <kind>', 'only this kind of request').choices(CHAIN_COMMAND_KINDS))
    .option('--dry-run', 'show what would be cancelled and change nothing')
    .option('--json', 'print one JSON value')
    .action(cancel)
  addReleaseCommand(chain)
}

/** How each network is scanned, for which open payment methods, and when its node is asked next. */
function scanPlanNotes(plans: readonly ScanPlan[], now: number): readonly string[] {
  return plans.flatMap((plan) => {
    const { id, source, nextLookAt, reason, isResting, nextLooks } = plan
    const next = nextLookAt === null ? '' : ` Next look: ${untilText(nextLookAt, now)}.`
    const others =
      nextLooks === null
        ? ''
        : ` Addresses of invoices that ended in the last day: ${untilText(nextLooks.endedAt, now)}, compared up to block ${nextLooks.endedHeight}; all addresses: ${untilText(nextLooks.allAt, now)}, compared up to block ${nextLooks.allHeight}.`
    const name = id.replace(':', ' ')
    const text = `${name} is scanned in ${source} mode${isResting ? ' and rests' : ''}, ${watchText(plan)}. ${reason}${next}${others}`
    return [text, ...choiceNotes(name, plan)]
  })
}

/** Why it is scanned so; where the scanner was not started with these settings yet, that it will change. */
function choiceNotes(name: string, { source, choice }: ScanPlan): readonly string[] {
  if (choice === null) return []
  const change = choice.source === source ? '' : ' The scanner changes to it when it is started with these settings.'
  return [`${name}: the settings choose ${choice.source} mode. ${choice.why}${change}`]
}

function watchText({ open, isComplete }: ScanPlan): string {
  const sum = open.reduce((all, { methods }) => all + methods, 0)
  if (sum === 0) return 'with no open payment method'
  const names = open.map(({ asset, methods }) => `${methods} ${asset}`).join(', ')
  return `with ${isComplete ? '' : 'more than '}${sum} open payment method${sum === 1 ? '' : 's'} (${names})`
}

function untilText(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000)
  if (seconds <= 0) return 'now'
  if (seconds < 120) return `in ${seconds} s`
  return seconds < 7_200 ? `in ${Math.round(seconds / 60)} min` : `in ${Math.round(seconds / 3_600)} h`
}

/** Every network with its plan, for programs; null where it was never scanned. */
function withPlans<T extends Pick<ChainStatus, 'mode' | 'network'>>(found: readonly T[], plans: readonly ScanPlan[]) {
  return found.map((one) => {
    const plan = plans.find(({ id }) => id === `${one.mode}:${one.network}`)
    if (plan === undefined) return { ...one, scan: null }
    const { id: _id, ...scan } = plan
    return { ...one, scan }
  })
}
