import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { MODES, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import { type AskChainInput, type AskedChain, askChain } from '#shared/usecases/ask-chain.ts'
import { chainStatus } from '#shared/usecases/chain-status.ts'
import type { ChainCommand } from '#shared/usecases/ports/chain-commands.ts'
import { actorName } from './actor.ts'
import { type Installation, withInstallation } from './installation.ts'
import { type OutputOptions, print, table } from './output.ts'
import { parseHeight, parseNetwork, pickMode } from './pick-mode.ts'
import { snakeCase } from './snake-case.ts'

const LOOK_EVERY_MS = 200

interface AskOptions extends OutputOptions {
  readonly mode?: Mode
  readonly from?: number
  readonly to?: number
  readonly acceptReorg?: boolean
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
      ...(one.haltReason === null ? [] : [`${one.mode} ${one.network} is halted: ${one.haltReason}`]),
      ...(one.waitReason === null ? [] : [`${one.mode} ${one.network} waits: ${one.waitReason}`]),
      ...(one.recheckThrough === null
        ? []
        : [`${one.mode} ${one.network} checks stored payments up to block ${one.recheckThrough}`]),
      ...one.open.map((command) => `${one.mode} ${one.network}: ${describe(command)}`),
    ])
    const head = ['NETWORK', 'STATUS', 'BLOCK', 'HEAD', 'LAG', 'FINAL', 'NODE HEARD', 'MEMPOOL', 'LEASE']
    print(options, snakeCase(found), [table(head, rows, 'no network has a node'), ...notes].join('\n'))
  })
}

function describe(command: ChainCommand): string {
  const { kind, from, to, status: state, outcome, nextHeight, changed, id } = command
  const range = `${from === null ? '' : ` from ${from}`}${to === null ? '' : ` to ${to}`}`
  if (state !== 'open') return `${kind}${range} is ${state}: ${outcome}`
  const progress = nextHeight === null ? '' : `, next block ${nextHeight}, ${changed} payments so far`
  return `${kind}${range} is open${progress} (${id})`
}

/** Asks, and looks for a while whether a scanner took it up. */
async function ask(kind: AskChainInput['kind'], network: NetworkId, options: AskOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const mode = pickMode(installation, network, options.mode)
    const asked = await askChain(installation, {
      mode,
      network,
      kind,
      from: options.from ?? null,
      to: options.to ?? null,
      acceptReorg: options.acceptReorg ?? false,
      dryRun: options.dryRun ?? false,
      actor: actorName(),
    })
    const ended = options.dryRun ? asked.command : await lookAfter(installation, asked.command, options.wait)
    const value = { plan: asked.plan, command: ended, repeated: asked.repeated, dryRun: options.dryRun ?? false }
    print(options, snakeCase(value), textOf(asked, ended, kind))
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
    await wait(LOOK_EVERY_MS)
  }
}

function textOf({ plan }: AskedChain, ended: ChainCommand | null, kind: ChainCommand['kind']): string {
  const { from, to, height, status: state, livePayments, confirmedPayments } = plan
  const range =
    from === null || to === null
      ? `The scanner stands at block ${height} and is ${state === 'halted' ? 'halted' : 'not halted'}.`
      : `Blocks ${from} to ${to} (${to - from + 1}) hold ${livePayments} stored payments, ${confirmedPayments} confirmed.`
  if (ended === null) {
    return kind === 'resume' && state !== 'halted'
      ? `${range} There is nothing to resume.`
      : `${range} A dry run: nothing was asked.`
  }
  const hint = ended.status === 'open' ? '. A running scanner takes it up; `chain status` shows how far it is.' : ''
  return `${range}\n${describe(ended)}${hint}`
}

function parseSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('a whole number of seconds')
  return Number(text)
}

/** Options that every request to a scanner has. */
function withCommonOptions(command: Command): Command {
  return command
    .addOption(new Option('--mode <mode>', 'default: the mode in which the network has a node').choices(MODES))
    .option('--dry-run', 'check and count, and change nothing')
    .option('--wait <seconds>', 'how long to look after the request before leaving it to the scanner', parseSeconds, 15)
    .option('--json', 'print one JSON value')
}

/** `chain status | rescan | rewind | resume`. */
export function addChainCommands(program: Command): void {
  const chain = program.command('chain').description('See where scanners stand, and ask them to read again or go on.')
  chain
    .command('status')
    .description(
      'Every network: block, head, lag, finality, age of its mempool view, who holds its lease, why it waits or is halted.',
    )
    .option('--json', 'print one JSON value')
    .action(status)
  withCommonOptions(
    chain
      .command('rescan')
      .argument('<network>', 'network id, as in asset ids', parseNetwork)
      .description(
        'Read blocks again: finds what was missed, announces nothing twice, takes nothing back. Safe to repeat.',
      )
      .requiredOption('--from <height>', 'first block', parseHeight)
      .option('--to <height>', 'last block; default: where the scanner stands', parseHeight),
  ).action((network: NetworkId, options: AskOptions) => ask('rescan', network, options))
  withCommonOptions(
    chain
      .command('rewind')
      .argument('<network>', 'network id, as in asset ids', parseNetwork)
      .description(
        'Move the scanner back; payments are taken back only where their block is gone and the scan does not find them.',
      )
      .requiredOption('--to <height>', 'last block that stays scanned', parseHeight)
      .option('--accept-reorg', 'a halted scanner: take the node’s chain although it is another one'),
  ).action((network: NetworkId, options: AskOptions) => ask('rewind', network, options))
  withCommonOptions(
    chain
      .command('resume')
      .argument('<network>', 'network id, as in asset ids', parseNetwork)
      .description('Let a halted scanner go on from the newest block that the node still has.')
      .option('--accept-reorg', 'also below finality: a person decided that the node’s chain is the right one'),
  ).action((network: NetworkId, options: AskOptions) => ask('resume', network, options))
}
